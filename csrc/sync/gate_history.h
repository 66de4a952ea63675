/* SPDX-License-Identifier: MIT
 *
 * History of gates: what the history (base/history.h) is told of rounds that a gate keeps
 * consistent, before any of their blocks: how they wait, and what each block may read. Nothing
 * while nobody wants one. */
#ifndef MS_SYNC_GATE_HISTORY_H
#define MS_SYNC_GATE_HISTORY_H

#include <stdint.h>

#include "sync/gate_setting.h"

typedef struct ms_gate_told {
  uint64_t job;
  const ms_gate_setting *setting;
  int64_t rounds;             /* MS_GATE_UNBOUNDED: as many as there will be */
  uint32_t ranges;            /* block r writes range r */
  const uint64_t *read_first; /* and may read reads[read_first[r] .. read_first[r + 1]); */
  const uint32_t *reads;      /* NULL: all */
  const char *exchange;       /* of which exchange these are the rounds; NULL: of a loop */
} ms_gate_told;

/* Tells it, once, before anything is told of the job's blocks. */
void ms_gate_history_begin(const ms_gate_told *told);

#endif
