/* SPDX-License-Identifier: MIT
 *
 * Needs against a plain walk over random marks; bytes that are no runs. */
#include "plan/needs.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/test.h"

enum { MOST = 3000 };

static uint64_t state = 20260101;

static int64_t pick(int64_t most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)most);
}

/* Runs of random lengths, from a few marks to all. */
static void make_marks(double *marks, int64_t count) {
  int64_t density = 1 + pick(60);
  memset(marks, 0, (size_t)count * sizeof *marks);
  for (int64_t k = 0; k < count; k++) {
    if (pick(density) != 0) continue;
    for (int64_t length = 1 + pick(20); length > 0 && k < count; length--) marks[k++] = 1;
  }
  if (count > 0 && pick(3) == 0) marks[count - 1] = 2;
  if (count > 0 && pick(3) == 0) marks[pick(count)] = -0.0;
}

/* A block's list has the elements that are marked, in as few runs as can be. */
static void check_list(const ms_needs *needs, int64_t block, const double *marks, int64_t count) {
  int64_t at = 0, listed = 0;
  ms_element_walk walk = ms_element_lists_walk(&needs->lists, block);
  for (ms_span run; ms_element_walk_next(&walk, &run); listed += run.count) {
    CHECK(run.count > 0 && (run.first > at || at == 0));
    for (; at < run.first; at++) CHECK(marks[at] == 0);
    for (; at < run.first + run.count; at++) CHECK(marks[at] != 0);
  }
  for (; at < count; at++) CHECK(marks[at] == 0);
  CHECK(walk.next == walk.end && listed == ms_element_lists_of(&needs->lists, block));
}

/* Where it is known what was touched the bytes are the same, and nothing stays. */
static void check_touched(const double *marks, int64_t count) {
  static double copy[MOST], same[MOST];
  static char bytes[MOST + 1], found[MOST + 1];
  uint8_t touched[MS_TOUCHED_BYTES(MOST)] = {0};
  memcpy(copy, marks, sizeof copy);
  memcpy(same, marks, sizeof same);
  for (int64_t k = 0; k < count; k++) {
    if (marks[k] != 0 || pick(50) == 0) ms_touch(touched, k);
  }
  size_t size = ms_needs_take(same, count, bytes);
  CHECK(ms_needs_take_touched(copy, count, touched, found) == size);
  CHECK(memcmp(bytes, found, size) == 0);
  for (int64_t k = 0; k < count; k++) CHECK(copy[k] == 0);
  for (size_t b = 0; b < sizeof touched; b++) CHECK(touched[b] == 0);
}

static void test_round(void) {
  static double marks[MOST], before[MOST];
  static char bytes[MOST + 1];
  ms_error err = {0};
  int64_t count = pick(MOST), blocks = 1 + pick(5);
  ms_needs *needs = ms_needs_new(blocks, count, &err);
  CHECK(needs != NULL && needs->id != 0);
  for (int64_t b = 0; b < blocks; b++) {
    make_marks(marks, count);
    memcpy(before, marks, sizeof before);
    check_touched(marks, count);
    size_t size = ms_needs_take(marks, count, bytes);
    CHECK(size <= (size_t)count + 1);
    for (int64_t k = 0; k < count; k++) CHECK(marks[k] == 0);
    CHECK(ms_needs_add(needs, bytes, size, &err) == 0);
    check_list(needs, b, before, count);
  }
  CHECK(needs->filled == blocks);
  CHECK(ms_needs_add(needs, bytes, 0, &err) == -1 && err.code == MS_BUG);
  ms_needs_free(needs);
}

/* A space of up to three dimensions, cut along some of them. */
static ms_layout make_layout(int64_t *volume, int64_t *blocks) {
  ms_layout layout = {.dims = 1 + (uint32_t)pick(3)};
  *volume = *blocks = 1;
  for (uint32_t d = 0; d < layout.dims; d++) {
    int64_t values = 1 + pick(12), step = pick(2) == 0 ? 1 + pick(3) : -1 - pick(3);
    int64_t lo = pick(50) - 25, ranges = 1 + pick(values);
    layout.extents[d] = (ms_range){lo, lo + (values - 1) * step, step};
    *volume *= values;
    if (pick(3) == 0) continue;
    layout.axes[layout.axis_count] = ms_layout_cut(lo, step, values, ranges);
    layout.axes[layout.axis_count++].at = 2 * (int64_t)d;
    *blocks *= ranges;
  }
  return layout;
}

/* Whether the iteration with a number, from 1, is one of a block. */
static bool is_in(const ms_layout *layout, uint32_t block, int64_t number) {
  int64_t bounds[MS_LAYOUT_BOUNDS], rest = number - 1;
  bool in = true;
  ms_layout_bounds(layout, block, bounds);
  for (uint32_t d = layout->dims; d-- > 0;) {
    const ms_range *extent = &layout->extents[d];
    int64_t values = (extent->hi - extent->lo) / extent->step + 1;
    int64_t value = extent->lo + rest % values * extent->step;
    int64_t low = bounds[2 * d], high = bounds[2 * d + 1];
    in = in && (extent->step > 0 ? value >= low && value <= high : value <= low && value >= high);
    rest /= values;
  }
  return in;
}

static void test_numbers(void) {
  static double numbers[MOST], marks[MOST];
  static char memory[MOST * 40];
  ms_error err = {0};
  int64_t count = pick(MOST), volume, blocks, density = 1 + pick(8);
  ms_layout layout = make_layout(&volume, &blocks);
  for (int64_t e = 0; e < count; e++)
    numbers[e] = pick(density) == 0 ? (double)(1 + pick(volume)) : 0;
  int64_t listed = 0;
  for (int64_t e = 0; e < count; e++) listed += numbers[e] != 0;
  CHECK(ms_needs_of_numbers(numbers, count, listed - 1, &layout, &err) == NULL && err.code == 0);
  ms_needs *needs = ms_needs_of_numbers(numbers, count, listed, &layout, &err);
  CHECK(needs != NULL && needs->filled == blocks && ms_needs_size(needs) <= sizeof memory);
  ms_needs_move(needs, memory);
  CHECK((char *)(size_t)needs->lists.at == memory);
  for (int64_t b = 0; b < blocks; b++) {
    for (int64_t e = 0; e < count; e++)
      marks[e] = numbers[e] > 0 && is_in(&layout, (uint32_t)b, (int64_t)numbers[e]);
    check_list(needs, b, marks, count);
  }
  if (count > 0) {
    numbers[count - 1] = (double)(volume + 1);
    CHECK(ms_needs_of_numbers(numbers, count, count, &layout, &err) == NULL);
    CHECK(err.code == MS_BUG);
  }
  ms_needs_free(needs);
}

static void refuse(const char *bytes, size_t size) {
  ms_error err = {0};
  ms_needs *needs = ms_needs_new(2, 100, &err);
  CHECK(ms_needs_add(needs, bytes, size, &err) == -1 && err.code == MS_BUG);
  CHECK(needs->filled == 0);
  ms_needs_free(needs);
}

static void test_refused(void) {
  refuse("\x05", 1);                                      /* a gap without a length */
  refuse("\x05\x00", 2);                                  /* no elements */
  refuse("\x63\x02", 2);                                  /* beyond the end */
  refuse("\x00\x64\x00\x01", 4);                          /* behind the last element */
  refuse("\x80\x80", 2);                                  /* a number without an end */
  refuse("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10); /* a number too large */
  ms_error err = {0};
  CHECK(ms_needs_new(0, 5, &err) == NULL && err.code == MS_ARR);
  CHECK(ms_needs_new(INT64_MAX, 5, &err) == NULL);
  ms_needs_free(NULL);
}

/* Every single change of contents, length included, gives another fingerprint. */
static void test_fingerprint(void) {
  unsigned char bytes[200];
  uint64_t first[2], other[2];
  for (int k = 0; k < 200; k++) bytes[k] = (unsigned char)pick(4);
  ms_fingerprint(bytes, sizeof bytes, first);
  for (size_t k = 0; k < sizeof bytes; k++) {
    bytes[k] ^= (unsigned char)(1 << pick(8));
    ms_fingerprint(bytes, sizeof bytes, other);
    CHECK(memcmp(first, other, sizeof first) != 0);
    memcpy(first, other, sizeof first);
    ms_fingerprint(bytes, k, other);
    CHECK(memcmp(first, other, sizeof first) != 0);
  }
  unsigned char swapped[64] = {1};
  ms_fingerprint(swapped, 64, first);
  for (size_t k = 8; k < 64; k += 8) {
    swapped[k - 8] = 0;
    swapped[k] = 1;
    ms_fingerprint(swapped, 64, other);
    CHECK(memcmp(first, other, sizeof first) != 0);
  }
}

int main(void) {
  for (int round = 0; round < 300; round++) test_round();
  for (int round = 0; round < 300; round++) test_numbers();
  test_refused();
  test_fingerprint();
  return ms_test_end();
}
