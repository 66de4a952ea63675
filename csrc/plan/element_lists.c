/* SPDX-License-Identifier: MIT
 *
 * Element lists: see element_lists.h. */
#include "plan/element_lists.h"

static char *write_number(char *out, uint64_t number) {
  for (; number >= 128; number >>= 7) *out++ = (char)(unsigned char)(number | 128);
  *out++ = (char)(unsigned char)number;
  return out;
}

char *ms_element_lists_write_run(char *out, int64_t last, int64_t first, int64_t count) {
  return write_number(write_number(out, (uint64_t)(first - last)), (uint64_t)count);
}

size_t ms_element_lists_head(int64_t blocks) {
  return 2 * ((size_t)blocks + 1) * sizeof(int64_t);
}

bool ms_element_lists_open(ms_element_lists *lists, const void *head, const void *bytes,
                           uint64_t room, int64_t blocks, int64_t elements) {
  const int64_t *at = head, *before = at + blocks + 1;
  *lists = (ms_element_lists){blocks, elements, at, before, bytes};
  if (at[0] != 0 || before[0] != 0 || elements > MS_LISTED_MOST) return false;
  for (int64_t b = 0; b < blocks; b++) {
    if (at[b + 1] < at[b] || before[b + 1] < before[b]) return false;
    if (before[b + 1] - before[b] > elements) return false;
  }
  return (uint64_t)at[blocks] <= room;
}

int64_t ms_element_lists_count(const ms_element_lists *lists) {
  return lists->before[lists->blocks];
}

int64_t ms_element_lists_of(const ms_element_lists *lists, int64_t block) {
  return lists->before[block + 1] - lists->before[block];
}

ms_element_walk ms_element_lists_walk(const ms_element_lists *lists, int64_t block) {
  return (ms_element_walk){.next = lists->bytes + lists->at[block],
                           .end = lists->bytes + lists->at[block + 1],
                           .elements = lists->elements};
}

/* Reads a number; NULL where none is. */
static const char *read_number(const char *at, const char *end, int64_t *number) {
  uint64_t value = 0;
  for (int shift = 0; at < end && shift < 63; shift += 7) {
    unsigned char byte = (unsigned char)*at++;
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) {
      *number = (int64_t)value;
      return at;
    }
  }
  return NULL;
}

bool ms_element_walk_next(ms_element_walk *walk, ms_span *run) {
  int64_t gap, count;
  const char *at = read_number(walk->next, walk->end, &gap);
  if (at == NULL || (at = read_number(at, walk->end, &count)) == NULL || count == 0) return false;
  if (gap > walk->elements - walk->last || count > walk->elements - walk->last - gap) return false;
  walk->next = at;
  *run = (ms_span){(uint32_t)(walk->last + gap), (uint32_t)count};
  walk->last += gap + count;
  return true;
}
