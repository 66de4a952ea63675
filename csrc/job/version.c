/* SPDX-License-Identifier: MIT
 *
 * Versions: see version.h. */
#include "job/version.h"

#include <string.h>

void ms_version_rows(const ms_versions *versions, const ms_version_array *array, uint32_t block,
                     int64_t *lo, int64_t *hi) {
  int64_t bounds[2 * MS_MAX_DIMS + 2];
  ms_layout_bounds(versions->layout, block, bounds);
  int64_t one = array->scale * bounds[versions->at] + array->offset;
  int64_t other = array->scale * bounds[versions->at + 1] + array->offset;
  *lo = (one < other ? one : other) - 1;
  *hi = one < other ? other : one;
  if (*lo < 0) *lo = 0;
  if (*hi > array->rows) *hi = array->rows;
}

/* Copies the block's rows from the last version to the next. */
static void carry(const ms_versions *versions, const ms_version_array *array, uint32_t block) {
  int64_t lo, hi;
  ms_version_rows(versions, array, block, &lo, &hi);
  if (hi <= lo) return;
  size_t size = (size_t)((hi - lo) * array->row);
  for (int64_t o = 0; o < array->outer; o++) {
    int64_t place = (o * array->rows + lo) * array->row;
    memcpy((char *)array->next + place, (const char *)array->last + place, size);
  }
}

static void fill(const ms_version_array *array) {
  size_t size = (size_t)(array->outer * array->rows * array->row);
  for (uint32_t slot = 0; slot < array->depth; slot++)
    memcpy(array->ring[slot], array->start, size);
}

void ms_versions_begin(ms_versions *versions, uint32_t block) {
  uint32_t round = block / versions->ranges - versions->first / versions->ranges;
  for (uint32_t a = 0; a < versions->array_count; a++) {
    ms_version_array *array = &versions->arrays[a];
    if (versions->filled == 0) fill(array);
    array->last = round == 0 ? array->start : array->ring[(round - 1) % array->depth];
    array->next = array->ring[round % array->depth];
    if (array->whole == 0) carry(versions, array, block);
  }
  versions->filled = 1;
  for (uint32_t p = 0; p < versions->place_count; p++) {
    const ms_version_place *place = &versions->places[p];
    const ms_version_array *array = &versions->arrays[place->array];
    *place->at = place->next != 0 ? array->next : (void *)(size_t)array->last;
  }
}
