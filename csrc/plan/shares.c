/* SPDX-License-Identifier: MIT
 *
 * Shares: see shares.h. Iterations are numbered within a share; each goes to its round's place. */
#include "plan/shares.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array/index.h"
#include "base/philox.h"
#include "plan/axis.h"
#include "plan/layout.h"

#define ALIGNMENT ((size_t)64)

/* Tells these draws from others with the same seed. */
#define SHARE_STREAM (UINT64_C(1) << 40)

typedef struct builder {
  const ms_shares_terms *terms;
  ms_shares *made;
  int64_t outer, inner; /* iterations of the dimensions before, behind the one that is shared */
  int64_t length;       /* its values */
  int64_t total;        /* iterations */
  int64_t *share;  /* replica k has share[k] .. share[k+1]-1: values from 0, or places in ... */
  uint32_t *entry; /* ... this list of entries, by share */
  int64_t *permutation; /* of the values, or entries, of a share */
  uint32_t dim;         /* that is shared out */
} builder;

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "the shares of a loop's replicas");
}

static int measure(builder *b, ms_error *err) {
  const ms_shares_terms *terms = b->terms;
  double volume = 1;
  b->outer = b->inner = 1;
  for (uint32_t d = 0; d < terms->dim_count; d++) {
    const ms_range *range = &terms->range[d];
    int64_t low = range->step > 0 ? range->lo : range->hi;
    int64_t high = range->step > 0 ? range->hi : range->lo;
    if (low < 1 || high > INT32_MAX) {
      return ms_error_set(err, MS_OPT,
                          "a loop over replicas runs over index values from 1 to 2^31 - 1, not "
                          "from %" PRId64 " to %" PRId64,
                          low, high);
    }
    int64_t length = ms_axis_length(range);
    volume *= (double)length;
    if (volume > 0x1p40) return out_of_memory(err);
    if (d < b->dim) b->outer *= length;
    if (d > b->dim) b->inner *= length;
  }
  b->length = ms_axis_length(&terms->range[b->dim]);
  b->total = (int64_t)volume;
  if (terms->array != NULL) {
    b->outer = b->inner = 1;
    b->total = terms->array->count;
  }
  if (terms->replicas > b->length) {
    return ms_error_set(err, MS_OPT,
                        "%" PRIu32 " replicas share out an index of %" PRId64
                        " values: there can be no more replicas than that",
                        terms->replicas, b->length);
  }
  return 0;
}

/* ---- shares ---- */

static void share_values(builder *b) {
  const ms_range *range = &b->terms->range[b->dim];
  ms_layout_axis axis = ms_layout_cut(0, 1, b->length, b->terms->replicas);
  for (uint32_t k = 0; k <= b->terms->replicas; k++) {
    b->share[k] = ms_layout_begin(&axis, k);
    b->made->bounds[k] = range->lo + b->share[k] * range->step;
  }
}

/* Lists the entries by share, each in the given order. */
static int list_entries(builder *b, const uint32_t *order, ms_error *err) {
  const ms_array *array = b->terms->array;
  const int32_t *at = array->coords[b->dim];
  uint32_t replicas = b->terms->replicas;
  int64_t *cursor = calloc((size_t)b->length + 1, sizeof *cursor);
  uint32_t *share_of = calloc((size_t)b->length + 1, sizeof *share_of);
  b->entry = calloc((size_t)b->total + 1, sizeof *b->entry);
  if (cursor == NULL || share_of == NULL || b->entry == NULL) {
    free(cursor);
    free(share_of);
    return out_of_memory(err);
  }
  for (uint32_t k = 0; k < replicas; k++) {
    for (int64_t i = b->made->bounds[k]; i < b->made->bounds[k + 1]; i++) share_of[i - 1] = k;
  }
  memset(b->share, 0, (replicas + (size_t)1) * sizeof *b->share);
  for (int64_t e = 0; e < b->total; e++) b->share[share_of[at[e]] + 1]++;
  for (uint32_t k = 0; k < replicas; k++) b->share[k + 1] += b->share[k];
  memcpy(cursor, b->share, replicas * sizeof *cursor);
  for (int64_t e = 0; e < b->total; e++) {
    uint32_t entry = order != NULL ? order[e] : (uint32_t)e;
    b->entry[cursor[share_of[at[entry]]]++] = entry;
  }
  free(cursor);
  free(share_of);
  return 0;
}

/* Ranges of index values with about equally many entries, as many as there are replicas. */
static int share_entries(builder *b, ms_error *err) {
  const ms_array *array = b->terms->array;
  const int32_t *at = array->coords[b->dim];
  uint32_t replicas = b->terms->replicas;
  int64_t *weights = calloc((size_t)b->length + 1, sizeof *weights);
  if (weights == NULL) return out_of_memory(err);
  for (int64_t e = 0; e < b->total; e++) weights[at[e]]++;
  int64_t ranges = ms_cut_weights(weights, b->length, replicas, b->made->bounds);
  free(weights);
  /* Where a few values have nearly all entries there are fewer ranges: the others are empty. */
  for (uint32_t k = 0; k <= replicas; k++) {
    b->made->bounds[k] = (k < ranges ? b->made->bounds[k] : b->length) + 1;
  }
  uint32_t *order = b->terms->ordered ? ms_index_order(array, err) : NULL;
  if (b->terms->ordered && order == NULL) return -1;
  int failed = list_entries(b, order, err);
  free(order);
  return failed;
}

/* ---- rounds ---- */

static int64_t done_by(const builder *b, uint32_t k) {
  return b->terms->done != NULL ? b->terms->done[k] : 0;
}

/* Iterations of replica k that are still to come. */
static int64_t count_of(const builder *b, uint32_t k) {
  return b->outer * (b->share[k + 1] - b->share[k]) * b->inner - done_by(b, k);
}

/* Where its part of round `round` begins: near-equal parts. */
static int64_t part_of(const builder *b, uint32_t k, uint32_t round) {
  int64_t count = count_of(b, k), rounds = b->made->rounds;
  return count / rounds * round + count % rounds * round / rounds;
}

static int count_rounds(builder *b, ms_error *err) {
  double every = b->terms->every, rounds;
  ms_shares *made = b->made;
  int64_t left = 0;
  made->passes = b->outer;
  for (uint32_t k = 0; k < b->terms->replicas; k++) {
    int64_t rest = count_of(b, k), all = rest + done_by(b, k);
    if (rest < 0) return ms_error_set(err, MS_BUG, "a replica has done more than its share");
    if (all > made->largest) made->largest = all;
    if (rest > left) left = rest;
  }
  if (every < 1) every *= (double)made->largest / (double)b->outer;
  rounds = isinf(every) ? 1 : ceil((double)left / every * (1 - 1e-12));
  if (!(rounds >= 1)) rounds = 1;
  uint32_t most = MS_SHARES_ROUNDS / (b->terms->replicas + 1);
  if (rounds > most) {
    return ms_error_set(err, MS_OPT,
                        "an exchange every %g iterations makes %.0f rounds of this loop, more than "
                        "the %u that there may be with %u replicas",
                        b->terms->every, rounds, most, b->terms->replicas);
  }
  made->rounds = (uint32_t)rounds;
  return 0;
}

static int take_room(builder *b, ms_error *err) {
  ms_shares *made = b->made;
  size_t row = made->replicas + (size_t)1, count = 0, size = 0;
  for (uint32_t k = 0; k < made->replicas; k++) count += (size_t)count_of(b, k);
  made->offsets = ms_store_new(made->rounds * row * sizeof *made->starts, err);
  if (made->offsets == NULL) return -1;
  made->starts = (int64_t *)(void *)ms_segment_block_at(&made->offsets->block);
  made->first = calloc(made->rounds + (size_t)1, sizeof *made->first);
  if (made->first == NULL) return out_of_memory(err);
  for (uint32_t d = 0; d < made->dim_count; d++) {
    made->coord_offset[d] = size;
    size += (count * sizeof(int32_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  made->type = MS_INT32; /* nobody reads the values: coordinates stand in their place */
  made->value_size = sizeof(int32_t);
  if (b->terms->array != NULL) {
    made->type = b->terms->array->type;
    made->version = b->terms->array->version;
    made->value_size = (uint32_t)ms_type_of(made->type)->size;
    made->value_offset = size;
    size += count * made->value_size;
  }
  made->entries = ms_store_new(size + ALIGNMENT, err);
  return made->entries == NULL ? -1 : 0;
}

static void place_rounds(builder *b) {
  ms_shares *made = b->made;
  for (uint32_t t = 0; t < made->rounds; t++) {
    int64_t *start = made->starts + (size_t)t * (made->replicas + (size_t)1), at = 0;
    for (uint32_t k = 0; k < made->replicas; k++) {
      start[k] = at;
      at += part_of(b, k, t + 1) - part_of(b, k, t);
    }
    start[made->replicas] = at;
    made->first[t + 1] = made->first[t] + at;
  }
}

/* ---- iterations ---- */

/* A random permutation of what a share has in a pass (Knuth, 3.4.2, algorithm P). */
static void permute(builder *b, uint32_t k, int64_t pass, int64_t length) {
  uint64_t stream = SHARE_STREAM + (b->terms->pass + (uint64_t)pass);
  for (int64_t i = 0; i < length; i++) b->permutation[i] = i;
  for (int64_t i = length - 1; b->terms->shuffled && i > 0; i--) {
    ms_philox block = ms_philox_at(b->terms->seed, (uint64_t)i, stream * UINT64_C(4099) + k);
    int64_t j = (int64_t)(ms_philox_unit(ms_philox_half(&block, 0)) * (double)(i + 1));
    int64_t kept = b->permutation[i];
    b->permutation[i] = b->permutation[j];
    b->permutation[j] = kept;
  }
}

static int32_t *coords_of(const ms_shares *made, uint32_t dim) {
  char *base = ms_segment_block_at(&made->entries->block);
  return (int32_t *)(void *)(base + made->coord_offset[dim]);
}

/* Puts iteration (pass, value, inner) of ranges to its place. */
static void put_values(const builder *b, int64_t pass, int64_t value, int64_t inner, int64_t to) {
  const ms_shares_terms *terms = b->terms;
  for (uint32_t d = terms->dim_count; d-- > 0;) {
    const ms_range *range = &terms->range[d];
    int64_t ordinal = value, length = ms_axis_length(range);
    if (d > b->dim) {
      ordinal = inner % length;
      inner /= length;
    } else if (d < b->dim) {
      ordinal = pass % length;
      pass /= length;
    }
    coords_of(b->made, d)[to] = (int32_t)(range->lo + ordinal * range->step);
  }
}

static void put_entry(const builder *b, int64_t entry, int64_t to) {
  const ms_array *array = b->terms->array;
  const ms_shares *made = b->made;
  size_t size = made->value_size;
  char *values = (char *)ms_segment_block_at(&made->entries->block) + made->value_offset;
  for (uint32_t d = 0; d < made->dim_count; d++) {
    coords_of(made, d)[to] = array->coords[d][entry] + 1;
  }
  memcpy(values + (size_t)to * size, (const char *)array->data + (size_t)entry * size, size);
}

/* Puts all iterations of replica k to their rounds' places. */
static void put_share(builder *b, uint32_t k) {
  const ms_shares *made = b->made;
  int64_t length = b->share[k + 1] - b->share[k], each = length * b->inner, at = -done_by(b, k);
  uint32_t round = 0;
  for (int64_t pass = 0; each > 0 && pass < b->outer; pass++) {
    permute(b, k, pass, length);
    for (int64_t s = 0; s < each; s++, at++) {
      if (at < 0) continue;
      while (at >= part_of(b, k, round + 1)) round++;
      const int64_t *start = made->starts + (size_t)round * (made->replicas + (size_t)1);
      int64_t to = made->first[round] + start[k] + at - part_of(b, k, round);
      int64_t value = b->share[k] + b->permutation[s / b->inner];
      if (b->entry != NULL) put_entry(b, b->entry[value], to);
      if (b->entry == NULL) put_values(b, pass, value, s % b->inner, to);
    }
  }
}

static int fill(builder *b, ms_error *err) {
  ms_shares *made = b->made;
  size_t row = made->replicas + (size_t)1;
  if (measure(b, err) != 0) return -1;
  made->bounds = calloc(row, sizeof *made->bounds);
  b->share = calloc(row, sizeof *b->share);
  if (made->bounds == NULL || b->share == NULL) return out_of_memory(err);
  if (b->terms->array == NULL) share_values(b);
  if (b->terms->array != NULL && share_entries(b, err) != 0) return -1;
  if (count_rounds(b, err) != 0 || take_room(b, err) != 0) return -1;
  int64_t longest = 0;
  for (uint32_t k = 0; k < made->replicas; k++) {
    if (b->share[k + 1] - b->share[k] > longest) longest = b->share[k + 1] - b->share[k];
  }
  b->permutation = calloc((size_t)longest + 1, sizeof *b->permutation);
  if (b->permutation == NULL) return out_of_memory(err);
  place_rounds(b);
  for (uint32_t k = 0; k < made->replicas; k++) put_share(b, k);
  return 0;
}

ms_shares *ms_shares_new(const ms_shares_terms *terms, ms_error *err) {
  ms_shares *made = calloc(1, sizeof *made);
  if (made == NULL) {
    out_of_memory(err);
    return NULL;
  }
  made->replicas = terms->replicas;
  made->dim_count = terms->dim_count;
  made->dim = ((const ms_verdict *)terms->verdict)->strategy_dim[0];
  builder b = {.terms = terms, .made = made, .dim = made->dim};
  int failed = fill(&b, err);
  free(b.share);
  free(b.entry);
  free(b.permutation);
  if (failed == 0) return made;
  ms_shares_free(made);
  return NULL;
}

void ms_shares_free(ms_shares *shares) {
  if (shares == NULL) return;
  free(shares->bounds);
  free(shares->first);
  if (shares->offsets != NULL) ms_store_release(&shares->offsets);
  if (shares->entries != NULL) ms_store_release(&shares->entries);
  free(shares);
}

/* A partition of rounds' entries that has yet to get its cut and its blocks. */
static ms_partition *entries_of(const ms_shares *shares, uint32_t round, uint32_t count,
                                ms_error *err) {
  size_t first = (size_t)shares->first[round], row = shares->replicas + (size_t)1;
  ms_partition *made = calloc(1, sizeof *made);
  int64_t *bounds = calloc(row, sizeof *bounds);
  if (made == NULL || bounds == NULL) {
    free(made);
    free(bounds);
    out_of_memory(err);
    return NULL;
  }
  memcpy(bounds, shares->bounds, row * sizeof *bounds);
  *made = (ms_partition){.id = ms_partition_number(),
                         .bounds = {bounds},
                         .blocks = (int64_t)count * shares->replicas,
                         .count = shares->first[round + count] - shares->first[round],
                         .type = shares->type,
                         .dim_count = (int32_t)shares->dim_count,
                         .entries = shares->entries,
                         .value_offset = shares->value_offset + first * shares->value_size,
                         .version = shares->version,
                         .references = 1};
  for (uint32_t d = 0; d < shares->dim_count; d++) {
    made->coord_offset[d] = shares->coord_offset[d] + first * sizeof(int32_t);
  }
  ms_store_retain(shares->entries);
  return made;
}

ms_partition *ms_shares_round(const ms_shares *shares, uint32_t round, ms_error *err) {
  ms_partition *made = entries_of(shares, round, 1, err);
  if (made == NULL) return NULL;
  made->cut = made->asked =
      (ms_cut){.count = 1, .dims = {shares->dim}, .ranges = {shares->replicas}};
  made->start = shares->starts + round * (shares->replicas + (size_t)1);
  made->offsets = shares->offsets;
  ms_store_retain(shares->offsets);
  return made;
}

ms_partition *ms_shares_rounds(const ms_shares *shares, uint32_t round, uint32_t count,
                               ms_error *err) {
  size_t replicas = shares->replicas, blocks = count * replicas;
  ms_partition *made = entries_of(shares, round, count, err);
  if (made == NULL) return NULL;
  made->bounds[1] = made->bounds[0];
  made->bounds[0] = calloc(count + (size_t)1, sizeof *made->bounds[0]);
  made->cut = made->asked = (ms_cut){
      .count = 2, .dims = {shares->dim_count, shares->dim}, .ranges = {count, shares->replicas}};
  made->offsets = ms_store_new((blocks + 1) * sizeof *made->start, err);
  if (made->bounds[0] == NULL || made->offsets == NULL) {
    if (made->offsets != NULL) out_of_memory(err);
    ms_partition_release(&made);
    return NULL;
  }
  made->start = (int64_t *)(void *)ms_segment_block_at(&made->offsets->block);
  for (uint32_t t = 0; t <= count; t++) made->bounds[0][t] = (int64_t)t + 1;
  for (size_t b = 0; b < blocks; b++) {
    size_t t = round + b / replicas, place = t * (replicas + 1) + b % replicas;
    made->start[b] = shares->first[t] - shares->first[round] + shares->starts[place];
  }
  made->start[blocks] = made->count;
  return made;
}
