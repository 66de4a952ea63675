/* SPDX-License-Identifier: MIT
 *
 * Strided boxes: packing and unpacking of strided pieces against element by element indexing. */
#include "job/strided.h"

#include <string.h>

#include "base/test.h"

static int32_t memory[720];

/* Element `at` of the row-major sequence, by dividing out each dimension. */
static int32_t expected(const ms_strided *box, int64_t at) {
  int64_t offset = 0;
  for (uint32_t d = box->dim_count; d-- > 0;) {
    offset += at % box->dims[d] * box->strides[d];
    at /= box->dims[d];
  }
  return ((const int32_t *)(const void *)box->data)[offset];
}

static void check_box(const ms_strided *box) {
  int64_t count = ms_strided_count(box);
  int32_t out[722];
  for (int64_t first = 0; first < count; first += 7) {
    for (int64_t take = 1; first + take <= count; take += 5) {
      int good = 1;
      memset(out, 0xFF, sizeof out);
      ms_strided_gather(box, first, take, out);
      for (int64_t i = 0; i < take; i++) good &= out[i] == expected(box, first + i);
      good &= out[take] == -1;
      memset(out, 0xFF, sizeof out);
      ms_strided_stream(box, first, take, out + 1);
      for (int64_t i = 0; i < take; i++) good &= out[i + 1] == expected(box, first + i);
      good &= out[0] == -1 && out[take + 1] == -1;
      CHECK(good);
    }
  }
  int32_t copy[720], fresh[720];
  memcpy(copy, memory, sizeof copy);
  for (int i = 0; i < 720; i++) fresh[i] = 5000 + i;
  ms_strided_scatter(box, 0, count, fresh);
  int good = 1;
  for (int64_t i = 0; i < count; i++) good &= expected(box, i) == 5000 + (int32_t)i;
  int changed = 0;
  for (int i = 0; i < 720; i++) changed += memory[i] != copy[i];
  CHECK(good && changed == count);
  memcpy(memory, copy, sizeof copy);
}

int main(void) {
  for (int i = 0; i < 720; i++) memory[i] = i;
  static const ms_strided shapes[] = {
      {NULL, 4, 1, {720}, {1}},
      {NULL, 4, 1, {100}, {7}},
      {NULL, 4, 2, {24, 30}, {30, 1}},
      {NULL, 4, 2, {30, 24}, {1, 30}}, /* transposed */
      {NULL, 4, 2, {10, 5}, {60, 2}},
      {NULL, 4, 3, {8, 9, 10}, {90, 10, 1}},
      {NULL, 4, 3, {4, 9, 5}, {180, 10, 2}},
      {NULL, 4, 3, {8, 1, 10}, {90, 10, 1}},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    ms_strided box = shapes[i];
    box.data = (unsigned char *)memory;
    check_box(&box);
    for (uint32_t dim = 0; dim < box.dim_count; dim++) {
      int64_t middle = box.dims[dim] / 2;
      ms_strided upper = ms_strided_rows(&box, dim, middle, box.dims[dim] + 9);
      CHECK(ms_strided_count(&upper) ==
            ms_strided_count(&box) / box.dims[dim] * (box.dims[dim] - middle));
      check_box(&upper);
      ms_strided none = ms_strided_rows(&box, dim, 5, 2);
      CHECK(ms_strided_count(&none) == 0);
    }
  }
  ms_strided huge = {NULL, 8, 2, {INT64_MAX, 3}, {3, 1}};
  CHECK(ms_strided_count(&huge) == -1);
  return ms_test_end();
}
