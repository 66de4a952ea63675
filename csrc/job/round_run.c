/* SPDX-License-Identifier: MIT
 *
 * Round runs: see round_run.h. */
#include "job/round_run.h"

#include <xmmintrin.h>

uint32_t ms_round_run_blocks(const ms_round_run *run, uint32_t first, uint32_t last,
                             ms_native_slot *left) {
  unsigned control = _mm_getcsr();
  _mm_setcsr(MS_NATIVE_CONTROL);
  int64_t bounds[MS_LAYOUT_BOUNDS];
  uint32_t block = first;
  for (; block < last; block++, left += run->width) {
    ms_versions_begin(run->versions, block);
    ms_layout_bounds(run->versions->layout, block, bounds);
    left->whole = run->mark;
    if (run->entry(bounds, run->slots, left + 1, run->fault) != MS_NATIVE_RAN) break;
  }
  _mm_setcsr(control);
  return block - first;
}
