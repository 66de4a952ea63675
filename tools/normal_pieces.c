/* SPDX-License-Identifier: MIT
 *
 * Prints csrc/base/normal_pieces.c: the polynomials of csrc/base/normal.h, which interpolate the
 * quantile at Chebyshev's points in 80-bit arithmetic, to which erfcl is accurate.
 *
 *   cc -O2 -Icsrc -o build/normal_pieces tools/normal_pieces.c -lm
 *   build/normal_pieces >csrc/base/normal_pieces.c */
#include <math.h>
#include <stdio.h>

#include "base/normal.h"

#define MOST 16 /* coefficients */

static const long double pi = 3.14159265358979323846264338327950288L;

/* z > 0 with an upper tail of q, by Halley's method; `c` is 1/2 - q, which is used where q is near
 * 1/2. */
static long double upper(long double q, long double c) {
  long double z = q < 0.1L ? sqrtl(-2 * logl(q)) - 0.5L : c * 2.5L, step = 1;
  for (int k = 0; k < 100 && fabsl(step) > 1e-19L * z; k++) {
    long double density = expl(-z * z / 2) / sqrtl(2 * pi);
    long double off = q > 0.25L ? c - erfl(z / sqrtl(2)) / 2 : erfcl(z / sqrtl(2)) / 2 - q;
    step = off / density;
    step = step / (1 - z * step / 2);
    z += step;
  }
  return z;
}

/* What a piece of a power of two approximates, at t in [-1, 1]. */
static long double piece_value(int binade, int piece, long double t) {
  long double f = (piece + (t + 1) / 2) / MS_NORMAL_PIECES;
  long double q = ldexpl(1 + f, -2 - binade);
  if (binade > 0) return 8 * upper(q, 0.5L - q);
  long double c = ldexpl(1 - f, -2);
  if (c < 1e-30L) return sqrtl(2 * pi);
  return upper(q, c) / c;
}

static long double tail_value(int none, int piece, long double t) {
  (void)none;
  long double r = (long double)MS_NORMAL_TAIL_FROM + (piece + (t + 1) / 2) / 2;
  long double q = expl(-r * r);
  return upper(q, 0.5L - q);
}

typedef long double value(int binade, int piece, long double t);

/* Coefficients of powers of t: from Chebyshev's series, by T(k + 1) = 2 t T(k) - T(k - 1). */
static void fit(value *fn, int binade, int piece, int degree, double *out) {
  long double at[MOST], power[MOST] = {0}, before[MOST] = {0}, now[MOST] = {1};
  int n = degree + 1;
  for (int k = 0; k < n; k++) at[k] = fn(binade, piece, cosl(pi * (k + 0.5L) / n));
  for (int j = 0; j < n; j++) {
    long double c = 0, next[MOST] = {0};
    for (int k = 0; k < n; k++) c += at[k] * cosl(pi * j * (k + 0.5L) / n) / n;
    for (int k = 0; k < n; k++) power[k] += (j == 0 ? c : 2 * c) * now[k];
    for (int k = 0; k < n; k++) {
      next[k] -= before[k];
      if (k + 1 < n) next[k + 1] += (j == 0 ? 1 : 2) * now[k];
      before[k] = now[k];
    }
    for (int k = 0; k < n; k++) now[k] = next[k];
  }
  for (int k = 0; k < n; k++) out[k] = (double)power[k];
}

static void print(const double *p, int count) {
  printf("    {");
  for (int k = 0; k < count; k++) {
    printf("%a%s", p[k], k + 1 == count ? "},\n" : k % 4 == 3 ? ",\n     " : ", ");
  }
}

int main(void) {
  double p[MOST];
  printf(
      "/* SPDX-License-Identifier: MIT\n *\n"
      " * The polynomials of normal.h, as tools/normal_pieces.c prints them: constant data. */\n"
      "#include \"base/normal_pieces.h\"\n\n"
      "/* clang-format off */\n"
      "const ms_normal ms_normal_pieces = {\n  .piece = {\n");
  for (int b = 0; b < MS_NORMAL_BINADES; b++) {
    for (int s = 0; s < MS_NORMAL_PIECES; s++) {
      fit(piece_value, b, s, MS_NORMAL_DEGREE, p);
      print(p, MS_NORMAL_DEGREE + 1);
    }
  }
  printf("  },\n  .tail = {\n");
  for (int s = 0; s < MS_NORMAL_TAIL; s++) {
    fit(tail_value, 0, s, MS_NORMAL_TAIL_DEGREE, p);
    print(p, MS_NORMAL_TAIL_DEGREE + 1);
  }
  printf("  },\n};\n/* clang-format on */\n");
  return 0;
}
