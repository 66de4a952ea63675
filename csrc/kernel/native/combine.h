/* SPDX-License-Identifier: MIT
 *
 * Combine: the scalars after a loop from what its blocks left, for the native engine's results.
 *
 * The same rules as lua/meissa/kernel/result.lua has for all kinds of values, for those that are
 * numbers, for `and` and `or`, for what is assigned with an extreme, and for scalars that the last
 * block to assign them decides. Pure; any thread. */
#ifndef MS_KERNEL_NATIVE_COMBINE_H
#define MS_KERNEL_NATIVE_COMBINE_H

#include <stdint.h>

#include "base/api.h"
#include "kernel/native/native.h"

typedef struct ms_combine_rule {
  int32_t op;   /* ms_reduce_op: sum, product, min, max, and, or; what is assigned with an extreme,
                   its leader; MS_COMBINE_LAST */
  int32_t wins; /* ms_reduce_wins, of min, max, and, or */
  int32_t with; /* of a leader: the first scalar that is assigned with it; of these: their leader;
                   -1: the scalar goes by itself */
} ms_combine_rule;

/* The scalar has the value that the last block gave it which assigned it at all. */
#define MS_COMBINE_LAST (-1)

/* As many scalars may there be where there is a leader. */
#define MS_COMBINE_MOST 64

/* Combines the results of `count` scalars. `blocks`: what `block_count` blocks left, in plan order
 * and one after the other, each a mark of one slot and then two slots a scalar, value and
 * ms_native_tag; they need not be aligned. `scalars`: two slots each, the value before the loop of
 * a reduction, a number (of `and` and `or`: whether it is true), and the tag MS_NATIVE_NONE;
 * afterwards the value and tag of what is to be assigned. Returns 0; -1 where a block gave a
 * reduction something else than a number, or has not the mark of the first one, because another
 * engine ran it: then `scalars` is not to be used. */
MS_API int32_t ms_results_combine(const ms_combine_rule *rules, uint32_t count, const char *blocks,
                                  uint64_t block_count, ms_native_slot *scalars);

/* Frees the slots of a streak that a kernel left (native.h). */
MS_API void ms_combine_free_streak(void *slots);

#endif
