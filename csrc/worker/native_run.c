/* SPDX-License-Identifier: MIT
 *
 * Native runs: see native_run.h. */
#include "worker/native_run.h"

int ms_native_run_blocks(ms_worker *worker, const ms_native_run *run, ms_error *err) {
  for (;;) {
    uint32_t block;
    int got = ms_worker_next_block(worker, &block, err);
    if (got <= 0) return got;
    ms_layout_bounds(run->layout, block, run->bounds);
    if (run->entry(run->bounds, run->slots, run->results, run->fault) != MS_NATIVE_RAN) return 1;
    if (ms_worker_block_done(worker, run->result, (size_t)run->size, err) != 0) return -1;
  }
}
