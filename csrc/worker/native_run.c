/* SPDX-License-Identifier: MIT
 *
 * Native runs: see native_run.h. */
#include "worker/native_run.h"

void ms_native_run_place(const ms_native_run *run, uint32_t block) {
  if (run->starts != NULL) {
    run->bounds[0] = run->starts[block] + 1;
    run->bounds[1] = run->starts[(int64_t)block + 1];
    return;
  }
  int64_t rest = block;
  for (int64_t a = run->axis_count; a-- > 0;) {
    const ms_run_axis *axis = &run->axes[a];
    int64_t range = rest % axis->ranges, *at = run->bounds + axis->at;
    rest /= axis->ranges;
    at[0] = axis->bounds != NULL ? axis->bounds[range] : axis->first + range * axis->step;
    at[1] = axis->bounds != NULL ? axis->bounds[range + 1] - axis->step : at[0];
  }
}

int ms_native_run_blocks(ms_worker *worker, const ms_native_run *run, ms_error *err) {
  for (;;) {
    uint32_t block;
    int got = ms_worker_next_block(worker, &block, err);
    if (got <= 0) return got;
    ms_native_run_place(run, block);
    if (run->entry(run->bounds, run->slots, run->results, run->fault) != MS_NATIVE_RAN) return 1;
    if (ms_worker_block_done(worker, run->result, (size_t)run->size, err) != 0) return -1;
  }
}
