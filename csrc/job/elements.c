/* SPDX-License-Identifier: MIT
 *
 * Elements: see elements.h. */
#include "job/elements.h"

ms_elements ms_elements_of(const ms_operand *operand, const void *data, bool dense) {
  return (ms_elements){.operand = operand,
                       .data = (unsigned char *)(size_t)data,
                       .dense = dense,
                       .hi = operand->dims[0]};
}

ms_elements ms_elements_written(const ms_operand *operand, const void *data, bool dense) {
  ms_elements written = ms_elements_of(operand, data, dense);
  written.written = true;
  return written;
}

ms_elements ms_elements_rows(const ms_elements *all, uint32_t dim, int64_t lo, int64_t hi) {
  ms_elements rows = *all;
  rows.dim = dim;
  rows.lo = lo;
  rows.hi = hi;
  return rows;
}

ms_strided ms_elements_box(const ms_elements *elements, uint32_t n) {
  ms_section section = ms_operand_section(elements->operand, n);
  if (elements->written) section = ms_operand_writes_section(elements->operand, &section);
  int64_t *low = &section.low[elements->dim], *high = &section.high[elements->dim];
  if (*low < elements->lo) *low = elements->lo;
  if (*high > elements->hi) *high = elements->hi;
  return ms_operand_part(elements->operand, &section, elements->data, elements->dense);
}

int64_t ms_elements_count(const ms_elements *elements) {
  int64_t all = 0;
  for (uint32_t n = 0; n < ms_operand_sections(elements->operand); n++) {
    ms_strided box = ms_elements_box(elements, n);
    int64_t count = ms_strided_count(&box);
    if (count < 0 || __builtin_add_overflow(all, count, &all)) return -1;
  }
  return all;
}

/* The box that has element number *first, which becomes its number there; *left: how many elements
 * there are from it to the end of the box. */
static ms_strided box_with(const ms_elements *elements, int64_t *first, int64_t *left) {
  for (uint32_t n = 0;; n++) {
    ms_strided box = ms_elements_box(elements, n);
    *left = ms_strided_count(&box) - *first;
    if (*left > 0 || n + 1 == ms_operand_sections(elements->operand)) return box;
    *first = -*left;
  }
}

/* Elements of the sequence that lie in one box. */
typedef struct part {
  ms_strided box;
  int64_t first, count; /* in the box */
} part;

/* Takes what one box has of elements *first .. *first + *count off their beginning; false when none
 * are left, or there are no more. */
static bool next_part(const ms_elements *elements, int64_t *first, int64_t *count, part *next) {
  if (*count <= 0) return false;
  int64_t left;
  next->first = *first;
  next->box = box_with(elements, &next->first, &left);
  next->count = left < *count ? left : *count;
  *first += next->count;
  *count -= next->count;
  return next->count > 0;
}

void ms_elements_gather(const ms_elements *elements, int64_t first, int64_t count, void *out) {
  unsigned char *to = out;
  for (part next; next_part(elements, &first, &count, &next);) {
    ms_strided_gather(&next.box, next.first, next.count, to);
    to += (size_t)next.count * next.box.element;
  }
}

void ms_elements_scatter(const ms_elements *elements, int64_t first, int64_t count,
                         const void *in) {
  const unsigned char *from = in;
  for (part next; next_part(elements, &first, &count, &next);) {
    ms_strided_scatter(&next.box, next.first, next.count, from);
    from += (size_t)next.count * next.box.element;
  }
}

unsigned char *ms_elements_in_a_row(const ms_elements *elements) {
  ms_strided box = ms_elements_box(elements, 0);
  bool one = ms_operand_sections(elements->operand) == 1;
  return one && ms_array_is_row_major(box.dim_count, box.dims, box.strides) ? box.data : NULL;
}

ms_strided_run ms_elements_run_at(const ms_elements *elements, int64_t first) {
  int64_t left;
  ms_strided box = box_with(elements, &first, &left);
  return ms_strided_run_at(&box, first);
}
