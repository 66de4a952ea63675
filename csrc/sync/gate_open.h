/* SPDX-License-Identifier: MIT
 *
 * Whether a gate lets a block in, for tests and benches: workers count for themselves, while they
 * wait (worker/rounds.c). */
#ifndef MS_SYNC_GATE_OPEN_H
#define MS_SYNC_GATE_OPEN_H

#include "sync/gate.h"

/* Whether a block may take a step in a round, when each worker has finished so many blocks. */
static inline bool ms_gate_open(const ms_gate *gate, ms_gate_step step, uint32_t block,
                                int64_t round, const uint64_t *finished) {
  size_t count;
  const ms_gate_term *terms = ms_gate_terms(gate, step, block, &count);
  for (size_t i = 0; i < count; i++) {
    int64_t needed = ms_gate_count(&terms[i], round);
    if (needed > 0 && finished[terms[i].worker] < (uint64_t)needed) return false;
  }
  return true;
}

#endif
