/* SPDX-License-Identifier: MIT
 *
 * Gate: see gate.h. How one is made is in gate_make.c. */
#include "sync/gate.h"

#include <stdlib.h>

const uint32_t *ms_gate_listeners(const ms_gate *gate, ms_gate_step step, uint32_t block,
                                  size_t *count) {
  ms_gate_slice heard = gate->heard[step][block];
  *count = heard.count;
  return gate->listeners + heard.first;
}

/* Whether a block is the only one that writes a range. */
static bool is_its_own(const ms_gate *gate, uint32_t block, uint32_t range) {
  uint64_t first = gate->writers.first[range], end = gate->writers.first[range + 1];
  return end - first == 1 && gate->writers.members[first] == block;
}

ms_gate_window ms_gate_versions(const ms_gate *gate, uint32_t block, uint32_t range,
                                int64_t round) {
  const ms_gate_setting *setting = &gate->setting;
  int64_t last = round - 1, lag = setting->read_lag, ahead = setting->read_ahead;
  if (is_its_own(gate, block, range)) return (ms_gate_window){last, last};
  if (gate->observer[block]) {
    lag = 0;
    ahead = setting->depth > 0 ? 0 : ahead; /* where no number is kept nobody leaves it one */
  }
  if (!setting->delivered || lag > last) lag = last;
  int64_t hi = ahead == MS_GATE_UNBOUNDED ? MS_GATE_UNBOUNDED : last + ahead;
  return (ms_gate_window){last - lag, hi};
}

void ms_gate_destroy(ms_gate **gate) {
  ms_gate *old = *gate;
  if (old == NULL) return;
  void *all[] = {old->owner, old->place, old->share, old->observer, old->terms, old->listeners};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ms_gate_lists_free(&old->writers);
  for (int step = 0; step < MS_GATE_STEPS; step++) {
    free(old->lists[step]);
    free(old->heard[step]);
  }
  free(old);
  *gate = NULL;
}
