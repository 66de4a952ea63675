/* SPDX-License-Identifier: MIT
 *
 * Methods of arrays: see method.h. */
#include "array/method.h"

#include <stddef.h>
#include <string.h>

#include "array/arith.h"
#include "array/reduce.h"

/* What rowwise.h has: of one row, of a row and a number, ... */
#define ROWWISE(what)     .rowwise = true, .operation = (what)
#define OF_ELEMENTS(what) .filled = true, ROWWISE(what)
#define WITH_NUMBER(what) .number = true, ROWWISE(what)
#define WITH_OTHER(what)  .other = true, ROWWISE(what)
#define WITH_BOTH(what)   .number = true, WITH_OTHER(what)

/* Random bodies draw row methods in this order (spec/support/row_methods.lua). */
static const ms_method methods[] = {
    {.name = "size", .most = 1, .effect = MS_METHOD_SHAPE},
    {.name = "dim", .most = 0, .effect = MS_METHOD_SHAPE},
    {.name = "type", .most = 0, .effect = MS_METHOD_SHAPE},
    {.name = "label", .most = 2, .effect = MS_METHOD_SHAPE},
    {.name = "index", .most = 2, .effect = MS_METHOD_SHAPE},
    {.name = "nnz", .most = 0, .effect = MS_METHOD_READ},
    {.name = "data", .most = 0, .effect = MS_METHOD_UNKNOWN},
    {.name = "free", .most = 0, .effect = MS_METHOD_FREE},
    {.name = "save", .most = 1, .effect = MS_METHOD_OUTPUT},

    /* Numbers from elements. */
    {.name = "dot", .most = 1, .effect = MS_METHOD_READ, WITH_OTHER(0)},
    {.name = "sum", .most = 1, .effect = MS_METHOD_READ, .dimension = 1, ROWWISE(MS_REDUCTION_SUM)},
    {.name = "norm",
     .most = 2,
     .effect = MS_METHOD_READ,
     .dimension = 2,
     ROWWISE(MS_REDUCTION_SQUARES)},
    {.name = "mean", .most = 1, .effect = MS_METHOD_READ, .dimension = 1},
    {.name = "prod",
     .most = 1,
     .effect = MS_METHOD_READ,
     .dimension = 1,
     ROWWISE(MS_REDUCTION_PRODUCT)},
    {.name = "var",
     .most = 2,
     .effect = MS_METHOD_READ,
     .dimension = 1,
     OF_ELEMENTS(MS_REDUCTION_SPREAD)},
    {.name = "std",
     .most = 2,
     .effect = MS_METHOD_READ,
     .dimension = 1,
     OF_ELEMENTS(MS_REDUCTION_SPREAD)},
    {.name = "max", .most = 1, .effect = MS_METHOD_READ, .dimension = 1},
    {.name = "min", .most = 1, .effect = MS_METHOD_READ, .dimension = 1},
    {.name = "argmax", .most = 0, .effect = MS_METHOD_READ},
    {.name = "argmin", .most = 0, .effect = MS_METHOD_READ},

    /* What changes the array. */
    {.name = "fill", .most = 1, .effect = MS_METHOD_WRITE, WITH_NUMBER(MS_ARITH_FILL)},
    {.name = "scal", .most = 1, .effect = MS_METHOD_UPDATE, WITH_NUMBER(MS_ARITH_SCAL)},
    {.name = "mul", .most = 1, .effect = MS_METHOD_UPDATE},
    {.name = "copy", .most = 1, .effect = MS_METHOD_WRITE, WITH_OTHER(MS_ARITH_COPY)},
    {.name = "axpy", .most = 2, .effect = MS_METHOD_UPDATE, .adds = 2, WITH_BOTH(MS_ARITH_AXPY)},
    {.name = "cmul", .most = 1, .effect = MS_METHOD_UPDATE, WITH_OTHER(MS_ARITH_CMUL)},
    {.name = "exp", .most = 0, .effect = MS_METHOD_UPDATE, ROWWISE(MS_ARITH_EXP)},
    {.name = "log", .most = 0, .effect = MS_METHOD_UPDATE, ROWWISE(MS_ARITH_LOG)},
    {.name = "sqrt", .most = 0, .effect = MS_METHOD_UPDATE, ROWWISE(MS_ARITH_SQRT)},
    {.name = "tanh", .most = 0, .effect = MS_METHOD_UPDATE, ROWWISE(MS_ARITH_TANH)},
    {.name = "abs", .most = 0, .effect = MS_METHOD_UPDATE, ROWWISE(MS_ARITH_ABS)},
    {.name = "pow", .most = 1, .effect = MS_METHOD_UPDATE, WITH_NUMBER(MS_ARITH_POW)},
    {.name = "add", .most = 3, .effect = MS_METHOD_UPDATE, .adds = 2, .operation = MS_ARITH_ADD},
    {.name = "gemv", .most = MS_METHOD_ANY, .effect = MS_METHOD_UPDATE},
    {.name = "ger", .most = MS_METHOD_ANY, .effect = MS_METHOD_UPDATE},
    {.name = "gemm", .most = MS_METHOD_ANY, .effect = MS_METHOD_UPDATE},

    /* Other arrays, tables and iterators. */
    {.name = "narrow", .most = 3, .effect = MS_METHOD_VIEW},
    {.name = "select", .most = 2, .effect = MS_METHOD_VIEW},
    {.name = "transpose", .most = 2, .effect = MS_METHOD_VIEW},
    {.name = "clone", .most = 0, .effect = MS_METHOD_FRESH},
    {.name = "reshape", .most = MS_METHOD_ANY, .effect = MS_METHOD_FRESH},
    {.name = "sort", .most = 2, .effect = MS_METHOD_FRESH},
    {.name = "topk", .most = 3, .effect = MS_METHOD_FRESH},
    {.name = "snapshot", .most = 0, .effect = MS_METHOD_FRESH},
    {.name = "each", .most = 0, .effect = MS_METHOD_FRESH},
    {.name = "nonzeros", .most = 0, .effect = MS_METHOD_FRESH},
    {.name = "totable", .most = 0, .effect = MS_METHOD_FRESH},
    {.name = "totensor", .most = 0, .effect = MS_METHOD_FRESH},
    {.name = "map", .most = 2, .effect = MS_METHOD_FRESH},
    {.name = "filter", .most = 1, .effect = MS_METHOD_FRESH},
    {.name = "reduce", .most = 3, .effect = MS_METHOD_FRESH},
    {.name = "group_by", .most = 2, .effect = MS_METHOD_FRESH},
    {.name = "randomize", .most = 2, .effect = MS_METHOD_FRESH},
    {.name = "split", .most = 2, .effect = MS_METHOD_UNKNOWN},
};

#define COUNT (sizeof methods / sizeof *methods)

const ms_method *ms_method_find(const char *name) {
  for (size_t k = 0; k < COUNT; k++) {
    if (strcmp(methods[k].name, name) == 0) return &methods[k];
  }
  return NULL;
}

const ms_method *ms_method_at(int k) {
  return k >= 0 && (size_t)k < COUNT ? &methods[k] : NULL;
}

const char *ms_method_effect_name(int effect) {
  static const char *const names[] = {
      [MS_METHOD_UNKNOWN] = "unknown", [MS_METHOD_FREE] = "free",     [MS_METHOD_SHAPE] = "shape",
      [MS_METHOD_READ] = "read",       [MS_METHOD_OUTPUT] = "output", [MS_METHOD_FRESH] = "fresh",
      [MS_METHOD_VIEW] = "view",       [MS_METHOD_WRITE] = "write",   [MS_METHOD_UPDATE] = "update",
  };
  return names[effect];
}
