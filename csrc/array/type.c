/* SPDX-License-Identifier: MIT
 *
 * Element types: see type.h. */
#include "array/type.h"

#include <math.h>

static size_t widen_float(const void *elements, double *out, size_t count) {
  const float *from = elements;
  for (size_t i = 0; i < count; i++) out[i] = (double)from[i];
  return count;
}

static size_t narrow_float(const double *numbers, void *out, size_t count) {
  float *to = out;
  for (size_t i = 0; i < count; i++) to[i] = (float)numbers[i];
  return count;
}

static size_t widen_double(const void *elements, double *out, size_t count) {
  const double *from = elements;
  for (size_t i = 0; i < count; i++) out[i] = from[i];
  return count;
}

static size_t narrow_double(const double *numbers, void *out, size_t count) {
  double *to = out;
  for (size_t i = 0; i < count; i++) to[i] = numbers[i];
  return count;
}

static size_t widen_int32(const void *elements, double *out, size_t count) {
  const int32_t *from = elements;
  for (size_t i = 0; i < count; i++) out[i] = (double)from[i];
  return count;
}

/* Written so that nan fails every comparison. */
static size_t narrow_int32(const double *numbers, void *out, size_t count) {
  int32_t *to = out;
  for (size_t i = 0; i < count; i++) {
    double x = numbers[i];
    if (!(x >= -2147483648.0 && x <= 2147483647.0)) return i;
    int32_t whole = (int32_t)x;
    if ((double)whole != x) return i;
    to[i] = whole;
  }
  return count;
}

static size_t widen_int64(const void *elements, double *out, size_t count) {
  const int64_t *from = elements;
  for (size_t i = 0; i < count; i++) {
    if (from[i] > (int64_t)MS_EXACT || from[i] < -(int64_t)MS_EXACT) return i;
    out[i] = (double)from[i];
  }
  return count;
}

static size_t narrow_int64(const double *numbers, void *out, size_t count) {
  int64_t *to = out;
  for (size_t i = 0; i < count; i++) {
    double x = numbers[i];
    if (!(x >= -0x1p63 && x < 0x1p63)) return i;
    int64_t whole = (int64_t)x;
    if ((double)whole != x) return i;
    to[i] = whole;
  }
  return count;
}

static const ms_type_ops types[] = {
    [MS_FLOAT] = {"float", sizeof(float), false, widen_float, narrow_float},
    [MS_DOUBLE] = {"double", sizeof(double), false, widen_double, narrow_double},
    [MS_INT32] = {"int32", sizeof(int32_t), true, widen_int32, narrow_int32},
    [MS_INT64] = {"int64", sizeof(int64_t), true, widen_int64, narrow_int64},
};

const ms_type_ops *ms_type_of(int type) {
  return type >= 0 && type < (int)(sizeof types / sizeof types[0]) ? &types[type] : NULL;
}

const char *ms_type_name(int type) {
  const ms_type_ops *ops = ms_type_of(type);
  return ops != NULL ? ops->name : "?";
}

static void settle_floats(float *elements, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (isnan(elements[i])) elements[i] = NAN;
  }
}

static void settle_doubles(double *elements, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (isnan(elements[i])) elements[i] = NAN;
  }
}

void ms_type_settle_nan(int type, void *elements, size_t count) {
  if (type == MS_FLOAT) settle_floats(elements, count);
  if (type == MS_DOUBLE) settle_doubles(elements, count);
}

bool ms_type_holds(const ms_type_ops *ops, double number) {
  if (!ops->integer) return ops->size == sizeof(double) || isfinite((float)number);
  double element;
  return ops->narrow(&number, &element, 1) == 1;
}
