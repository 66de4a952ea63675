/* SPDX-License-Identifier: MIT
 *
 * Stages: see stage.h. */
#include "sync/stage.h"

int64_t ms_stages_cut(const uint32_t *order, uint32_t count, const uint64_t *sizes, uint64_t most,
                      uint32_t *ends, ms_error *err) {
  int64_t stages = 0;
  uint64_t held = 0;
  for (uint32_t position = 0; position < count; position++) {
    uint64_t size = sizes[order[position]];
    if (size > most) {
      return ms_error_set(err, MS_OPT,
                          "max_delay = %llu: the smallest block that the loop can be cut into has "
                          "%llu iterations. Make it %llu, or raise the option 'grid'",
                          (unsigned long long)most, (unsigned long long)size,
                          (unsigned long long)size);
    }
    if (stages == 0 || size > most - held) {
      stages++;
      held = 0;
    }
    held += size;
    ends[stages - 1] = position + 1;
  }
  return stages;
}

void ms_stages_weigh(const ms_stages *stages, uint32_t stage, uint64_t *weights) {
  uint32_t before = stage == 0 ? 0 : ms_stages_first(stages, stage - 1);
  uint32_t first = ms_stages_first(stages, stage);
  for (uint32_t p = before; p < first; p++) weights[stages->order[p]] = 0;
  for (uint32_t p = first; p < stages->ends[stage]; p++) {
    weights[stages->order[p]] = stages->sizes[stages->order[p]];
  }
}
