/* SPDX-License-Identifier: MIT
 *
 * Strict arithmetic: see strict.h. */
#include "kernel/strict.h"

#include <math.h>

double ms_pow(double x, double y) {
  return y == 2.0 ? x * x : pow(x, y);
}
