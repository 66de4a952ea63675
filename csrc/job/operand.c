/* SPDX-License-Identifier: MIT
 *
 * Operand: see operand.h. */
#include "job/operand.h"

#include <string.h>

/* Bytes from the first element to the end of the last one; -1 when that overflows. */
static int64_t extent(const ms_operand *operand) {
  int64_t last = 0, step, bytes;
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    if (operand->dims[d] == 0) return 0;
    if (operand->strides[d] < 0 ||
        __builtin_mul_overflow(operand->dims[d] - 1, operand->strides[d], &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return -1;
    }
  }
  if (__builtin_add_overflow(last, 1, &last) ||
      __builtin_mul_overflow(last, (int64_t)operand->element, &bytes)) {
    return -1;
  }
  return bytes;
}

/* Whether an operand's writes lies in it, and follows what there is. */
static bool writes_fit(const ms_operand *operand, const ms_grid *grid) {
  const ms_writes *writes = &operand->writes;
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    if (writes->low[d] < 0 || writes->low[d] > writes->high[d]) return false;
    if (writes->high[d] > operand->dims[d]) return false;
  }
  if (writes->blind > MS_WRITES_UNLOGGED || writes->follows > MS_FOLLOWS) return false;
  for (uint32_t k = 0; k < writes->follows; k++) {
    const ms_follow *follow = &writes->follow[k];
    if (follow->dim >= operand->dim_count || follow->axis >= grid->count) return false;
  }
  return true;
}

/* Whether the sections lie in the operand, with no more elements than it has. */
static bool sections_fit(const ms_operand *operand, int64_t elements) {
  if (operand->sections == NULL) return operand->section_count == 0;
  if (operand->section_count == 0 || operand->section_count > MS_MOST_SECTIONS) return false;
  for (uint32_t n = 0; n < operand->section_count; n++) {
    const ms_section *section = &operand->sections[n];
    for (uint32_t d = 0; d < operand->dim_count; d++) {
      if (section->low[d] < 0 || section->low[d] > section->high[d]) return false;
      if (section->high[d] > operand->dims[d]) return false;
    }
    elements -= ms_section_count(section, operand->dim_count);
    if (elements < 0) return false;
  }
  return true;
}

/* What is wrong with an operand, NULL when nothing is. */
static const char *fault(const ms_operand *operand, const ms_grid *grid, bool shared) {
  if (operand->movement >= MS_MOVEMENTS || operand->written > 1) return "has an unknown movement";
  if (operand->dim_count == 0 || operand->dim_count > MS_ARRAY_DIMS)
    return "has no valid dimensions";
  if (operand->element == 0 || operand->element > 4096) return "has elements of no valid size";
  ms_strided dense = ms_operand_box(operand, NULL, true);
  int64_t count = ms_strided_count(&dense), bytes;
  if (count < 0 || __builtin_mul_overflow(count, (int64_t)operand->element, &bytes) ||
      bytes > (int64_t)1 << 46) {
    return "is too large";
  }
  if (!sections_fit(operand, count)) return "has sections that do not fit it";
  bool moves = ms_operand_moves(operand);
  if (moves && (operand->array_dim >= operand->dim_count || operand->cut >= grid->count)) {
    return "moves along a dimension that it does not have";
  }
  bool space = operand->cut == ms_grid_space(grid);
  if (operand->movement == MS_MOVE_VERSIONED &&
      (!space || grid->sequential == 0 || operand->depth == 0 || operand->slot > operand->depth)) {
    return "is no version that rounds make";
  }
  if ((operand->movement == MS_MOVE_LOCAL && !space) ||
      (operand->movement == MS_MOVE_ROTATED && (space || !ms_grid_chains(grid, operand->cut)))) {
    return "moves along the wrong cut";
  }
  if (operand->written && operand->movement <= MS_MOVE_BROADCAST)
    return "is read only, but written";
  if (operand->written && !writes_fit(operand, grid)) return "is written beyond its bounds";
  int64_t span = extent(operand);
  if (span < 0) return "reaches beyond any memory";
  if (shared && (operand->place > operand->segment_size ||
                 (uint64_t)span > operand->segment_size - operand->place)) {
    return "reaches beyond its segment";
  }
  return NULL;
}

bool ms_operand_moves(const ms_operand *operand) {
  return operand->movement == MS_MOVE_LOCAL || operand->movement == MS_MOVE_ROTATED ||
         operand->movement == MS_MOVE_VERSIONED;
}

int ms_operand_check(const ms_operand *operand, uint32_t number, const ms_grid *grid, bool shared,
                     ms_error *err) {
  const char *why = fault(operand, grid, shared);
  if (why == NULL) return 0;
  return ms_error_set(err, MS_ARR, "array %u of the loop %s", number + 1, why);
}

int ms_operand_open_lists(const ms_operand *operands, uint32_t count, uint32_t number,
                          uint64_t head, void *const *place, const ms_grid *grid,
                          ms_element_lists *lists, ms_error *err) {
  const ms_operand *operand = &operands[number];
  int64_t blocks = ms_grid_blocks(grid);
  if (head > 0 && head < count) { /* `head` is an operand, the one behind it `head` + 1 */
    const ms_operand *places = &operands[head - 1], *bytes = places + 1;
    bool fits = ms_operand_bytes(places) == ms_element_lists_head(blocks) && bytes->element == 1 &&
                operand->sections == NULL;
    if (fits && ms_element_lists_open(lists, place[head - 1], place[head], ms_operand_bytes(bytes),
                                      blocks, ms_operand_elements(operand)))
      return 0;
  }
  return ms_error_set(err, MS_ARR, "array %u of the loop has lists that do not fit it", number + 1);
}

/* Where runs lie alone each of them costs a cache line, of memory that is not read in a row, and
 * has two bytes or more. */
#define FETCHED_A_BYTE 64

bool ms_operand_lists_pay(const ms_operand *operand, const ms_element_lists *lists) {
  uint64_t listed = (uint64_t)ms_element_lists_count(lists) * operand->element;
  uint64_t fetched = (uint64_t)lists->at[lists->blocks] * FETCHED_A_BYTE;
  return operand->sections == NULL &&
         listed + fetched + ms_element_lists_head(lists->blocks) < ms_operand_bytes(operand);
}

void ms_operand_follow(ms_operand *operand, const ms_travel *travel) {
  operand->movement = travel->movement;
  operand->written = 1;
  operand->array_dim = travel->array_dim;
  operand->cut = travel->cut;
  operand->scale = travel->scale;
  operand->offset = travel->offset;
  operand->writes = travel->writes;
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    if (operand->writes.high[d] == MS_WRITES_ALL) operand->writes.high[d] = operand->dims[d];
  }
  for (uint32_t d = operand->dim_count; d < MS_ARRAY_DIMS; d++) {
    operand->writes.low[d] = operand->writes.high[d] = 0;
  }
}

ms_strided ms_operand_box(const ms_operand *operand, void *data, bool dense) {
  ms_strided box = {.data = data, .element = operand->element, .dim_count = operand->dim_count};
  int64_t stride = 1;
  for (uint32_t d = operand->dim_count; d-- > 0;) {
    box.dims[d] = operand->dims[d];
    box.strides[d] = dense ? stride : operand->strides[d];
    if (__builtin_mul_overflow(stride, operand->dims[d], &stride))
      stride = 0; /* refused by check */
  }
  return box;
}

ms_strided ms_operand_part(const ms_operand *operand, const ms_section *section, void *data,
                           bool dense) {
  ms_strided box = ms_operand_box(operand, data, dense);
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    box = ms_strided_rows(&box, d, section->low[d], section->high[d]);
  }
  return box;
}

uint32_t ms_operand_sections(const ms_operand *operand) {
  return operand->sections == NULL ? 1 : (uint32_t)operand->section_count;
}

ms_section ms_operand_section(const ms_operand *operand, uint32_t n) {
  if (operand->sections != NULL) return operand->sections[n];
  ms_section whole = {.low = {0}};
  memcpy(whole.high, operand->dims, sizeof whole.high);
  return whole;
}

int64_t ms_operand_elements(const ms_operand *operand) {
  int64_t elements = 0;
  for (uint32_t n = 0; n < ms_operand_sections(operand); n++) {
    ms_section section = ms_operand_section(operand, n);
    elements += ms_section_count(&section, operand->dim_count);
  }
  return elements;
}

ms_section ms_operand_writes_section(const ms_operand *operand, const ms_section *section) {
  ms_section written = *section;
  for (uint32_t d = 0; d < operand->dim_count; d++) {
    if (written.low[d] < operand->writes.low[d]) written.low[d] = operand->writes.low[d];
    if (written.high[d] > operand->writes.high[d]) written.high[d] = operand->writes.high[d];
    if (written.high[d] < written.low[d]) written.high[d] = written.low[d];
  }
  return written;
}

size_t ms_operand_bytes(const ms_operand *operand) {
  ms_strided dense = ms_operand_box(operand, NULL, true);
  return (size_t)ms_strided_count(&dense) * operand->element;
}

/* Rows scale * index + offset of the indices in range `range` of an axis that begin at `start`, as
 * 0-based rows, end excluded, of an array with `extent` of them. */
static void rows_along(const int64_t *start, uint32_t range, int64_t scale, int64_t offset,
                       int64_t extent_here, int64_t *lo, int64_t *hi) {
  int64_t first = start[range], end = start[range + 1];
  *lo = *hi = 0;
  if (first == end) return; /* an empty range */
  int64_t ends[2] = {first, end > first ? end - 1 : end + 1};
  for (int i = 0; i < 2; i++) {
    if (__builtin_mul_overflow(ends[i], scale, &ends[i]) ||
        __builtin_add_overflow(ends[i], offset, &ends[i])) {
      return;
    }
  }
  int64_t low = ends[0] < ends[1] ? ends[0] : ends[1], high = ends[0] < ends[1] ? ends[1] : ends[0];
  *lo = low < 1 ? 0 : low - 1;
  *hi = high > extent_here ? extent_here : high;
  if (*hi < *lo) *lo = *hi = 0;
}

bool ms_operand_joins(const ms_operand *operand) {
  return operand->by_number == 1 || operand->scale == 1 || operand->scale == -1;
}

void ms_operand_rows(const ms_operand *operand, const ms_range_starts *bounds, uint32_t first,
                     uint32_t last, int64_t *lo, int64_t *hi) {
  *lo = *hi = 0;
  if (operand->by_number == 1) {
    int64_t rows = operand->dims[operand->array_dim];
    *lo = first < rows ? first : rows;
    *hi = last < rows ? (int64_t)last + 1 : rows;
    return;
  }
  for (uint32_t range = first; range <= last; range++) {
    int64_t low, high;
    rows_along(bounds->start[operand->cut], range, operand->scale, operand->offset,
               operand->dims[operand->array_dim], &low, &high);
    if (low == high) continue;
    if (*lo == *hi || low < *lo) *lo = low;
    if (high > *hi) *hi = high;
  }
}

void ms_operand_writes_rows(const ms_operand *operand, const ms_range_starts *bounds,
                            uint32_t which, uint32_t range, int64_t *lo, int64_t *hi) {
  const ms_writes *writes = &operand->writes;
  const ms_follow *follow = &writes->follow[which];
  int64_t low = writes->low[follow->dim], high = writes->high[follow->dim];
  rows_along(bounds->start[follow->axis], range, follow->scale, follow->offset, high, lo, hi);
  *lo = *lo < low ? 0 : *lo - low;
  *hi = *hi - low < *lo ? *lo : *hi - low;
}

/* The elements from *first until before *end of a box of `section` are all of its elements that are
 * in `part` of it. */
static void span_in(const ms_section *section, const ms_section *part, uint32_t dims,
                    int64_t *first, int64_t *end) {
  int64_t stride = 1, last = 0;
  *first = *end = 0;
  if (ms_section_count(part, dims) == 0) return;
  for (uint32_t d = dims; d-- > 0; stride *= section->high[d] - section->low[d]) {
    *first += (part->low[d] - section->low[d]) * stride;
    last += (part->high[d] - 1 - section->low[d]) * stride;
  }
  *end = last + 1;
}

void ms_operand_writes_span(const ms_operand *operand, const ms_grid *grid,
                            const ms_range_starts *bounds, uint32_t block, int64_t *first,
                            int64_t *end) {
  ms_operand narrow = *operand;
  for (uint32_t k = 0; k < operand->writes.follows; k++) {
    const ms_follow *follow = &operand->writes.follow[k];
    if (bounds->start[follow->axis] == NULL) continue;
    int64_t lo, hi;
    ms_operand_writes_rows(operand, bounds, k, ms_grid_range(grid, block, follow->axis), &lo, &hi);
    narrow.writes.low[follow->dim] = operand->writes.low[follow->dim] + lo;
    narrow.writes.high[follow->dim] = operand->writes.low[follow->dim] + hi;
  }
  *first = *end = 0;
  int64_t before = 0; /* elements of the sections that are behind */
  for (uint32_t n = 0; n < ms_operand_sections(operand); n++) {
    ms_section all = ms_operand_section(operand, n),
               section = ms_operand_writes_section(operand, &all);
    ms_section part = ms_operand_writes_section(&narrow, &section);
    int64_t lo, hi;
    span_in(&section, &part, operand->dim_count, &lo, &hi);
    if (lo < hi && *first == *end) *first = before + lo;
    if (lo < hi) *end = before + hi;
    before += ms_section_count(&section, operand->dim_count);
  }
}
