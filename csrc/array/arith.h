/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on whole arrays and rows, element by element, in double as the plain Lua loop would
 * do it: `y[k] = y[k] + a * x[k]` and axpy give the same bits.
 *
 * Integer arrays are checked before anything is written: a result that does not fit leaves the
 * array as it was (MS_ARR). Operands may overlap. */
#ifndef MS_ARRAY_ARITH_H
#define MS_ARRAY_ARITH_H

#include "array/view.h"

typedef enum ms_arith {
  MS_ARITH_FILL, /* y = a */
  MS_ARITH_COPY, /* y = x */
  MS_ARITH_SCAL, /* y = a * y */
  MS_ARITH_ADD,  /* y = y + a */
  MS_ARITH_AXPY, /* y = y + a * x */
  MS_ARITH_CMUL, /* y = y * x */
  MS_ARITH_EXP,  /* y = exp(y), and so on: the functions of base/lua_math.h */
  MS_ARITH_LOG,
  MS_ARITH_SQRT,
  MS_ARITH_TANH,
  MS_ARITH_ABS,
  MS_ARITH_POW /* y = y ^ a */
} ms_arith;

/* The same for LuaJIT. Fill and copy make lost contents valid again. The first of the two works on
 * arrays of equal extents (or equal counts), or the values of sparse ones; the second on a row of
 * `count` elements `stride` apart, with x NULL or another row. */
MS_API int ms_arith_array(int arith, ms_array *y, const ms_array *x, double a, ms_error *err);
MS_API int ms_arith_row(int arith, int y_type, void *y, int64_t y_stride, int x_type, void *x,
                        int64_t x_stride, int64_t count, double a, ms_error *err);

#endif
