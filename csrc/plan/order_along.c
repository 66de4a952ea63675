/* SPDX-License-Identifier: MIT
 *
 * Order, the neighbours of a block along an axis: see order.h. Blocks that share a range are a box,
 * so they could be looked for as in any box; of the usual orders the neighbour is computed. */
#include "plan/order.h"

static uint32_t range_of(const ms_order *order, uint32_t block, uint32_t axis) {
  for (uint32_t last = order->count - 1; last > axis; last--) block /= order->ranges[last];
  return block % order->ranges[axis];
}

/* Of any order: the blocks that share the range are a box. */
static uint32_t along(const ms_order *order, uint32_t axis, uint32_t block, bool forward) {
  uint32_t range = range_of(order, block, axis);
  ms_block_box box = ms_order_within(ms_order_whole(order), axis, range, range + 1);
  return forward ? ms_order_next(order, &box, block) : ms_order_previous(order, &box, block);
}

/* Two axes that are rotated: space range a meets the ranges a, a + 1, .. of the other axis, and
 * range r of that the space ranges r, r - 1, .., all in a circle; where there is no such range it
 * begins with the first, and with the last. */
static uint32_t along_rotation(const ms_order *order, uint32_t axis, uint32_t block, bool forward) {
  uint32_t width = order->ranges[1], at[2] = {block / width, block % width};
  uint32_t other = 1 - axis, count = order->ranges[other], up = axis == 0 ? forward : !forward;
  uint32_t begin = at[axis] < count ? at[axis] : axis == 0 ? 0 : count - 1;
  uint32_t end = axis == 0 ? begin + count - 1 : begin + 1;
  if (at[other] == (forward ? end >= count ? end - count : end : begin)) return MS_NO_BLOCK;
  at[other] = up ? at[other] + 1 : at[other] + count - 1;
  if (at[other] >= count) at[other] -= count;
  return at[0] * width + at[1];
}

/* Axes of equally many ranges that are rotated: all steps come, one after the other, and the range
 * says which space range is there. */
static uint32_t along_square(const ms_order *order, uint32_t axis, uint32_t block, bool forward) {
  uint32_t n = order->n, last = order->count - 1, k = last;
  ms_block_key key = ms_order_key(order, block);
  uint32_t sum = axis == 0 ? 0 : key.at[axis - 1] + key.at[last];
  while (k > 0 && key.at[k - 1] == (forward ? n - 1 : 0)) key.at[--k] = forward ? 0 : n - 1;
  if (k == 0) return MS_NO_BLOCK;
  key.at[k - 1] = forward ? key.at[k - 1] + 1 : key.at[k - 1] - 1;
  if (axis > 0) key.at[last] = (sum + n - key.at[axis - 1]) % n;
  return ms_order_block(order, &key);
}

/* In a wavefront the other axis' next range, or the last one. */
static uint32_t along_wavefront(const ms_order *order, uint32_t axis, uint32_t block,
                                bool forward) {
  uint32_t width = order->ranges[1], range = range_of(order, block, 1 - axis);
  uint32_t step = axis == 0 ? 1 : width;
  if (range == (forward ? order->ranges[1 - axis] - 1 : 0)) return MS_NO_BLOCK;
  return forward ? block + step : block - step;
}

/* In row-major order the blocks of a range of the first axis are numbered through. */
static uint32_t along_first(const ms_order *order, uint32_t block, bool forward) {
  uint32_t width = order->blocks / order->ranges[0], at = block % width;
  if (at == (forward ? width - 1 : 0)) return MS_NO_BLOCK;
  return forward ? block + 1 : block - 1;
}

static uint32_t go_along(const ms_order *order, uint32_t axis, uint32_t block, bool forward) {
  if (order->n > 0 && order->count == 2) return along_rotation(order, axis, block, forward);
  if (order->square) return along_square(order, axis, block, forward);
  if (order->n == 0 && order->axis[0] != 0) return along_wavefront(order, axis, block, forward);
  if (order->n == 0 && axis == 0) return along_first(order, block, forward);
  return along(order, axis, block, forward);
}

uint32_t ms_order_after(const ms_order *order, uint32_t axis, uint32_t block) {
  return go_along(order, axis, block, true);
}

uint32_t ms_order_ahead(const ms_order *order, uint32_t axis, uint32_t block) {
  return go_along(order, axis, block, false);
}
