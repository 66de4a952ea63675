/* SPDX-License-Identifier: MIT
 *
 * Tiles of products by both sets of registers against sums in the order that reduce.h defines. */
#include "array/product_tile.h"

#include <stdbool.h>
#include <string.h>

#include "array/sum_by_definition.h"
#include "base/philox.h"
#include "base/test.h"

#define MOST_ROWS    5
#define MOST_COLUMNS 6
#define MOST_COUNT   4096

static uint64_t draws;

static double draw(void) {
  ms_philox block = ms_philox_at(21, draws++, 0);
  return ms_philox_unit(ms_philox_half(&block, 0)) - 0.5;
}

static float floats[2][MOST_COLUMNS * MOST_COUNT];
static double doubles[2][MOST_COLUMNS * MOST_COUNT];

static void check(int rows, int columns, int count) {
  static double x[MOST_COUNT], y[MOST_COUNT];
  double product[4][MOST_ROWS * MOST_COLUMNS];
  memset(product, 0, sizeof product);
  ms_tile tile = {.row_room = count,
                  .row_count = rows,
                  .column_room = count,
                  .column_count = columns,
                  .count = count,
                  .width = MOST_COLUMNS};
  void (*const tiles[4])(const ms_tile *) = {ms_tile_float_sse, ms_tile_float_avx,
                                             ms_tile_double_sse, ms_tile_double_avx};
  bool avx = __builtin_cpu_supports("avx2");
  for (int k = 0; k < 4; k++) {
    tile.rows = k < 2 ? (const void *)floats[0] : doubles[0];
    tile.columns = k < 2 ? (const void *)floats[1] : doubles[1];
    tile.product = product[k];
    if (avx || k % 2 == 0) tiles[k](&tile);
  }
  for (int r = 0; r < rows; r++) {
    for (int c = 0; c < columns; c++) {
      for (int k = 0; k < count; k++) {
        x[k] = (double)(floats[0][r * count + k] * floats[1][c * count + k]);
        y[k] = doubles[0][r * count + k] * doubles[1][c * count + k];
      }
      int at = r * MOST_COLUMNS + c;
      CHECK(product[0][at] == sum_by_definition(x, count, MS_FLOAT_LANES, true));
      CHECK(product[2][at] == sum_by_definition(y, count, MS_DOUBLE_LANES, false));
      CHECK(!avx || (product[1][at] == product[0][at] && product[3][at] == product[2][at]));
    }
  }
  CHECK(columns == MOST_COLUMNS || product[0][columns] == 0); /* nothing beside it is touched */
}

int main(void) {
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < MOST_COLUMNS * MOST_COUNT; i++) {
      doubles[k][i] = draw();
      floats[k][i] = (float)draw();
    }
  }
  for (int rows = 1; rows <= MOST_ROWS; rows++) {
    for (int columns = 1; columns <= MOST_COLUMNS; columns++) {
      check(rows, columns, 16);
      check(rows, columns, 96);
      check(rows, columns, MOST_COUNT);
    }
  }
  return ms_test_end();
}
