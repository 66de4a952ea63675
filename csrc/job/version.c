/* SPDX-License-Identifier: MIT
 *
 * Versions: see version.h. */
#include "job/version.h"

#include <string.h>

/* The rows (0-based, end excluded) that a block makes of an array. */
static void rows_of(const ms_versions *versions, const ms_version_array *array, uint32_t block,
                    int64_t *lo, int64_t *hi) {
  int64_t bounds[MS_LAYOUT_BOUNDS];
  if (array->starts != NULL) {
    *lo = array->starts[block % versions->ranges] - 1;
    *hi = array->starts[block % versions->ranges + 1] - 1;
    return;
  }
  ms_layout_bounds(versions->layout, block, bounds);
  int64_t one = array->scale * bounds[versions->at] + array->offset;
  int64_t other = array->scale * bounds[versions->at + 1] + array->offset;
  *lo = (one < other ? one : other) - 1;
  *hi = one < other ? other : one;
  if (*lo < 0) *lo = 0;
  if (*hi > array->rows) *hi = array->rows;
}

/* The memory of a version, counted from the start, 0. */
static const void *memory_of(const ms_version_array *array, int64_t version) {
  return version == 0 ? array->start : array->ring[(version - 1) % array->depth];
}

/* Copies rows of one version to another. */
static void copy_rows(const ms_versions *versions, const ms_version_array *array, uint32_t block,
                      const void *from, void *to) {
  int64_t lo, hi;
  rows_of(versions, array, block, &lo, &hi);
  if (hi <= lo) return;
  size_t size = (size_t)((hi - lo) * array->row);
  for (int64_t o = 0; o < array->outer; o++) {
    int64_t place = (o * array->rows + lo) * array->row;
    memcpy((char *)to + place, (const char *)from + place, size);
  }
}

/* The same without what a block makes anew. */
static void copy_rest(const ms_versions *versions, const ms_version_array *array, uint32_t block,
                      const void *from, void *to) {
  int64_t lo, hi;
  if (array->anew == 0) {
    copy_rows(versions, array, block, from, to);
    return;
  }
  rows_of(versions, array, block, &lo, &hi);
  for (int64_t o = 0; o < array->outer; o++) {
    for (int64_t r = lo; r < hi; r++) {
      int64_t place = (o * array->rows + r) * array->row + array->anew;
      memcpy((char *)to + place, (const char *)from + place, (size_t)(array->row - array->anew));
    }
  }
}

static size_t size_of(const ms_version_array *array) {
  return (size_t)(array->outer * array->rows * array->row);
}

static void fill(const ms_version_array *array) {
  size_t size = size_of(array);
  for (uint32_t slot = 0; slot < array->depth; slot++)
    memcpy(array->ring[slot], array->start, size);
}

/* Images begin with the start. */
static void fill_images(ms_versions *versions) {
  for (uint32_t a = 0; a < versions->array_count; a++)
    memcpy(versions->arrays[a].image, versions->arrays[a].start, size_of(&versions->arrays[a]));
  memset(versions->held, 0, versions->ranges * sizeof *versions->held);
  versions->imaged = 1;
}

void ms_versions_load(ms_versions *versions, uint32_t block, uint32_t range) {
  uint32_t of = block - block % versions->ranges + range;
  int64_t version = versions->wanted[range];
  if (versions->held[range] == version) return;
  for (uint32_t a = 0; a < versions->array_count; a++) {
    const ms_version_array *array = &versions->arrays[a];
    copy_rows(versions, array, of, memory_of(array, version), array->image);
  }
  versions->held[range] = version;
}

static void *address_of(const ms_versions *versions, const ms_version_place *place) {
  const ms_version_array *array = &versions->arrays[place->array];
  if (place->next == 0) return (void *)(size_t)array->last;
  if (place->own == 0) return array->next;
  return (char *)array->next + versions->present * array->row + place->offset;
}

void ms_versions_begin(ms_versions *versions, uint32_t block) {
  versions->present = block % versions->ranges;
  uint32_t round = block / versions->ranges - versions->first / versions->ranges;
  for (uint32_t a = 0; a < versions->array_count; a++) {
    ms_version_array *array = &versions->arrays[a];
    if (versions->filled == 0) fill(array);
    array->last = memory_of(array, round);
    array->next = array->ring[round % array->depth];
    if (array->steady == 0) copy_rest(versions, array, block, array->last, array->next);
    if (versions->wanted != NULL) array->last = array->image;
  }
  versions->filled = 1;
  if (versions->wanted != NULL && versions->imaged == 0) fill_images(versions);
  for (uint32_t p = 0; p < versions->place_count; p++)
    *versions->places[p].at = address_of(versions, &versions->places[p]);
}

void ms_versions_carry(ms_versions *versions, uint32_t block) {
  uint32_t round = block / versions->ranges - versions->first / versions->ranges;
  ms_versions_begin(versions, block);
  for (uint32_t a = 0; a < versions->array_count; a++) {
    const ms_version_array *array = &versions->arrays[a];
    copy_rows(versions, array, block, memory_of(array, round), array->next);
  }
}
