/* SPDX-License-Identifier: MIT
 *
 * Tiles of products for any x86-64 processor: see product_tile.h. */
#define MS_TILE_FLOAT  ms_tile_float_sse
#define MS_TILE_DOUBLE ms_tile_double_sse
#include "array/product_tile_text.h"
