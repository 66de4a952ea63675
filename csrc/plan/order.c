/* SPDX-License-Identifier: MIT
 *
 * Order: see order.h. The neighbours along an axis are in order_along.c.
 *
 * The last number of a key is a range: of an interval of ranges, lo .. hi - 1, those are looked for
 * that the numbers before it leave. In a rotation, step s of axis j leaves of an interval those a
 * for which (a + s) mod n is one of the box's ranges of j, which are at most two intervals. In
 * other orders a number is a range by itself, and leaves the interval as it is. */
#include "plan/order.h"

#include <string.h>

/* Ranges of the last number's axis. */
typedef struct interval {
  uint32_t lo, hi;
} interval;

ms_order ms_order_of(const ms_grid *grid) {
  ms_order order = {.count = grid->count, .blocks = ms_grid_blocks(grid)};
  const ms_strategy_traits *traits = ms_strategy_traits_of(grid->strategy);
  bool rotates = traits->rotated, turned = traits->turned;
  for (uint32_t d = 0; d < grid->count; d++) {
    order.ranges[d] = grid->ranges[d];
    order.axis[d] = rotates || turned ? (d + 1) % grid->count : d;
    if (rotates && grid->ranges[d] > order.n) order.n = grid->ranges[d];
  }
  order.square = rotates;
  for (uint32_t d = 0; d < grid->count; d++) {
    order.square = order.square && grid->ranges[d] == order.n;
  }
  return order;
}

ms_block_box ms_order_whole(const ms_order *order) {
  ms_block_box box = {0};
  memcpy(box.hi, order->ranges, sizeof box.hi);
  return box;
}

ms_block_box ms_order_within(ms_block_box box, uint32_t axis, uint32_t lo, uint32_t hi) {
  box.lo[axis] = lo;
  box.hi[axis] = hi;
  return box;
}

ms_block_key ms_order_key(const ms_order *order, uint32_t block) {
  uint32_t range[MS_CUTS];
  ms_block_key key;
  for (uint32_t d = order->count; d-- > 0;) {
    range[d] = block % order->ranges[d];
    block /= order->ranges[d];
  }
  uint32_t last = order->count - 1;
  for (uint32_t k = 0; k <= last; k++) {
    key.at[k] = range[order->axis[k]];
    if (order->n == 0 || k == last) continue;
    key.at[k] += key.at[k] >= range[0] ? 0 : order->n;
    key.at[k] -= range[0];
  }
  return key;
}

uint32_t ms_order_block(const ms_order *order, const ms_block_key *key) {
  uint32_t range[MS_CUTS], block = 0, last = order->count - 1;
  for (uint32_t k = 0; k <= last; k++) {
    uint32_t at = key->at[k];
    if (order->n > 0 && k < last) {
      at += key->at[last];
      if (at >= order->n) at -= order->n;
    }
    range[order->axis[k]] = at;
  }
  for (uint32_t d = 0; d <= last; d++) block = block * order->ranges[d] + range[d];
  return block;
}

bool ms_order_less(const ms_order *order, const ms_block_key *one, const ms_block_key *other) {
  uint32_t k = 0;
  while (k + 1 < order->count && one->at[k] == other->at[k]) k++;
  return one->at[k] < other->at[k];
}

static interval interval_of(const ms_order *order, const ms_block_box *box) {
  uint32_t axis = order->axis[order->count - 1];
  return (interval){box->lo[axis], box->hi[axis]};
}

static interval meet(interval ranges, int64_t lo, int64_t hi) {
  if (lo > ranges.lo) ranges.lo = lo < ranges.hi ? (uint32_t)lo : ranges.hi;
  if (hi < ranges.hi) ranges.hi = hi > ranges.lo ? (uint32_t)hi : ranges.lo;
  return ranges;
}

/* What the value `v` of number `k` of a key leaves of an interval: up to two, ascending. */
static uint32_t leave(const ms_order *order, const ms_block_box *box, uint32_t k, uint32_t v,
                      interval ranges, interval *left) {
  int64_t lo = box->lo[order->axis[k]], hi = box->hi[order->axis[k]], n = order->n;
  uint32_t count = 0;
  if (n == 0) {
    left[0] = ranges;
    return v >= lo && v < hi;
  }
  left[count] = meet(ranges, lo - v, hi - v);
  count += left[count].lo < left[count].hi;
  left[count] = meet(ranges, lo + n - v, hi + n - v);
  return count + (left[count].lo < left[count].hi);
}

/* ------------------------------------------------------------------------------- counting */

static int64_t triangle(int64_t n) {
  return n > 0 ? n * (n + 1) / 2 : 0;
}

/* Pairs of a number below `a` and one below `b` whose sum is less than `sum`. */
static int64_t pairs_below(int64_t a, int64_t b, int64_t sum) {
  return triangle(sum) - triangle(sum - a) - triangle(sum - b) + triangle(sum - a - b);
}

/* Pairs of a range and a value below `v` of number `k` of a key that leaves that range. */
static uint64_t pairs(const ms_order *order, const ms_block_box *box, uint32_t k, uint32_t v,
                      interval ranges) {
  int64_t lo = box->lo[order->axis[k]], hi = box->hi[order->axis[k]], n = order->n;
  int64_t length = (int64_t)ranges.hi - ranges.lo;
  if (n == 0) return (uint64_t)((v < lo ? 0 : v < hi ? v - lo : hi - lo) * length);
  if (hi - lo == n) return (uint64_t)(v * length);
  lo -= ranges.lo;
  hi -= ranges.lo;
  return (uint64_t)(pairs_below(length, v, hi) - pairs_below(length, v, lo) +
                    pairs_below(length, v, hi + n) - pairs_below(length, v, lo + n));
}

/* The blocks of the box with ranges of an interval that come before the key from number `k` on. */
static uint64_t count_from(const ms_order *order, const ms_block_box *box, const ms_block_key *key,
                           uint32_t k, interval ranges) {
  uint32_t v = key->at[k], last = order->count - 1;
  if (k == last) return v <= ranges.lo ? 0 : (v < ranges.hi ? v : ranges.hi) - ranges.lo;
  uint64_t count = pairs(order, box, k, v, ranges);
  for (uint32_t later = k + 1; later < last; later++) {
    count *= box->hi[order->axis[later]] - box->lo[order->axis[later]];
  }
  interval left[2];
  uint32_t parts = leave(order, box, k, v, ranges, left);
  for (uint32_t p = 0; p < parts; p++) count += count_from(order, box, key, k + 1, left[p]);
  return count;
}

/* Whether every value of a number leaves the same: in all orders but rotations, and in those where
 * no step leaves a range out. Then the keys of a box are a box, too. */
static bool is_even(const ms_order *order, const ms_block_box *box) {
  for (uint32_t k = 0; order->n > 0 && k + 1 < order->count; k++) {
    if (box->hi[order->axis[k]] - box->lo[order->axis[k]] != order->n) return false;
  }
  return true;
}

uint32_t ms_order_before(const ms_order *order, const ms_block_box *box, const ms_block_key *key) {
  if (is_even(order, box)) {
    uint32_t count = 0;
    bool among = true; /* the key's numbers so far are of the box */
    for (uint32_t k = 0; k < order->count; k++) {
      uint32_t lo = box->lo[order->axis[k]], hi = box->hi[order->axis[k]], v = key->at[k];
      uint32_t below = !among || v < lo ? 0 : v < hi ? v - lo : hi - lo;
      count = count * (hi - lo) + below;
      among = among && v >= lo && v < hi;
    }
    return count;
  }
  return (uint32_t)count_from(order, box, key, 0, interval_of(order, box));
}

uint32_t ms_order_count(const ms_order *order, const ms_block_box *box) {
  uint32_t count = 1;
  for (uint32_t d = 0; d < order->count; d++) count *= box->hi[d] - box->lo[d];
  return count;
}

uint32_t ms_order_position(const ms_order *order, uint32_t block) {
  if (order->axis[0] == 0) return block; /* row-major */
  ms_block_box all = ms_order_whole(order);
  ms_block_key key = ms_order_key(order, block);
  return ms_order_before(order, &all, &key);
}

/* ------------------------------------------------------------------------------- neighbours */

/* A search for the least key beyond another one, or the greatest. */
typedef struct search {
  const ms_order *order;
  const ms_block_box *box;
  ms_block_key from;
  bool forward;
} search;

/* The values of number `k` of a key that leave something of an interval: 0 .. wrapped - 1 and
 * lo .. hi - 1, the former below the latter. */
typedef struct values {
  uint32_t wrapped, lo, hi;
} values;

static values values_of(const search *s, uint32_t k, interval ranges) {
  uint32_t axis = s->order->axis[k], lo = s->box->lo[axis], hi = s->box->hi[axis], n = s->order->n;
  if (n == 0) return (values){.lo = lo, .hi = hi};
  uint32_t length = hi - lo + (ranges.hi - ranges.lo) - 1;
  if (length > n) length = n;
  uint32_t first = (lo + n - (ranges.hi - 1)) % n;
  if (length > n - first) return (values){.wrapped = length - (n - first), .lo = first, .hi = n};
  return (values){.lo = first, .hi = first + length};
}

/* The value nearest to `from`, in the search's direction and itself included. */
static bool nearest(const search *s, const values *of, int64_t from, uint32_t *value) {
  if (s->forward) {
    if (from < of->wrapped) {
      *value = from > 0 ? (uint32_t)from : 0;
      return true;
    }
    *value = from > of->lo ? (uint32_t)from : of->lo;
    return *value < of->hi;
  }
  if (from >= of->lo && of->lo < of->hi) {
    *value = from < of->hi ? (uint32_t)from : of->hi - 1;
    return true;
  }
  if (from < 0 || of->wrapped == 0) return false;
  *value = from < of->wrapped ? (uint32_t)from : of->wrapped - 1;
  return true;
}

/* Whether one key comes before another in the search's direction, from number `k` on. */
static bool is_nearer(const search *s, uint32_t k, const ms_block_key *one,
                      const ms_block_key *other) {
  while (k + 1 < s->order->count && one->at[k] == other->at[k]) k++;
  return s->forward ? one->at[k] < other->at[k] : one->at[k] > other->at[k];
}

/* Finds the nearest key from number `k` on; `bound`: beyond that of the search's. */
static bool seek(const search *s, uint32_t k, interval ranges, bool bound, ms_block_key *found);

/* Finds the nearest key whose number `k` is `v`. */
static bool seek_at(const search *s, uint32_t k, uint32_t v, interval ranges, bool bound,
                    ms_block_key *found) {
  interval left[2];
  uint32_t parts = leave(s->order, s->box, k, v, ranges, left);
  ms_block_key other = {0};
  bool any = parts > 0 && seek(s, k + 1, left[0], bound, found);
  if (parts > 1 && seek(s, k + 1, left[1], bound, any ? &other : found)) {
    if (any && is_nearer(s, k + 1, &other, found)) *found = other;
    any = true;
  }
  if (any) found->at[k] = v;
  return any;
}

static bool seek(const search *s, uint32_t k, interval ranges, bool bound, ms_block_key *found) {
  uint32_t v = s->from.at[k];
  int64_t from = s->forward ? 0 : UINT32_MAX;
  if (bound) from = (int64_t)v + (s->forward ? 1 : -1);
  if (k + 1 == s->order->count) {
    values of = {.lo = ranges.lo, .hi = ranges.hi};
    return nearest(s, &of, from, &found->at[k]);
  }
  if (bound && seek_at(s, k, v, ranges, true, found)) return true;
  values of = values_of(s, k, ranges);
  return nearest(s, &of, from, &v) && seek_at(s, k, v, ranges, false, found);
}

static uint32_t neighbour(const ms_order *order, const ms_block_box *box, uint32_t block,
                          bool forward) {
  search s = {.order = order, .box = box, .forward = forward};
  interval ranges = interval_of(order, box);
  ms_block_key found = {0};
  if (block != MS_NO_BLOCK) s.from = ms_order_key(order, block);
  if (ranges.lo >= ranges.hi || !seek(&s, 0, ranges, block != MS_NO_BLOCK, &found)) {
    return MS_NO_BLOCK;
  }
  return ms_order_block(order, &found);
}

/* Whether a key is of a box that is even. */
static bool holds(const ms_order *order, const ms_block_box *box, const ms_block_key *key) {
  for (uint32_t k = 0; k < order->count; k++) {
    uint32_t axis = order->axis[k];
    if (key->at[k] < box->lo[axis] || key->at[k] >= box->hi[axis]) return false;
  }
  return true;
}

/* Counts such a key up; false at the end. */
static bool count_up(const ms_order *order, const ms_block_box *box, ms_block_key *key) {
  for (uint32_t k = order->count; k-- > 0;) {
    if (++key->at[k] < box->hi[order->axis[k]]) return true;
    key->at[k] = box->lo[order->axis[k]];
  }
  return false;
}

uint32_t ms_order_next(const ms_order *order, const ms_block_box *box, uint32_t block) {
  if (block != MS_NO_BLOCK) {
    ms_block_key key = ms_order_key(order, block);
    if (is_even(order, box) && holds(order, box, &key)) {
      return count_up(order, box, &key) ? ms_order_block(order, &key) : MS_NO_BLOCK;
    }
  }
  return neighbour(order, box, block, true);
}

uint32_t ms_order_previous(const ms_order *order, const ms_block_box *box, uint32_t block) {
  return neighbour(order, box, block, false);
}

/* ------------------------------------------------------------------------------- finding */

uint32_t ms_order_find(const ms_order *order, uint32_t place,
                       uint32_t (*before)(const void *set, const ms_block_key *key),
                       const void *set) {
  ms_block_key key = {0};
  for (uint32_t k = 0; k < order->count; k++) {
    bool step = order->n > 0 && k + 1 < order->count;
    uint32_t low = 0, high = (step ? order->n : order->ranges[order->axis[k]]) - 1;
    while (low < high) { /* the greatest value that has no more than `place` before it */
      key.at[k] = high - (high - low) / 2;
      if (before(set, &key) <= place) {
        low = key.at[k];
      } else {
        high = key.at[k] - 1;
      }
    }
    key.at[k] = low;
  }
  return ms_order_block(order, &key);
}

typedef struct boxed {
  const ms_order *order;
  const ms_block_box *box;
} boxed;

static uint32_t before_in_box(const void *set, const ms_block_key *key) {
  const boxed *of = set;
  return ms_order_before(of->order, of->box, key);
}

uint32_t ms_order_select(const ms_order *order, const ms_block_box *box, uint32_t place) {
  boxed of = {.order = order, .box = box};
  return ms_order_find(order, place, before_in_box, &of);
}
