/* SPDX-License-Identifier: MIT
 *
 * Replica gate: see replica_gate.h. */
#include "sync/replica_gate.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/history.h"
#include "sync/gate.h"
#include "sync/gate_history.h"

struct ms_replica_gate {
  ms_gate *gate;
  ms_gate_lists reads; /* of each replica; `first` NULL: all */
};

_Static_assert(sizeof(_Atomic uint64_t) == sizeof(uint64_t), "counts are plain numbers elsewhere");

static int64_t count_of(const uint64_t *counts, uint32_t replica) {
  const _Atomic uint64_t *at =
      (const _Atomic uint64_t *)(const void *)&counts[(size_t)replica * MS_REPLICA_LINE];
  return (int64_t)atomic_load_explicit(at, memory_order_acquire);
}

ms_replica_gate *ms_replica_gate_new(const ms_gate_setting *setting, uint32_t replicas,
                                     const uint64_t *read_first, const uint32_t *reads,
                                     ms_error *err) {
  ms_replica_gate *made = calloc(1, sizeof *made);
  uint32_t *owner = malloc((size_t)replicas * sizeof *owner);
  bool have = made != NULL && owner != NULL;
  for (uint32_t k = 0; have && k < replicas; k++) owner[k] = k;
  ms_gate_sets sets = {.workers = replicas,
                       .blocks = replicas,
                       .ranges = replicas,
                       .owner = owner,
                       .read_first = read_first,
                       .reads = reads};
  ms_gate_sets heard = {.blocks = replicas, .write_first = read_first, .writes = reads};
  if (have) made->gate = ms_gate_new(setting, &sets, err); /* which also tells if sets are none */
  bool valid = have && made->gate != NULL;
  bool copied = valid && (reads == NULL || ms_gate_sets_writes(&heard, &made->reads) == 0);
  if (!have || (valid && !copied)) {
    ms_error_memory(err, MS_WRK, "a gate of %u replicas", replicas);
  }
  free(owner);
  if (copied) return made;
  ms_replica_gate_free(made);
  return NULL;
}

void ms_replica_gate_free(ms_replica_gate *gate) {
  if (gate == NULL) return;
  ms_gate_destroy(&gate->gate);
  ms_gate_lists_free(&gate->reads);
  free(gate);
}

bool ms_replica_gate_open(const ms_replica_gate *gate, const uint64_t *counts, uint32_t replica,
                          int64_t last) {
  size_t number;
  uint32_t missing = 0;
  const ms_gate_term *terms = ms_gate_terms(gate->gate, MS_GATE_READ, replica, &number);
  for (size_t i = 0; i < number; i++) {
    missing += count_of(counts, terms[i].worker) < ms_gate_count(&terms[i], last + 1);
  }
  return missing <= gate->gate->setting.backup;
}

bool ms_replica_gate_settled(const ms_replica_gate *gate, const uint64_t *counts, uint32_t replica,
                             int64_t last) {
  const ms_gate_lists *reads = &gate->reads;
  uint64_t first = reads->first == NULL ? 0 : reads->first[replica];
  uint64_t end = reads->first == NULL ? gate->gate->ranges : reads->first[replica + 1];
  for (uint64_t i = first; i < end; i++) {
    uint32_t sender = reads->first == NULL ? (uint32_t)i : reads->members[i];
    if (count_of(counts, sender) < last) return false;
  }
  return true;
}

int64_t ms_replica_gate_sees(const ms_replica_gate *gate, const uint64_t *counts, uint32_t replica,
                             uint32_t sender, int64_t last) {
  if (sender == replica) return last;
  ms_gate_window window = ms_gate_versions(gate->gate, replica, sender, last + 1);
  int64_t newest = count_of(counts, sender);
  return newest < window.hi ? newest : window.hi;
}

bool ms_replica_gate_intact(const ms_replica_gate *gate, const uint64_t *counts, uint32_t sender,
                            int64_t version) {
  const ms_gate_setting *setting = &gate->gate->setting;
  if (setting->write_lag != MS_GATE_UNBOUNDED) return true;
  atomic_thread_fence(memory_order_acquire); /* what was read, was before */
  return count_of(counts, sender) + 1 < version + setting->depth;
}

bool ms_replica_gate_allows(const ms_replica_gate *gate, uint32_t replica, uint32_t sender,
                            int64_t last, int64_t version) {
  const ms_gate_setting *setting = &gate->gate->setting;
  ms_gate_window window = ms_gate_versions(gate->gate, replica, sender, last + 1);
  bool excuses = setting->backup > 0 || setting->timeout > 0;
  return version <= window.hi && (excuses || version >= window.lo);
}

uint64_t ms_replica_gate_tell(const ms_replica_gate *gate, bool chosen, const char *exchange) {
  uint64_t job = ms_history_own_job();
  if (job == 0) return 0;
  ms_gate_setting setting = gate->gate->setting;
  if (chosen) { /* nobody waits but for what is to be read */
    setting.read_lag = setting.write_lag = setting.read_ahead = MS_GATE_UNBOUNDED;
    setting.scope = MS_GATE_NOBODY;
    setting.clocks = false;
  }
  ms_gate_history_begin(&(ms_gate_told){.job = job,
                                        .setting = &setting,
                                        .rounds = MS_GATE_UNBOUNDED,
                                        .ranges = gate->gate->ranges,
                                        .read_first = gate->reads.first,
                                        .reads = gate->reads.members,
                                        .exchange = exchange});
  return job;
}

void ms_replica_gate_post(uint64_t *counts, uint32_t replica, int64_t round) {
  _Atomic uint64_t *at = (_Atomic uint64_t *)(void *)&counts[(size_t)replica * MS_REPLICA_LINE];
  atomic_store_explicit(at, (uint64_t)round, memory_order_release);
}
