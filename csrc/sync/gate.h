/* SPDX-License-Identifier: MIT
 *
 * Gate: which blocks of which rounds a block has to wait for, before it reads and before it writes.
 *
 * Blocks run round after round, and exchange *ranges*. A range's version of round t is what its
 * writers make in round t; version 0 is what it held before. Rounds count from 1. In round a
 *
 *   p reads x   when for all y of the scope of x: done(q, y) >= a - 1 - read_lag for all writers q
 *               of y but p, and done(p, y) >= a - 1 if p writes y itself
 *   q writes x  when for all y of the scope of x: seen(p, y) >= a - write_lag for all readers p
 *               of y but q
 *
 * where done(q, y) is the last round for which q has written y or declared that it will not, and
 * seen(p, y) the last one for which p has finished reading y or declared that it will not. (Read
 * and write constraints: Goel et al., "Parameter Database", sections 4 and 7; several versions of
 * a range are our addition.) The sets of readers and writers may be too large, never too small; who
 * is in a set and does nothing in a round still counts up.
 *
 * A worker runs its blocks in plan order, round by round, so one number says all about it: how many
 * of its blocks are finished. Each wait is therefore (worker, count), with one entry a worker, the
 * greatest; one's own are implied by the order. In the two-phase form (write_lag 0) a worker reads
 * for all of its blocks of a round, computes in private memory, then writes for all, and counts
 * twice: `seen` blocks that have read, `done` blocks that have written. Where blocks may overtake
 * each other on a worker, each is a worker of its own here.
 *
 * Every wait names an earlier round, or in the two-phase form the reads of this one: no deadlock.
 *
 * An *observer* is a block that writes nothing and must see exactly the version of the round
 * before, whatever the lags (who evaluates a stop test). Nobody waits for it but to leave it that
 * version.
 *
 * Where sets differ from round to round with a period, make a gate for each round of the period.
 * Pure: no I/O, no clock. Immutable once made, so any thread may ask. */
#ifndef MS_SYNC_GATE_H
#define MS_SYNC_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sync/gate_sets.h"
#include "sync/gate_setting.h"

/* In round t, `worker` must have finished offset + t * stride of its blocks; none if that is less
 * than 1. */
typedef struct ms_gate_term {
  int64_t offset;
  uint32_t worker, stride;
} ms_gate_term;

/* What a block waits for. In the two-phase form reads wait for the workers' `done`, writes for
 * their `seen`; else there is one count, and the first list has all that a block waits for before
 * it begins, the second is empty. Who need not be waited for (`backup` of the setting) is not left
 * out here: whoever waits counts them. */
typedef enum ms_gate_step { MS_GATE_READ, MS_GATE_WRITE, MS_GATE_STEPS } ms_gate_step;

typedef struct ms_gate_slice {
  size_t first, count;
} ms_gate_slice;

typedef struct ms_gate {
  ms_gate_setting setting;
  uint32_t workers, blocks, ranges;
  uint32_t *owner, *place;             /* of each block: its worker, its rank among its blocks */
  uint32_t *share;                     /* of each worker: how many blocks it has */
  bool *observer;                      /* of each block */
  ms_gate_slice *lists[MS_GATE_STEPS]; /* of each block: which terms */
  ms_gate_term *terms;
  ms_gate_slice *heard[MS_GATE_STEPS]; /* of each block: which of `listeners` */
  uint32_t *listeners;
  ms_gate_lists writers; /* of each range: the blocks that write it */
} ms_gate;

/* A gate; the caller destroys it. MS_WRK without memory, MS_BUG for sets that are none. */
ms_gate *ms_gate_new(const ms_gate_setting *setting, const ms_gate_sets *sets, ms_error *err);

/* Frees a gate and nulls the caller's pointer. */
void ms_gate_destroy(ms_gate **gate);

/* What a block waits for before a step. */
static inline const ms_gate_term *ms_gate_terms(const ms_gate *gate, ms_gate_step step,
                                                uint32_t block, size_t *count) {
  ms_gate_slice list = gate->lists[step][block];
  *count = list.count;
  return gate->terms + list.first;
}

/* The count that a term asks for in a round; 0 or less: none. */
static inline int64_t ms_gate_count(const ms_gate_term *term, int64_t round) {
  return term->offset + round * (int64_t)term->stride;
}

/* The workers, other than its own, of which some block waits before a step for a block as the last
 * of its worker's: whom to wake, once it is finished (has written, for MS_GATE_READ in two phases;
 * has read, for MS_GATE_WRITE). Each once. */
const uint32_t *ms_gate_listeners(const ms_gate *gate, ms_gate_step step, uint32_t block,
                                  size_t *count);

/* How many blocks a worker has finished before it begins one of its own in a round. */
static inline uint64_t ms_gate_before(const ms_gate *gate, uint32_t block, int64_t round) {
  return (uint64_t)(round - 1) * gate->share[gate->owner[block]] + gate->place[block];
}

/* The last round of a block that its worker has finished, when it has finished so many blocks. */
static inline int64_t ms_gate_round(const ms_gate *gate, uint32_t block, uint64_t finished) {
  uint32_t share = gate->share[gate->owner[block]];
  return (int64_t)((finished + share - 1 - gate->place[block]) / share);
}

/* Versions of a range from `lo` to `hi`, that one is to be of which a block sees in a round. */
typedef struct ms_gate_window {
  int64_t lo, hi;
} ms_gate_window;

/* Which versions of a range a block may see in a round: the newest finished one of them is pinned.
 * What a block alone writes it sees as of the round before. `hi` may be MS_GATE_UNBOUNDED. */
ms_gate_window ms_gate_versions(const ms_gate *gate, uint32_t block, uint32_t range, int64_t round);

#endif
