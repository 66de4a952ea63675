/* SPDX-License-Identifier: MIT
 *
 * Cutting: see cutting.h. */
#include "plan/cutting.h"

#include <math.h>

#include "array/partition.h"

#define MOST_BLOCKS    16777216.0 /* MS_MOST_BLOCKS */
#define LEAST          16         /* ranges of each of several axes */
#define MOST           1024
#define LARGE          1e8  /* entries of a large space, */
#define LARGE_RANGE    1e6  /* and of a range of it at most */
#define MOST_BUFFERED  64   /* ranges of each axis of a loop with buffers */
#define LEAST_BUFFERED 128  /* iterations of a block then, as long as that leaves so many */
#define MERGED_EACH    4.0  /* of the iterations of a block, to an element that is merged */
#define MUCH_MERGED    16.0 /* elements to an iteration that blocks leave in any case */
#define LEAST_MERGED   4    /* ranges of a single axis then */
#define STAGE_BLOCKS   16   /* blocks of a stage, if its iterations are bounded */
#define LEAST_OF_SWEEP 8    /* ranges of the parallel axis of a sweep, and of a round */
#define MOST_OF_SWEEP  64
#define LEAST_OF_PHASE 16      /* iterations of a phase that make it worth another range */
#define LEAST_OF_ROUND 4096    /* iterations of a round that make it worth another range */
#define SWEEP_BLOCKS   16384.0 /* of a sweep, as long as that leaves so many ranges */

static int64_t clamp(double value, int64_t least, int64_t most) {
  if (!(value > (double)least)) return least;
  return value < (double)most ? (int64_t)value : most;
}

static double power(int64_t base, int64_t exponent) {
  double product = 1;
  while (exponent-- > 0) product *= (double)base;
  return product;
}

/* The least whole number whose power is no less than `value`, at most `most`. */
static int64_t root_above(double value, int64_t exponent, int64_t most) {
  int64_t low = 0, high = most;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (power(middle, exponent) >= value) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/* The most ranges that each of so many axes may have. */
static int64_t most_ranges(int64_t axes) {
  int64_t most = root_above(MOST_BLOCKS, axes, (int64_t)MOST_BLOCKS);
  return power(most, axes) > MOST_BLOCKS ? most - 1 : most;
}

static int64_t sweep_ranges(double entries, double phases) {
  double ranges = fmin(entries / phases / LEAST_OF_PHASE, SWEEP_BLOCKS / phases);
  return clamp((double)clamp(ranges, LEAST_OF_SWEEP, MOST_OF_SWEEP), 1,
               clamp(MOST_BLOCKS / phases, 1, MOST_OF_SWEEP));
}

/* Ranges of so many iterations: the usual ones, or fewer where merging what each of these leaves
 * would take longer than the iterations. */
static int64_t fewer_ranges(const ms_cutting *cutting, double iterations, int64_t usual) {
  if (cutting->axes > 1 || !(cutting->merged > 0)) return usual;
  if (cutting->merged > MUCH_MERGED * iterations) return usual;
  return clamp(MERGED_EACH * iterations / cutting->merged, LEAST_MERGED, usual);
}

static int64_t buffered_ranges(const ms_cutting *cutting) {
  int64_t most = most_ranges(cutting->axes), usual;
  if (cutting->axes == 1) {
    usual = clamp(cutting->entries / LEAST_BUFFERED, STAGE_BLOCKS, MOST_BUFFERED);
  } else {
    usual = root_above(cutting->entries / MS_CUT_ENTRIES, cutting->axes, MOST_BUFFERED);
    if (usual < LEAST) usual = LEAST;
  }
  usual = fewer_ranges(cutting, cutting->entries, usual);
  if (isinf(cutting->delay)) return usual;
  int64_t each = fewer_ranges(cutting, cutting->delay, STAGE_BLOCKS);
  int64_t staged =
      root_above(cutting->entries / cutting->delay * (double)each, cutting->axes, most);
  return staged > usual ? staged : usual;
}

int64_t ms_cutting_round_ranges(double iterations) {
  return clamp(ceil(iterations / LEAST_OF_ROUND), LEAST_OF_SWEEP, MOST_OF_SWEEP);
}

int64_t ms_cutting_ranges(const ms_cutting *cutting) {
  double entries = cutting->entries;
  int64_t axes = cutting->axes, most = most_ranges(axes), ranges;
  if (cutting->phases > 1) return sweep_ranges(entries, cutting->phases);
  if (cutting->delay > 0) return buffered_ranges(cutting);
  if (axes == 1) return ms_cut_ranges(entries);
  ranges = root_above(entries / MS_CUT_ENTRIES, axes, MOST);
  if (entries > LARGE && (double)ranges < ceil(entries / LARGE_RANGE)) {
    ranges = clamp(ceil(entries / LARGE_RANGE), LEAST, MOST);
  }
  if (ranges < LEAST) ranges = LEAST;
  return ranges < most ? ranges : most;
}
