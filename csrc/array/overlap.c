/* SPDX-License-Identifier: MIT
 *
 * Overlap: see overlap.h. A set of bits has the elements of one array; the other's are looked up.
 */
#include "array/overlap.h"

#include <stdlib.h>

/* Most elements that are visited, and most between the first and the last that both may have. */
#define MOST_ELEMENTS ((int64_t)1 << 24)
#define MOST_BETWEEN  ((int64_t)1 << 28)

/* The elements of an array, as numbers counted from one element of the store. */
typedef struct elements {
  int dim_count;
  int64_t dims[MS_ARRAY_DIMS], strides[MS_ARRAY_DIMS];
  int64_t origin, least, most, count;
} elements;

static elements elements_of(const ms_array *array, int64_t origin) {
  elements all = {.dim_count = array->sparse ? 1 : array->dim_count, .count = array->count};
  all.origin = all.least = all.most = origin;
  for (int d = 0; d < all.dim_count; d++) {
    all.dims[d] = array->sparse ? array->count : array->dims[d];
    all.strides[d] = array->sparse ? 1 : array->strides[d];
    int64_t reach = (all.dims[d] - 1) * all.strides[d];
    if (reach < 0) all.least += reach;
    if (reach > 0) all.most += reach;
  }
  return all;
}

/* Goes to the next element; false after the last. */
static bool next_element(const elements *all, int64_t *at, int64_t *number) {
  for (int d = all->dim_count - 1; d >= 0; d--) {
    *number += all->strides[d];
    if (++at[d] < all->dims[d]) return true;
    *number -= all->dims[d] * all->strides[d];
    at[d] = 0;
  }
  return false;
}

/* Sets the bits of the elements from `least` to `most`, or tells whether one is set. */
static bool visit(const elements *all, int64_t least, int64_t most, unsigned char *bits, bool set) {
  int64_t at[MS_ARRAY_DIMS] = {0}, number = all->origin;
  do {
    if (number < least || number > most) continue;
    size_t place = (size_t)(number - least);
    unsigned char bit = (unsigned char)(1U << place % 8);
    if (set) bits[place / 8] |= bit;
    if (!set && (bits[place / 8] & bit) != 0) return true;
  } while (next_element(all, at, &number));
  return false;
}

bool ms_array_overlap(const ms_array *a, const ms_array *b) {
  if (a->count == 0 || b->count == 0) return false;
  if (a->type != b->type || a->store != b->store) return true;
  int64_t size = (int64_t)ms_type_of(a->type)->size;
  int64_t bytes = (const char *)b->data - (const char *)a->data;
  if (bytes % size != 0) return true;
  elements one = elements_of(a, 0), other = elements_of(b, bytes / size);
  int64_t least = one.least > other.least ? one.least : other.least;
  int64_t most = one.most < other.most ? one.most : other.most;
  if (least > most) return false;
  if (one.count > MOST_ELEMENTS || other.count > MOST_ELEMENTS || most - least >= MOST_BETWEEN)
    return true;
  unsigned char *bits = calloc((size_t)(most - least) / 8 + 1, 1);
  if (bits == NULL) return true;
  visit(&one, least, most, bits, true);
  bool shared = visit(&other, least, most, bits, false);
  free(bits);
  return shared;
}
