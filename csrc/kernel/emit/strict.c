/* SPDX-License-Identifier: MIT
 *
 * Strict arithmetic: see strict.h. */
#include "kernel/emit/strict.h"

#include "kernel/emit/lua_bit.h"

double ms_strict_pow(double x, double y) {
  return ms_math_pow(x, y);
}
