/* SPDX-License-Identifier: MIT
 *
 * Random numbers of loop bodies: see random.h. */
#include "kernel/emit/random.h"

#include "base/normal_pieces.h"

const void *ms_random_normal_pieces(void) {
  return &ms_normal_pieces;
}

double ms_random_unit(ms_draws *draws) {
  return ms_draw_unit(ms_draws_next(draws));
}

double ms_random_whole(ms_draws *draws, double lo, double hi) {
  return ms_is_draw_range(lo, hi) ? ms_draw_whole(ms_random_unit(draws), lo, hi)
                                  : __builtin_nan("");
}

double ms_random_deviate(ms_draws *draws) {
  return ms_draw_normal(ms_draws_next(draws), draws);
}
