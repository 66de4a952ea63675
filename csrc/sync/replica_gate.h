/* SPDX-License-Identifier: MIT
 *
 * Replica gate: which replicas may go on with an exchange, and which posts they see, by counts that
 * all have in shared memory.
 *
 * The exchange of round t is the beginning of block t + 1 of a replica, whose end is its post of
 * round t + 1: so who may merge what is a gate's to say (gate.h), with a worker of one block for
 * each replica, since they overtake each other. A replica's count is the round of its newest post,
 * written behind the post itself; who sees the count sees that. Counts lie a line apart. Versions
 * of a post lie in a ring of `depth` of the setting. Immutable once made, but for the counts, which
 * have one writer each: any thread may ask. */
#ifndef MS_SYNC_REPLICA_GATE_H
#define MS_SYNC_REPLICA_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"
#include "base/error.h"
#include "sync/gate_setting.h"

/* Counts to a line of the cache: those of replica k (from 0) are counts[k * MS_REPLICA_LINE]. */
#define MS_REPLICA_LINE 8

typedef struct ms_replica_gate ms_replica_gate;

/* A gate of replicas, of which k hears reads[read_first[k] .. read_first[k + 1]), perhaps itself;
 * NULL: all hear all. What it is given is copied. NULL: MS_WRK without memory, MS_BUG for sets that
 * are none. The caller frees it. */
MS_API ms_replica_gate *ms_replica_gate_new(const ms_gate_setting *setting, uint32_t replicas,
                                            const uint64_t *read_first, const uint32_t *reads,
                                            ms_error *err);
MS_API void ms_replica_gate_free(ms_replica_gate *gate);

/* Whether a replica that has posted round `last` may merge what it hears. */
MS_API bool ms_replica_gate_open(const ms_replica_gate *gate, const uint64_t *counts,
                                 uint32_t replica, int64_t last);

/* Whether all senders that a replica hears have posted round `last`, too. */
MS_API bool ms_replica_gate_settled(const ms_replica_gate *gate, const uint64_t *counts,
                                    uint32_t replica, int64_t last);

/* The round of the post of `sender` that a replica is to see after round `last`: the newest within
 * the window. */
MS_API int64_t ms_replica_gate_sees(const ms_replica_gate *gate, const uint64_t *counts,
                                    uint32_t replica, uint32_t sender, int64_t last);

/* Whether nobody can have begun to overwrite a post that was just read. */
MS_API bool ms_replica_gate_intact(const ms_replica_gate *gate, const uint64_t *counts,
                                   uint32_t sender, int64_t version);

/* Whether a replica may see that post of `sender` after round `last`, whenever that is. */
MS_API bool ms_replica_gate_allows(const ms_replica_gate *gate, uint32_t replica, uint32_t sender,
                                   int64_t last, int64_t version);

/* Tells the history, where one is wanted, that these replicas exchange by the gate from here on, or
 * in an order that was `chosen`, by `exchange`, its name there; the number of that job, 0: there is
 * none. In the driver. */
MS_API uint64_t ms_replica_gate_tell(const ms_replica_gate *gate, bool chosen,
                                     const char *exchange);

/* Says that the post of a round is there. */
MS_API void ms_replica_gate_post(uint64_t *counts, uint32_t replica, int64_t round);

#endif
