/* SPDX-License-Identifier: MIT
 *
 * Tiles of a product of matrices: the dot products of some rows with some columns, in the order of
 * addition of reduce.h.
 *
 * Operands are packed: each row and each column lies in one piece, `room` elements after the one
 * before, filled up with zeros to a multiple of the partial sums (adding 0 changes no partial sum).
 * `count`, such a multiple, is at most MS_REDUCE_CHUNK. One chunk's sum is added to
 * product[r * width + c] for row r and column c.
 *
 * Compiled twice (product_tile_text.h), for the processor at hand: both have the same bits. Pure
 * functions. */
#ifndef MS_ARRAY_PRODUCT_TILE_H
#define MS_ARRAY_PRODUCT_TILE_H

#include <stdint.h>

/* Which elements: of what is packed, and of the product that the tile belongs to. */
typedef struct ms_tile {
  const void *rows, *columns; /* float or double */
  int64_t row_room, column_room;
  int64_t row_count, column_count;
  int64_t count;   /* of elements of each row and column */
  double *product; /* of the first row and column */
  int64_t width;
} ms_tile;

/* Computes one tile, of float or double elements, with the instructions of the name: the same bits
 * with each. */
void ms_tile_float_sse(const ms_tile *tile);
void ms_tile_double_sse(const ms_tile *tile);
void ms_tile_float_avx(const ms_tile *tile);
void ms_tile_double_avx(const ms_tile *tile);

#endif
