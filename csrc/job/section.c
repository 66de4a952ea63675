/* SPDX-License-Identifier: MIT
 *
 * Section: see section.h. */
#include "job/section.h"

#include <stdbool.h>

int64_t ms_section_count(const ms_section *section, uint32_t dims) {
  int64_t count = 1;
  for (uint32_t d = 0; d < dims; d++) {
    if (section->high[d] <= section->low[d]) return 0;
    count *= section->high[d] - section->low[d];
  }
  return count;
}

static bool meet(const ms_section *one, const ms_section *other, uint32_t dims) {
  for (uint32_t d = 0; d < dims; d++) {
    if (one->high[d] <= other->low[d] || other->high[d] <= one->low[d]) return false;
  }
  return true;
}

/* Sections at the end of a list of at most MS_MOST_SECTIONS. */
typedef struct pieces {
  ms_section *list;
  uint32_t count;
  bool full;
} pieces;

static void add(pieces *to, const ms_section *section) {
  to->full = to->full || to->count == MS_MOST_SECTIONS;
  if (!to->full) to->list[to->count++] = *section;
}

/* Puts what is left of piece number `n` without `hole` in its place and behind the last one. Outer
 * dimensions are cut first: rows stay whole. */
static void cut(pieces *all, uint32_t n, const ms_section *hole, uint32_t dims) {
  ms_section rest = all->list[n];
  all->list[n] = all->list[--all->count];
  for (uint32_t d = 0; d < dims; d++) {
    ms_section before = rest, behind = rest;
    if (rest.low[d] < hole->low[d]) {
      before.high[d] = rest.low[d] = hole->low[d];
      add(all, &before);
    }
    if (rest.high[d] > hole->high[d]) {
      behind.low[d] = rest.high[d] = hole->high[d];
      add(all, &behind);
    }
  }
}

/* Adds what `section` has and the list has not. */
static void add_rest(pieces *all, const ms_section *section, uint32_t dims) {
  uint32_t known = all->count;
  add(all, section);
  for (uint32_t k = 0; k < known; k++) {
    ms_section hole = all->list[k];
    for (uint32_t n = all->count; !all->full && n-- > known;) {
      if (meet(&all->list[n], &hole, dims)) cut(all, n, &hole, dims);
    }
  }
}

/* The largest of the sections after number `last` in the order by size, then number; -1: none. */
static int64_t next_largest(const ms_section *given, uint32_t count, uint32_t dims, int64_t last) {
  int64_t next = -1, most = 0;
  int64_t limit = last < 0 ? INT64_MAX : ms_section_count(&given[last], dims);
  for (uint32_t k = 0; k < count; k++) {
    int64_t size = ms_section_count(&given[k], dims);
    bool later = size < limit || (size == limit && k > last);
    if (later && size > most) {
      most = size;
      next = k;
    }
  }
  return next;
}

uint32_t ms_sections_disjoin(const ms_section *given, uint32_t count, uint32_t dims,
                             ms_section *apart) {
  pieces all = {.list = apart};
  int64_t next = next_largest(given, count, dims, -1);
  while (next >= 0 && !all.full) { /* the largest first: they stay in one piece */
    add_rest(&all, &given[next], dims);
    next = next_largest(given, count, dims, next);
  }
  return all.full ? 0 : all.count;
}
