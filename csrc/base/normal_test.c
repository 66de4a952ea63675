/* SPDX-License-Identifier: MIT
 *
 * Quantiles of the normal distribution against erfcl, in 80-bit arithmetic: a number z with an
 * upper tail of p, where q is wanted, is off by (p - q) / density(z). */
#include "base/normal.h"

#include <math.h>

#include "base/normal_pieces.h"
#include "base/philox.h"
#include "base/test.h"

#define MOST_OFF 1.5e-15L /* of the number itself */

static const long double root_two_pi = 2.50662827463100050241576528481104525301L;

/* How far the number for these bits is from the quantile, as a part of it. */
static long double off(uint64_t bits) {
  long double z = ms_normal_of(&ms_normal_pieces, bits);
  uint64_t below = bits >> 63 ? ~bits : bits; /* of 63 bits */
  long double q = ldexpl((long double)below + 0.5L, -64), density;
  if ((z < 0) != (bits >> 63 == 0)) return INFINITY;
  z = fabsl(z);
  density = expl(-z * z / 2) / root_two_pi;
  if (q < 0.25L) return fabsl((erfcl(z / sqrtl(2)) / 2 - q) / density / z);
  long double c = ldexpl((long double)(((uint64_t)1 << 63) - below) - 0.5L, -64);
  return fabsl((erfl(z / sqrtl(2)) / 2 - c) / density / z);
}

static void test_accuracy(void) {
  long double worst = 0;
  for (int shift = 0; shift < 64; shift++) { /* all magnitudes of the tail */
    for (uint64_t k = 0; k < 4000; k++) {
      ms_philox block = ms_philox_at(7, k, (uint64_t)shift);
      uint64_t bits = ms_philox_half(&block, 0) >> 1 >> shift;
      worst = fmaxl(worst, fmaxl(off(bits), off(~bits)));
    }
  }
  for (uint64_t k = 0; k < 300000; k++) { /* as they are drawn */
    ms_philox block = ms_philox_at(8, k, 0);
    worst = fmaxl(worst, off(ms_philox_half(&block, 0)));
  }
  CHECK(worst < MOST_OFF);
  if (!(worst < MOST_OFF)) fprintf(stderr, "off by %Lg\n", worst);
}

/* Where pieces meet, greater bits give greater numbers, and both ends and the middle are there. */
static void test_seams(void) {
  const uint64_t middle = (uint64_t)1 << 63;
  for (int b = 0; b < 62; b++) {
    for (uint64_t s = 16; s < 32; s++) {
      uint64_t at = b < 58 ? s << 58 >> b : (s << 58 >> b) + 1;
      CHECK(off(at) < MOST_OFF && off(at - 1) < MOST_OFF && off(at + 1) < MOST_OFF);
      double before = ms_normal_of(&ms_normal_pieces, at - (at >> 40) - 1);
      double after = ms_normal_of(&ms_normal_pieces, at + (at >> 40) + 1);
      CHECK(before < after);
    }
  }
  CHECK(ms_normal_of(&ms_normal_pieces, middle) == -ms_normal_of(&ms_normal_pieces, middle - 1));
  CHECK(ms_normal_of(&ms_normal_pieces, middle) > 0 && off(middle) < MOST_OFF);
  CHECK(ms_normal_of(&ms_normal_pieces, 0) == -ms_normal_of(&ms_normal_pieces, UINT64_MAX));
  CHECK(off(0) < MOST_OFF && ms_normal_of(&ms_normal_pieces, 0) < -9);
}

int main(void) {
  test_accuracy();
  test_seams();
  return ms_test_end();
}
