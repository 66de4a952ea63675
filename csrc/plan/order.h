/* SPDX-License-Identifier: MIT
 *
 * Order: the plan's serial order of a grid's blocks, without a list of them.
 *
 * Of some strategies the order is row-major; in a wavefront it goes by range of the second axis,
 * then of the first, so that the pipeline fills quickly. Rotation is Orion's (Wei et al., EuroSys
 * 2019), for any number of axes: with n = max(ranges), at step (s_2, .., s_k) space range a meets
 * range (a + s_j) mod n of axis j, so that blocks of one step share no range; it goes by step, then
 * by space range.
 *
 * Each of these is a lexicographic order of keys, one number for each axis, so what a block has
 * before it, or next to it, is computed from the grid's few numbers in time that grows with the
 * axes alone. That holds within a box of ranges, too: those of one owner, or all blocks that use
 * one range. Pure functions on plain records. */
#ifndef MS_PLAN_ORDER_H
#define MS_PLAN_ORDER_H

#include "plan/grid.h"

#define MS_NO_BLOCK UINT32_MAX

/* Blocks whose range along axis d is one of lo[d] .. hi[d] - 1. */
typedef struct ms_block_box {
  uint32_t lo[MS_CUTS], hi[MS_CUTS];
} ms_block_box;

/* Where a block stands: keys are compared number by number. */
typedef struct ms_block_key {
  uint32_t at[MS_CUTS];
} ms_block_key;

typedef struct ms_order {
  uint32_t count; /* axes, and numbers of a key */
  uint32_t ranges[MS_CUTS];
  uint32_t axis[MS_CUTS]; /* that each number of a key is about */
  uint32_t n;             /* rotation: the most ranges of an axis; else 0: keys are ranges */
  bool square;            /* rotation: all axes have so many */
  uint32_t blocks;
} ms_order;

/* The order of the blocks of a grid that can be run (ms_grid_refusal). */
ms_order ms_order_of(const ms_grid *grid);

/* All blocks. */
ms_block_box ms_order_whole(const ms_order *order);

/* Those of `box` that use a range of lo .. hi - 1 along `axis`. */
ms_block_box ms_order_within(ms_block_box box, uint32_t axis, uint32_t lo, uint32_t hi);

/* A block's key, and the other way round. */
ms_block_key ms_order_key(const ms_order *order, uint32_t block);
uint32_t ms_order_block(const ms_order *order, const ms_block_key *key);

/* Whether one key comes before another. */
bool ms_order_less(const ms_order *order, const ms_block_key *one, const ms_block_key *other);

/* The blocks in a box. */
uint32_t ms_order_count(const ms_order *order, const ms_block_box *box);

/* How many blocks of a box come before a key. */
uint32_t ms_order_before(const ms_order *order, const ms_block_box *box, const ms_block_key *key);

/* The first block of a box after a block, which may be outside it, and the last one before it;
 * MS_NO_BLOCK: there is none. Given MS_NO_BLOCK, the box's first, and its last. */
uint32_t ms_order_next(const ms_order *order, const ms_block_box *box, uint32_t block);
uint32_t ms_order_previous(const ms_order *order, const ms_block_box *box, uint32_t block);

/* The block that uses the range of `axis` that `block` does, next after it or last before it;
 * MS_NO_BLOCK: there is none. */
uint32_t ms_order_after(const ms_order *order, uint32_t axis, uint32_t block);
uint32_t ms_order_ahead(const ms_order *order, uint32_t axis, uint32_t block);

/* A block's position in the whole plan. */
uint32_t ms_order_position(const ms_order *order, uint32_t block);

/* The block before which so many others of a set come (`before` counts those of the set before a
 * key), which has more than `place` blocks. */
uint32_t ms_order_find(const ms_order *order, uint32_t place,
                       uint32_t (*before)(const void *set, const ms_block_key *key),
                       const void *set);

/* Block number `place` of a box, which has more. */
uint32_t ms_order_select(const ms_order *order, const ms_block_box *box, uint32_t place);

#endif
