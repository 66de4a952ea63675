/* SPDX-License-Identifier: MIT
 *
 * Topology: which replica sends to which in an exchange, and what weight a receiver gives to each.
 *
 * Replicas are numbered from 0. Edges are sets, kept as the sorted senders of each receiver; every
 * replica also hears itself. A graph whose edges depend on the round has a period: round t is phase
 * t mod period. Weights are 1 / (1 + in-degree) where every replica has as many senders as
 * receivers and all have equally many; else, on symmetric graphs, Metropolis weights
 * 1 / (1 + max(degree, degree)) (Xiao, Boyd, "Fast linear iterations for distributed averaging",
 * 2004); else in-degree weights, whose mean is another one than that of the replicas. Graphs that
 * reduce to all (tree, ring) have the exact mean, whatever their edges.
 *
 * Immutable once made; owned by who made it. No state, any thread. */
#ifndef MS_SYNC_TOPOLOGY_H
#define MS_SYNC_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

#define MS_TOPOLOGY_MOST 4096u /* replicas */

typedef enum ms_topology_kind {
  MS_TOPOLOGY_ALL,
  MS_TOPOLOGY_TREE_ALLREDUCE,
  MS_TOPOLOGY_RING_ALLREDUCE,
  MS_TOPOLOGY_SERVER,
  MS_TOPOLOGY_RING,
  MS_TOPOLOGY_RING_BOTH,
  MS_TOPOLOGY_CHAIN,
  MS_TOPOLOGY_ROOT_EXPANDER,
  MS_TOPOLOGY_ONE_PEER_EXPONENTIAL,
  MS_TOPOLOGY_REGULAR,
  MS_TOPOLOGY_MATRIX
} ms_topology_kind;

typedef struct MS_API_TYPE ms_topology {
  uint32_t kind, count, period;
  uint32_t reduces;   /* 1: the exact mean of all, whatever the edges */
  uint32_t weighting; /* 0: 1 / (1 + in-degree), all degrees equal; 1: Metropolis; 2: given;
                         3: in-degree weights of unequal degrees */
  uint32_t *start;    /* of phase p and receiver i, number p * count + i: its senders are from[k],
                         start[number] <= k < start[number + 1], ascending */
  uint32_t *from;
  double *weight; /* of from[k] */
  double *own;    /* of the receiver itself, by number */
} ms_topology;

/* What of a weight matrix keeps a mean from being that of the replicas; a set of these. */
enum {
  MS_TOPOLOGY_ROWS = 1,        /* a row does not sum to 1 */
  MS_TOPOLOGY_COLUMNS = 2,     /* a column does not: the mean is not kept */
  MS_TOPOLOGY_NEGATIVE = 4,    /* a weight is negative */
  MS_TOPOLOGY_NO_SELF = 8,     /* a replica does not hear itself */
  MS_TOPOLOGY_UNCONNECTED = 16 /* some replica never hears of another one */
};

/* The topology of `count` replicas, from 1. `degree` and `seed` are those of a regular graph; the
 * matrix, count x count with a row for each receiver, holds weights if all its rows sum to 1, else
 * 1 for each edge. NULL: MS_OPT for what there is not, MS_ARR when memory is out. */
MS_API ms_topology *ms_topology_new(int kind, uint32_t count, uint32_t degree, uint64_t seed,
                                    const double *matrix, ms_error *err);

/* Frees a topology (NULL allowed). */
MS_API void ms_topology_free(ms_topology *topology);

/* The senders' numbers of a receiver in round `round`: from[*first .. *last). */
MS_API void ms_topology_senders(const ms_topology *topology, uint64_t round, uint32_t receiver,
                                uint32_t *first, uint32_t *last);

/* Fills weights[count * count] with the matrix of a round, a row for each receiver. */
MS_API void ms_topology_matrix(const ms_topology *topology, uint64_t round, double *weights);

/* What is wrong with the weights of all phases, 0: nothing; they are doubly stochastic. -1: memory
 * is out. */
MS_API int ms_topology_faults(const ms_topology *topology);

/* 1 - s, where a round takes replicas s times as near to their mean at least: s is the largest
 * singular value of W - 1 p, p the stationary distribution of W, over a period its root. -1: memory
 * is out. */
MS_API double ms_topology_gap(const ms_topology *topology);

#endif
