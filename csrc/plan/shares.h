/* SPDX-License-Identifier: MIT
 *
 * Shares: an iteration space shared out to replicas, and each share cut into rounds.
 *
 * A replica gets a range of one dimension, of the entries of a sparse array one of about equal
 * weight. Its iterations come pass by pass, a pass being one value of each dimension before that
 * one, and in the order of the loop, or in each pass in a random order of its range's values (of
 * entries). They are cut into as many near-equal parts as there are rounds; all replicas have
 * equally many rounds. A round is a partition, whose block k is what replica k does in it.
 *
 * A function of the terms alone. Immutable once made; all memory is the shares', and that of the
 * partitions theirs, which may live on. One thread. */
#ifndef MS_PLAN_SHARES_H
#define MS_PLAN_SHARES_H

#include "array/partition.h"
#include "base/api.h"
#include "base/error.h"
#include "depend/meaning.h"

typedef struct MS_API_TYPE ms_shares_terms {
  const ms_array *array; /* sparse: its entries are the space; NULL: the ranges are */
  const void *verdict;   /* an ms_verdict: a partition of the dimension that is shared out */
  uint32_t dim_count;    /* of the space */
  uint32_t replicas;
  uint32_t shuffled;           /* 1: by `seed`, anew in each pass from number `pass` on */
  ms_range range[MS_MAX_DIMS]; /* index values from 1 to 2^31 - 1 */
  double every; /* iterations of a replica from one exchange to the next; below 1 a part of its
                   share of a pass; may be infinite */
  uint64_t seed, pass;
  const int64_t *done; /* by replica: iterations of its share that are done; NULL: none are */
  uint32_t ordered;    /* entries: row-major, duplicates in file order; else as they stand */
  uint32_t unused;
} ms_shares_terms;

typedef struct MS_API_TYPE ms_shares {
  uint32_t rounds, replicas, dim_count, dim;
  int64_t largest, passes; /* iterations of the largest share; passes of the loop */
  int64_t *bounds;         /* replica k has the index values bounds[k] .. bounds[k+1] - step */
  int64_t *starts;         /* round t: starts[t * (replicas + 1) + k], from its first iteration */
  int64_t *first;          /* of each round, among all iterations */
  ms_store *offsets, *entries;
  size_t coord_offset[MS_ARRAY_DIMS], value_offset;
  int32_t type;
  uint32_t value_size;
  uint64_t version;
} ms_shares;

/* Most rounds of a loop. */
#define MS_SHARES_ROUNDS (1u << 24)

/* Shares a space out. NULL: MS_OPT for more replicas than index values, more rounds than there can
 * be, or index values beyond 1 .. 2^31 - 1; MS_ARR when memory is out. */
MS_API ms_shares *ms_shares_new(const ms_shares_terms *terms, ms_error *err);
MS_API void ms_shares_free(ms_shares *shares);

/* Round number `round`, from 0, as a partition with one reference, the caller's. NULL: MS_ARR. */
MS_API ms_partition *ms_shares_round(const ms_shares *shares, uint32_t round, ms_error *err);

/* The same of `count` rounds from that one on: cut by round, then by replica, block t * replicas +
 * k being what replica k does in the t-th of them. */
MS_API ms_partition *ms_shares_rounds(const ms_shares *shares, uint32_t round, uint32_t count,
                                      ms_error *err);

#endif
