/* SPDX-License-Identifier: MIT
 *
 * Merging replicas: what becomes of a replica's values when it hears those of others.
 *
 * All are element by element, over vectors of `count` doubles, and add in the order of the senders,
 * so the bits depend on who sent and on nothing else. (sync/merge.h merges what blocks have put
 * into buffers.) Sources: the mean, Kadav, Kruus, "ASAP: asynchronous approximate data-parallel
 * computation", appendix A.2; adding with gamma, Alt, "Adaptive consistency management for
 * distributed machine learning", 2017, 4.3; weights by distance in rounds, Herb, Jungnickel, Alt,
 * "Harmonization of replicated machine learning models"; gamma and sigma, Ma et al., "Adding vs.
 * averaging in distributed primal-dual optimization", 2015.
 *
 * Pure; all memory is the caller's. */
#ifndef MS_SYNC_REPLICA_H
#define MS_SYNC_REPLICA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"

/* out = (the sum of values[0 .. number)) / number, the receiver's own among them: the divisor is
 * what was consumed. `out` may be one of them. */
MS_API void ms_replica_mean(double *out, const double *const *values, uint32_t number,
                            int64_t count);

/* out = the sum of weight[s] * values[s], the receiver's own among them. */
MS_API void ms_replica_mix(double *out, const double *const *values, const double *weight,
                           uint32_t number, int64_t count);

/* out = start + gamma * the sum of deltas, own included. */
MS_API void ms_replica_add(double *out, const double *start, double gamma,
                           const double *const *deltas, uint32_t number, int64_t count);

typedef enum ms_weighted_form {
  MS_WEIGHTED_PRINTED,    /* sender by sender value = (distance * lambda * remote + value) / 2 */
  MS_WEIGHTED_NORMALISED, /* (value + sum of u remote) / (1 + sum of u), u = lambda max(d, 0) */
  MS_WEIGHTED_SHIFTED     /* the same, u = lambda max(d + 1, 0) */
} ms_weighted_form;

/* Merges into `value` what was received, weighted by distance: the remote round less the local one,
 * of each sender. */
MS_API void ms_replica_weighted(double *value, int form, double lambda,
                                const double *const *received, const double *distance,
                                uint32_t senders, int64_t count);

/* value += own - told, where these differ: what a replica holds and has not told is not merged, and
 * stays its own. */
MS_API void ms_replica_keep(double *value, const double *own, const double *told, int64_t count);

/* delta = after - before; the 2-norm of it. */
MS_API double ms_replica_change(double *delta, const double *after, const double *before,
                                int64_t count);

/* sum += factor * (after - before); `before` NULL: zeros. */
MS_API void ms_replica_accumulate(double *sum, double factor, const double *after,
                                  const double *before, int64_t count);

/* Whether vectors have the same bits. */
MS_API bool ms_replica_alike(const double *const *values, uint32_t number, int64_t count);

/* out = values / divisor; `out` may be `values`. */
MS_API void ms_replica_divide(double *out, const double *values, double divisor, int64_t count);

#endif
