/* SPDX-License-Identifier: MIT
 *
 * Random contents: each element is a pure function of the seed and of its row-major number, so
 * who fills an array, and in how many pieces, does not matter. */
#ifndef MS_ARRAY_RANDOM_FILL_H
#define MS_ARRAY_RANDOM_FILL_H

#include "array/array.h"

/* Fills the array with uniform numbers in [0, scale), or whole ones for integer types. */
MS_API int ms_random_fill_uniform(ms_array *array, uint64_t seed, double scale, ms_error *err);

/* Fills the array with normal numbers of mean 0 and deviation `scale`: Box and Muller's method in
 * double with the C library's log, sin and cos. MS_ARR for integer types. */
MS_API int ms_random_fill_normal(ms_array *array, uint64_t seed, double scale, ms_error *err);

#endif
