/* SPDX-License-Identifier: MIT
 *
 * Decisions of gates, for bench/rounds.lua: whether a block may begin, asked of all blocks of so
 * many rounds in turn. */
#include <stdlib.h>

#include "sync/gate_open.h"

#define EACH 8 /* blocks of a worker */

double gate_decisions(double workers, double rounds, int everyone);

/* How many of the decisions let a block in, of workers * EACH blocks in each round; each reads all
 * ranges, or its neighbours'. Negative: there is no gate. */
double gate_decisions(double workers, double rounds, int everyone) {
  uint32_t count = (uint32_t)workers, blocks = count * EACH;
  uint32_t *owner = calloc(blocks, sizeof *owner), *reads = calloc(3 * blocks, sizeof *reads);
  uint64_t *first = calloc(blocks + 1, sizeof *first), *finished = calloc(count, sizeof *finished);
  for (uint32_t b = 0; b < blocks; b++) {
    owner[b] = b / EACH;
    first[b + 1] = first[b];
    for (uint32_t x = b > 0 ? b - 1 : 0; x < blocks && x <= b + 1; x++) reads[first[b + 1]++] = x;
  }
  ms_gate_sets sets = {.workers = count,
                       .blocks = blocks,
                       .ranges = blocks,
                       .owner = owner,
                       .read_first = first,
                       .reads = everyone ? NULL : reads};
  ms_gate_setting setting;
  ms_error err;
  ms_error_clear(&err);
  ms_gate *gate = NULL;
  if (ms_gate_setting_find(NULL, 0, MS_GATE_UNSAID, &setting, &err) == 0) {
    gate = ms_gate_new(&setting, &sets, &err);
  }
  double open = gate == NULL ? -1 : 0;
  for (int64_t t = 1; gate != NULL && t <= (int64_t)rounds; t++) {
    for (uint32_t b = 0; b < blocks; b++) {
      open += ms_gate_open(gate, MS_GATE_READ, b, t, finished);
      finished[owner[b]] = ms_gate_before(gate, b, t) + 1;
    }
  }
  if (gate != NULL) ms_gate_destroy(&gate);
  free(owner);
  free(reads);
  free(first);
  free(finished);
  return open;
}
