/* SPDX-License-Identifier: MIT
 *
 * Tiles of products for processors with AVX2: see product_tile.h. */
#define MS_TILE_FLOAT  ms_tile_float_avx
#define MS_TILE_DOUBLE ms_tile_double_avx
#include "array/product_tile_text.h"
