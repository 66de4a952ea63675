/* SPDX-License-Identifier: MIT
 *
 * Sketch: see sketch.h. */
#include "sync/sketch.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CELLS ((uint64_t)1 << 31)

ms_sketch *ms_sketch_new(uint32_t width, uint32_t depth, uint64_t seed, ms_error *err) {
  if (width < 1 || depth < 1 || depth > MS_SKETCH_DEPTH || (uint64_t)width * depth > MOST_CELLS) {
    ms_error_set(err, MS_OPT, "a sketch has 1 to %u rows and 2^31 cells at most, not %u x %u",
                 MS_SKETCH_DEPTH, depth, width);
    return NULL;
  }
  ms_sketch *made = calloc(1, sizeof *made);
  double *cells = calloc((size_t)width * depth, sizeof *cells);
  if (made == NULL || cells == NULL) {
    free(made);
    free(cells);
    ms_error_memory(err, MS_ARR, "a sketch of %u x %u cells", depth, width);
    return NULL;
  }
  *made = (ms_sketch){.width = width, .depth = depth, .seed = seed, .cells = cells};
  return made;
}

void ms_sketch_free(ms_sketch *sketch) {
  if (sketch == NULL) return;
  free(sketch->cells);
  free(sketch);
}

void ms_sketch_clear(ms_sketch *sketch) {
  memset(sketch->cells, 0, (size_t)sketch->width * sketch->depth * sizeof *sketch->cells);
}

/* Sebastiano Vigna's splitmix64, of seed, row and element. */
static uint64_t hash(const ms_sketch *sketch, uint32_t row, int64_t element) {
  uint64_t z = sketch->seed + (uint64_t)(row + 1) * UINT64_C(0xD1B54A32D192ED03) +
               (uint64_t)(element + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

static double sign_of(uint64_t bits) {
  return bits & 1 ? 1 : -1;
}

static size_t cell_of(const ms_sketch *sketch, uint32_t row, uint64_t bits) {
  return (size_t)row * sketch->width + (size_t)((bits >> 32) * sketch->width >> 32);
}

void ms_sketch_add(ms_sketch *sketch, const double *change, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (change[i] == 0) continue;
    for (uint32_t row = 0; row < sketch->depth; row++) {
      uint64_t bits = hash(sketch, row, i);
      sketch->cells[cell_of(sketch, row, bits)] += sign_of(bits) * change[i];
    }
  }
}

static double median(double *values, uint32_t count) {
  for (uint32_t k = 1; k < count; k++) { /* few: by insertion */
    double each = values[k];
    uint32_t at = k;
    for (; at > 0 && values[at - 1] > each; at--) values[at] = values[at - 1];
    values[at] = each;
  }
  uint32_t half = count / 2;
  return count % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void ms_sketch_estimate(const ms_sketch *sketch, double *estimate, int64_t count) {
  double values[MS_SKETCH_DEPTH];
  for (int64_t i = 0; i < count; i++) {
    for (uint32_t row = 0; row < sketch->depth; row++) {
      uint64_t bits = hash(sketch, row, i);
      values[row] = sign_of(bits) * sketch->cells[cell_of(sketch, row, bits)];
    }
    estimate[i] = median(values, sketch->depth);
  }
}

double ms_sketch_bytes(const ms_sketch *sketch) {
  return 8.0 * sketch->width * sketch->depth;
}
