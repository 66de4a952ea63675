/* SPDX-License-Identifier: MIT
 *
 * Needs: see needs.h. */
#include "plan/needs.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array/touched_walk.h"
#include "plan/axis.h"

#define AT_ONCE 8 /* elements that are looked at together where there are no marks */

/* ---- marks ---- */

/* Whether AT_ONCE elements are zero. */
static bool are_zero(const double *marks) {
  uint64_t word[AT_ONCE], any = 0;
  memcpy(word, marks, sizeof word);
  for (int k = 0; k < AT_ONCE; k++) any |= word[k];
  return any << 1 == 0; /* -0 is zero */
}

/* The next run from element `first` on, its end in `*end`; `count` when there is none. */
static int64_t find_run(const double *marks, int64_t count, int64_t first, int64_t *end) {
  for (;;) {
    while (count - first >= AT_ONCE && are_zero(marks + first)) first += AT_ONCE;
    int64_t stop = count - first >= AT_ONCE ? first + AT_ONCE : count;
    while (first < stop && marks[first] == 0) first++;
    if (first == count || marks[first] != 0) break;
  }
  *end = first;
  while (*end < count && marks[*end] != 0) ++*end;
  return first;
}

/* A number takes no more bytes than it counts elements, but for a first gap of 0. */
size_t ms_needs_take(double *marks, int64_t count, char *out) {
  char *at = out;
  int64_t last = 0, end, first = find_run(marks, count, 0, &end);
  for (; first < count; first = find_run(marks, count, end, &end)) {
    at = ms_element_lists_write_run(at, last, first, end - first);
    memset(marks + first, 0, (size_t)(end - first) * sizeof *marks);
    last = end;
  }
  return (size_t)(at - out);
}

size_t ms_needs_take_touched(double *marks, int64_t count, uint8_t *touched, char *out) {
  char *at = out;
  int64_t word = 0, first, size, last = 0, from = 0, to = 0; /* the run before; the present one */
  while (ms_touched_walk_next(count, touched, &word, &first, &size)) {
    int64_t stop = first + size, end, run = find_run(marks, stop, first, &end);
    for (; run < stop; run = find_run(marks, stop, end, &end)) {
      memset(marks + run, 0, (size_t)(end - run) * sizeof *marks);
      if (run != to) {
        if (to > from) at = ms_element_lists_write_run(at, last, from, to - from);
        if (to > from) last = to;
        from = run;
      }
      to = end;
    }
  }
  if (to > from) at = ms_element_lists_write_run(at, last, from, to - from);
  return (size_t)(at - out);
}

/* ---- lists ---- */

static atomic_uint_fast64_t last_id;

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "what the blocks of a loop need");
}

ms_needs *ms_needs_new(int64_t blocks, int64_t elements, ms_error *err) {
  ms_needs *needs = calloc(1, sizeof *needs);
  bool fits = blocks > 0 && elements >= 0 && elements <= MS_LISTED_MOST &&
              (uint64_t)blocks < SIZE_MAX / 4 / sizeof(int64_t);
  if (needs != NULL && fits) needs->head = calloc(1, ms_element_lists_head(blocks));
  if (needs == NULL || needs->head == NULL) {
    free(needs);
    out_of_memory(err);
    return NULL;
  }
  needs->id = atomic_fetch_add(&last_id, 1) + 1;
  ms_element_lists_open(&needs->lists, needs->head, NULL, 0, blocks, elements);
  return needs;
}

void ms_needs_free(ms_needs *needs) {
  if (needs == NULL) return;
  free(needs->head);
  free(needs->bytes);
  free(needs);
}

/* Makes room for `size` bytes more. */
static int grow(ms_needs *needs, size_t size, ms_error *err) {
  size_t used = (size_t)needs->lists.at[needs->filled];
  if (size <= needs->room - used) return 0;
  if (size > SIZE_MAX / 4 - used) return out_of_memory(err);
  size_t room = used + size < 2 * needs->room ? 2 * needs->room : used + size;
  char *grown = realloc(needs->bytes, room);
  if (grown == NULL) return out_of_memory(err);
  needs->lists.bytes = needs->bytes = grown;
  needs->room = room;
  return 0;
}

/* The next block's list has so many bytes and elements. */
static void close_list(ms_needs *needs, int64_t bytes, int64_t elements) {
  int64_t *at = needs->head, *before = at + needs->lists.blocks + 1, b = needs->filled++;
  at[b + 1] = at[b] + bytes;
  before[b + 1] = before[b] + elements;
}

int ms_needs_add(ms_needs *needs, const char *bytes, size_t size, ms_error *err) {
  const ms_element_lists *lists = &needs->lists;
  if (needs->filled == lists->blocks) return ms_error_set(err, MS_BUG, "needs of too many blocks");
  ms_element_walk walk = {bytes, bytes + size, 0, lists->elements};
  ms_span run;
  int64_t count = 0;
  while (ms_element_walk_next(&walk, &run)) count += run.count;
  if (walk.next != walk.end) {
    return ms_error_set(err, MS_BUG, "what a block left for a prefetch is malformed");
  }
  if (grow(needs, size, err) != 0) return -1;
  if (size > 0) memcpy(needs->bytes + lists->at[needs->filled], bytes, size);
  close_list(needs, (int64_t)size, count);
  return 0;
}

size_t ms_needs_size(const ms_needs *needs) {
  const ms_element_lists *lists = &needs->lists;
  return ms_element_lists_head(lists->blocks) + (size_t)lists->at[lists->blocks];
}

void ms_needs_move(ms_needs *needs, void *memory) {
  ms_element_lists *lists = &needs->lists;
  size_t head = ms_element_lists_head(lists->blocks), size = (size_t)lists->at[lists->blocks];
  char *bytes = (char *)memory + head;
  memcpy(memory, lists->at, head);
  if (size > 0) memcpy(bytes, lists->bytes, size);
  free(needs->head);
  free(needs->bytes);
  needs->head = needs->bytes = NULL;
  ms_element_lists_open(lists, memory, bytes, size, lists->blocks, lists->elements);
}

/* ---- lists from numbers ---- */

/* The block of the iteration with a number; -1: there is no such iteration. */
static int64_t block_of(const ms_layout *layout, double number) {
  int64_t value[MS_MAX_DIMS], block = 0;
  if (!(number >= 1 && number <= 0x1p53)) return -1;
  int64_t rest = (int64_t)number - 1;
  for (uint32_t d = layout->dims; d-- > 0;) {
    int64_t length = ms_axis_length(&layout->extents[d]);
    if (length == 0) return -1;
    value[d] = layout->extents[d].lo + rest % length * layout->extents[d].step;
    rest /= length;
  }
  if (rest > 0) return -1;
  for (uint32_t a = 0; a < layout->axis_count; a++) {
    const ms_layout_axis *axis = &layout->axes[a];
    block = block * axis->ranges + ms_layout_range(axis, value[axis->at / 2]);
  }
  return block;
}

/* A block's list while it is made. */
typedef struct open_list {
  int64_t first, end; /* of the last run, */
  int64_t last;       /* and the end of the one before */
  int64_t size, elements;
  char *bytes; /* NULL: they are counted only */
} open_list;

static void close_run(open_list *list) {
  char run[MS_RUN_BYTES];
  if (list->end == list->first) return;
  size_t size =
      (size_t)(ms_element_lists_write_run(run, list->last, list->first, list->end - list->first) -
               run);
  if (list->bytes != NULL) memcpy(list->bytes + list->size, run, size);
  list->size += (int64_t)size;
  list->elements += list->end - list->first;
  list->last = list->end;
}

/* Goes over the numbers once. -1: one is no iteration's. */
static int fill(open_list *list, int64_t blocks, const double *numbers, int64_t elements,
                const ms_layout *layout) {
  for (int64_t e = 0; e < elements; e++) {
    if (numbers[e] == 0) continue;
    int64_t block = block_of(layout, numbers[e]);
    if (block < 0 || block >= blocks) return -1;
    open_list *own = &list[block];
    if (own->end != e) {
      close_run(own);
      own->first = e;
    }
    own->end = e + 1;
  }
  for (int64_t b = 0; b < blocks; b++) close_run(&list[b]);
  return 0;
}

/* Puts the lists into `needs`, which has none yet. */
static int make(ms_needs *needs, open_list *list, const double *numbers, const ms_layout *layout,
                ms_error *err) {
  int64_t blocks = needs->lists.blocks, elements = needs->lists.elements, size = 0;
  if (fill(list, blocks, numbers, elements, layout) != 0)
    return ms_error_set(err, MS_BUG, "numbers of iterations that a loop does not have");
  for (int64_t b = 0; b < blocks; b++) size += list[b].size;
  if (grow(needs, (size_t)size, err) != 0) return -1;
  for (int64_t b = 0; b < blocks; b++) {
    close_list(needs, list[b].size, list[b].elements);
    list[b] = (open_list){.bytes = needs->bytes + needs->lists.at[b]};
  }
  return fill(list, blocks, numbers, elements, layout);
}

/* Whether blocks are boxes of the space, and how many there are. */
static bool are_boxes(const ms_layout *layout, int64_t *blocks) {
  *blocks = 1;
  for (uint32_t a = 0; a < layout->axis_count; a++) {
    if (layout->axes[a].at >= 2 * (int64_t)layout->dims || layout->axes[a].each == 0) return false;
    *blocks *= layout->axes[a].ranges;
  }
  return !layout->of_entries;
}

static int64_t count_numbers(const double *numbers, int64_t elements) {
  int64_t count = 0;
  for (int64_t e = 0; e < elements; e++) count += numbers[e] != 0;
  return count;
}

ms_needs *ms_needs_of_numbers(const double *numbers, int64_t elements, int64_t most,
                              const ms_layout *layout, ms_error *err) {
  int64_t blocks;
  if (!are_boxes(layout, &blocks) || count_numbers(numbers, elements) > most) return NULL;
  ms_needs *needs = ms_needs_new(blocks, elements, err);
  open_list *list = needs == NULL ? NULL : calloc((size_t)blocks, sizeof *list);
  if (needs != NULL && list == NULL) out_of_memory(err);
  if (list == NULL || make(needs, list, numbers, layout, err) != 0) {
    ms_needs_free(needs);
    needs = NULL;
  }
  free(list);
  return needs;
}
