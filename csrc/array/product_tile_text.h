/* SPDX-License-Identifier: MIT
 *
 * The text of product_tile.h's functions. A file that includes it has named them MS_TILE_FLOAT and
 * MS_TILE_DOUBLE, and is compiled for the registers that it is about.
 *
 * Two rows and two columns are taken at a time: four chains of additions for each register, which
 * do not wait for each other, and each element that is loaded is used twice. */
#include <stdbool.h>

#include "array/lanes.h"
#include "array/product_tile.h"

/* Adds the terms of register r of the elements at i. */
#define FOUR_TERMS(registers, FROM, at)      \
  do {                                       \
    registers ta = FROM(a + i + (at)*WIDTH); \
    registers tb = FROM(b + i + (at)*WIDTH); \
    registers tx = FROM(x + i + (at)*WIDTH); \
    registers ty = FROM(y + i + (at)*WIDTH); \
    ax[at] += ta * tx;                       \
    ay[at] += ta * ty;                       \
    bx[at] += tb * tx;                       \
    by[at] += tb * ty;                       \
  } while (0);

/* The sums of one chunk of two rows with two columns: a x, a y, b x, b y. */
static inline void four_floats(const float *a, const float *b, const float *x, const float *y,
                               int64_t count, double sums[4]) {
#define WIDTH   MS_FLOATS
#define TERM(r) FOUR_TERMS(ms_floats, ms_floats_from, r)
  ms_floats ax[MS_REGISTERS] = {{0}}, ay[MS_REGISTERS] = {{0}};
  ms_floats bx[MS_REGISTERS] = {{0}}, by[MS_REGISTERS] = {{0}};
  for (int64_t i = 0; i < count; i += MS_FLOAT_LANES) {
    MS_EACH_REGISTER(TERM)
  }
  const ms_floats *all[4] = {ax, ay, bx, by};
  for (int k = 0; k < 4; k++) {
    ms_float4 quarter[4];
    __builtin_memcpy(quarter, all[k], sizeof quarter);
    sums[k] = (double)ms_float4_sum(quarter);
  }
#undef WIDTH
#undef TERM
}

static inline void four_doubles(const double *a, const double *b, const double *x, const double *y,
                                int64_t count, double sums[4]) {
#define WIDTH   MS_DOUBLES
#define TERM(r) FOUR_TERMS(ms_doubles, ms_doubles_from, r)
  ms_doubles ax[MS_REGISTERS] = {{0}}, ay[MS_REGISTERS] = {{0}};
  ms_doubles bx[MS_REGISTERS] = {{0}}, by[MS_REGISTERS] = {{0}};
  for (int64_t i = 0; i < count; i += MS_DOUBLE_LANES) {
    MS_EACH_REGISTER(TERM)
  }
  const ms_doubles *all[4] = {ax, ay, bx, by};
  for (int k = 0; k < 4; k++) {
    ms_double2 quarter[4];
    __builtin_memcpy(quarter, all[k], sizeof quarter);
    sums[k] = ms_double2_sum(quarter);
  }
#undef WIDTH
#undef TERM
}

/* All pairs of rows and of columns. The last of an odd number stands in for the one after it, whose
 * sums nobody takes. */
#define EACH_FOUR(number, four)                                                           \
  do {                                                                                    \
    const number *rows = tile->rows, *columns = tile->columns;                            \
    for (int64_t r = 0; r < tile->row_count; r += 2) {                                    \
      bool odd_row = r + 1 == tile->row_count;                                            \
      const number *a = rows + r * tile->row_room, *b = odd_row ? a : a + tile->row_room; \
      for (int64_t c = 0; c < tile->column_count; c += 2) {                               \
        bool odd_column = c + 1 == tile->column_count;                                    \
        const number *x = columns + c * tile->column_room;                                \
        double sums[4], *to = tile->product + r * tile->width + c;                        \
        four(a, b, x, odd_column ? x : x + tile->column_room, tile->count, sums);         \
        to[0] += sums[0];                                                                 \
        if (!odd_column) to[1] += sums[1];                                                \
        if (odd_row) continue;                                                            \
        to[tile->width] += sums[2];                                                       \
        if (!odd_column) to[tile->width + 1] += sums[3];                                  \
      }                                                                                   \
    }                                                                                     \
  } while (0)

void MS_TILE_FLOAT(const ms_tile *tile) {
  EACH_FOUR(float, four_floats);
}

void MS_TILE_DOUBLE(const ms_tile *tile) {
  EACH_FOUR(double, four_doubles);
}
