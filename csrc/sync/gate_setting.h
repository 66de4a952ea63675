/* SPDX-License-Identifier: MIT
 *
 * Gate settings: the published ways of keeping rounds consistent, as numbers of one mechanism.
 *
 * A round is what reads the results of the round before it. How far a read may lag behind, how far
 * a write may run ahead of those who still read what it replaces, and of whom both is asked, is all
 * in which bulk-synchronous, data-centric, bounded-delay, stale-synchronous and asynchronous rounds
 * differ (gate.h has the two conditions). Pure: no state. */
#ifndef MS_SYNC_GATE_SETTING_H
#define MS_SYNC_GATE_SETTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

#define MS_GATE_UNBOUNDED INT64_MAX /* a lag, an age without a bound; a staleness: math.huge */
#define MS_GATE_UNSAID    (-1)      /* a staleness, a depth that the user leaves to us */

/* Whom a condition on a range is asked of. */
typedef enum ms_gate_scope {
  MS_GATE_NOBODY, /* nobody: there is nothing to wait for */
  MS_GATE_RANGE,  /* blocks that write or read this range */
  MS_GATE_EDGE,   /* the same, there being a range for each edge of a graph: a sender's message */
  MS_GATE_GLOBAL  /* those who write or read any range: as with barriers */
} ms_gate_scope;

typedef struct MS_API_TYPE ms_gate_setting {
  const char *name;   /* as users spell it; static storage */
  int64_t read_lag;   /* rounds by which what is read may be older than the round before */
  int64_t write_lag;  /* rounds by which a write may be ahead of those who read the range */
  int64_t read_ahead; /* rounds by which what is read may be newer than the round before */
  int64_t depth;      /* versions kept of a range; 0: two, and one for each worker that pins one */
  ms_gate_scope scope;
  bool two_phase;   /* a worker reads for all of its blocks before it writes for any */
  bool clocks;      /* everyone counts, whether writing or not */
  bool arrival;     /* a block has read its round when it has computed, not when it has read */
  bool delivered;   /* a count says that its data have arrived; else that they were sent */
  uint32_t backup;  /* a read may go on while so many that it waits for are missing */
  uint32_t timeout; /* nor any when that has taken so many hundredths of what it usually takes; 0:
                       as long as it takes */
} ms_gate_setting;

/* Most hundredths of a time-out. */
#define MS_GATE_TIMEOUT 10000000u

/* The setting of a name: "data-centric", "pd-delay", "bsp", "bsp-2barrier", "ssp", "async",
 * "notify-ack", "barrier"; NULL stands for "data-centric", or for "async" where the staleness has
 * no bound. `staleness` in rounds and `depth` in versions are what the user says, or
 * MS_GATE_UNSAID. -1 with MS_OPT for what does not go together, saying why. */
MS_API int ms_gate_setting_find(const char *name, int64_t staleness, int64_t depth,
                                ms_gate_setting *found, ms_error *err);

/* The same windows where versions have memory of their own, so that no block need read before
 * another one writes: settings that keep a single version get as many as their reads and writes may
 * be apart; of two phases nothing is then seen before its round. One without a bound gets two, and
 * one for each of `workers` that may be reading it. */
MS_API void ms_gate_setting_rename(ms_gate_setting *setting, uint32_t workers);

/* The same where who is late may be left out, `backup` at a time or, `timeout` in hundredths, after
 * some time (either may be 0): nobody waits for those who have yet to read, who see what is newest
 * when they do. (ASAP: Kadav, Kruus, sections 4 and 6: dynamic time-outs; backup workers: Chen et
 * al., "Revisiting distributed synchronous SGD", 2016.) */
MS_API void ms_gate_setting_excuse(ms_gate_setting *setting, uint32_t backup, uint32_t timeout,
                                   uint32_t workers);

#endif
