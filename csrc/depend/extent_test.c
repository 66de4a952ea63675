/* SPDX-License-Identifier: MIT
 *
 * Extents of triangles, bands and downward ranges, in ordinals and in index values. */
#include "depend/extent.h"

#include "base/test.h"

/* for i = 10, 2, -2 do for j = i - 3, i + 1 do for k = 5, j, -1 do */
static ms_domain sample(void) {
  ms_domain domain = {.dim_count = 3};
  domain.dim[0].origin = 10;
  domain.dim[0].step = -2;
  domain.dim[0].box = true;
  domain.dim[0].extent = 5;
  domain.dim[1].step = 1; /* i = 10 - 2 * o: j - (7 - 2 * o) >= 0, (11 - 2 * o) - j >= 0 */
  domain.dim[1].low = (ms_bounds){1, {{.constant = -7, .at = {2, 1}}}};
  domain.dim[1].high = (ms_bounds){1, {{.constant = 11, .at = {-2, -1}}}};
  domain.dim[2].step = -1; /* ordinals are -k: k - j >= 0, 5 - k >= 0 */
  domain.dim[2].low = (ms_bounds){1, {{.at = {0, -1, -1}}}};
  domain.dim[2].high = (ms_bounds){1, {{.constant = 5, .at = {0, 0, 1}}}};
  return domain;
}

static void test_extents(void) {
  ms_domain domain = sample();
  ms_extent extent;
  CHECK(ms_extent_of(&domain, 0) == 5);
  ms_extent_describe(&domain, 0, &extent);
  CHECK(!extent.bounded && extent.range.lo == 10 && extent.range.hi == 2);
  CHECK(ms_extent_of(&domain, 1) == 13); /* -1 .. 11 */
  ms_extent_describe(&domain, 1, &extent);
  CHECK(extent.bounded && extent.range.lo == -1 && extent.range.hi == 11);
  CHECK(extent.low[0].constant == -3 && extent.low[0].at[0] == 1);
  CHECK(extent.high[0].constant == 1 && extent.high[0].at[0] == 1);
  CHECK(ms_extent_of(&domain, 2) == 7); /* 5 down to -1 */
  ms_extent_describe(&domain, 2, &extent);
  CHECK(extent.range.lo == 5 && extent.range.hi == -1 && extent.range.step == -1);
  CHECK(extent.low[0].constant == 0 && extent.low[0].at[0] == 0 && extent.low[0].at[1] == 1);
  CHECK(extent.high[0].constant == 5 && extent.high[0].at[1] == 0);
}

/* A band: for i = 10, 2, -2 do for j = math.max(i - 3, 1), math.min(i + 1, 9) do */
static void test_band(void) {
  ms_domain domain = sample();
  ms_extent extent;
  domain.dim[1].low.form[domain.dim[1].low.count++] = (ms_form){.constant = -1, .at = {0, 1}};
  domain.dim[1].high.form[domain.dim[1].high.count++] = (ms_form){.constant = 9, .at = {0, -1}};
  CHECK(ms_extent_of(&domain, 1) == 9); /* 1 .. 9 */
  ms_extent_describe(&domain, 1, &extent);
  CHECK(extent.range.lo == 1 && extent.range.hi == 9);
  CHECK(extent.low_count == 2 && extent.low[1].constant == 1 && extent.low[1].at[0] == 0);
  CHECK(extent.high_count == 2 && extent.high[1].constant == 9 && extent.high[1].at[0] == 0);
}

/* Bounds that never leave room, and ranges without values. */
static void test_empty(void) {
  ms_domain domain = sample();
  ms_extent extent;
  domain.dim[1].high.form[0].constant = -100;
  CHECK(ms_extent_of(&domain, 1) == 0);
  ms_extent_describe(&domain, 1, &extent);
  CHECK(extent.range.hi == extent.range.lo - 1);
  domain.dim[0].extent = 0;
  ms_extent_describe(&domain, 0, &extent);
  CHECK(extent.range.hi == 12);
}

int main(void) {
  test_extents();
  test_band();
  test_empty();
  return ms_test_end();
}
