/* SPDX-License-Identifier: MIT
 *
 * Distances: see distance.h. */
#include "depend/distance.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "depend/integer.h"

ms_distances *ms_distances_new(ms_arena *arena, uint32_t dim_count) {
  ms_distances *set = ms_arena_take(arena, 1, sizeof *set);
  if (set == NULL) return NULL;
  set->dim_count = dim_count;
  set->slots = 1;
  for (uint32_t k = 0; k < dim_count; k++) set->slots *= 3;
  set->slot = ms_arena_take(arena, set->slots, sizeof *set->slot);
  return set->slot == NULL ? NULL : set;
}

/* The place of the first non-zero sign gives the order of the two iterations. */
static int order_of(const ms_cell *cell, uint32_t dim_count) {
  for (uint32_t k = 0; k < dim_count; k++) {
    if (cell->sign[k] != 0) return cell->sign[k];
  }
  return 0;
}

static void turn_round(ms_cell *cell, uint32_t dim_count) {
  for (uint32_t k = 0; k < dim_count; k++) {
    cell->sign[k] = (int8_t)-cell->sign[k];
    cell->value[k] = -cell->value[k];
  }
}

/* How telling a pair is: proven before possible; a write then a read, a read then a write, two
 * writes. */
static uint32_t rank_of(const ms_access *earlier, const ms_access *later, bool proven) {
  uint32_t rank = proven ? 0 : 4;
  if (earlier->write && later->write) return rank + 2;
  return rank + (earlier->write ? 0 : 1);
}

uint32_t ms_meeting_rank(const ms_meeting *meeting) {
  return rank_of(meeting->earlier, meeting->later, meeting->proven);
}

void ms_distances_add(ms_distances *set, const ms_cell *cell, const ms_access *a,
                      const ms_access *b, bool proven) {
  ms_cell positive = *cell;
  int order = order_of(cell, set->dim_count);
  if (order == 0) return;
  if (order < 0) turn_round(&positive, set->dim_count);
  uint32_t slot = 0;
  for (uint32_t k = 0; k < set->dim_count; k++) slot = slot * 3 + (uint32_t)(positive.sign[k] + 1);
  ms_meeting *meeting = &set->slot[slot];
  const ms_access *earlier = order > 0 ? a : b, *later = order > 0 ? b : a;
  bool fresh = !meeting->present;
  if (fresh || rank_of(earlier, later, proven) <
                   rank_of(meeting->earlier, meeting->later, meeting->proven)) {
    meeting->proven = proven;
    meeting->earlier = earlier;
    meeting->later = later;
  }
  for (uint32_t k = 0; k < set->dim_count; k++) {
    int64_t length = positive.fixed[k] ? ms_integer_absolute(positive.value[k]) : INT64_MAX;
    if (fresh || length > meeting->most[k]) meeting->most[k] = length;
  }
  if (fresh) {
    meeting->present = true;
    meeting->cell = positive;
    set->count++;
    return;
  }
  for (uint32_t k = 0; k < set->dim_count; k++) {
    meeting->cell.fixed[k] =
        meeting->cell.fixed[k] && positive.fixed[k] && meeting->cell.value[k] == positive.value[k];
  }
}

ms_furthest ms_distances_furthest(const ms_distances *set) {
  ms_furthest furthest = {{0}, {0}};
  for (uint32_t s = 0; s < set->slots; s++) {
    const ms_meeting *meeting = &set->slot[s];
    for (uint32_t k = 0; meeting->present && k < set->dim_count; k++) {
      int64_t *side = meeting->cell.sign[k] > 0 ? &furthest.down[k] : &furthest.up[k];
      if (meeting->most[k] > *side) *side = meeting->most[k];
    }
  }
  return furthest;
}

bool ms_distance_is_zero(const ms_component *component) {
  return component->sign == 'n' && component->value == 0;
}

bool ms_distance_is_never_negative(const ms_component *component) {
  return component->sign == '+' || (component->sign == 'n' && component->value >= 0);
}

bool ms_distance_is_never_zero(const ms_component *component) {
  return component->sign == '+' || component->sign == '-' ||
         (component->sign == 'n' && component->value != 0);
}

static ms_distance pattern_of(const ms_cell *cell, uint32_t dim_count) {
  ms_distance pattern;
  for (uint32_t k = 0; k < MS_MAX_DIMS; k++) pattern.at[k] = (ms_component){'n', 0};
  for (uint32_t k = 0; k < dim_count; k++) {
    if (cell->fixed[k]) {
      pattern.at[k].value = cell->value[k];
    } else {
      pattern.at[k].sign = cell->sign[k] > 0 ? '+' : '-';
    }
  }
  return pattern;
}

/* '*', '+', '-', then integers. */
static int compare_patterns(const void *left, const void *right) {
  const ms_distance *a = left, *b = right;
  for (uint32_t k = 0; k < MS_MAX_DIMS; k++) {
    const ms_component *x = &a->at[k], *y = &b->at[k];
    if (x->sign != y->sign) {
      if (x->sign == 'n' || y->sign == 'n') return x->sign == 'n' ? 1 : -1;
      return x->sign < y->sign ? -1 : 1;
    }
    if (x->sign == 'n' && x->value != y->value) return x->value < y->value ? -1 : 1;
  }
  return 0;
}

/* Patterns with a hash index, while '*' patterns are being added. */
typedef struct closure {
  ms_arena *arena;
  ms_distance *item;
  bool *covered;
  uint32_t count, capacity, dim_count;
  uint32_t *index; /* item number + 1, open addressing, twice the capacity */
} closure;

static uint32_t slot_of(const closure *all, const ms_distance *pattern) {
  uint64_t hash = MS_HASH_EMPTY;
  for (uint32_t k = 0; k < all->dim_count; k++) {
    hash = ms_hash_word(hash, (unsigned char)pattern->at[k].sign);
    hash = ms_hash_word(hash, (uint64_t)pattern->at[k].value);
  }
  uint32_t size = all->capacity * 2, slot = (uint32_t)((hash ^ hash >> 32) % size);
  while (all->index[slot] != 0 && compare_patterns(&all->item[all->index[slot] - 1], pattern) != 0)
    slot = (slot + 1) % size;
  return slot;
}

static int64_t find(const closure *all, const ms_distance *pattern) {
  return (int64_t)all->index[slot_of(all, pattern)] - 1;
}

static int grow(closure *all) {
  closure old = *all;
  all->capacity = old.capacity * 2;
  all->item = ms_arena_take(all->arena, all->capacity, sizeof *all->item);
  all->covered = ms_arena_take(all->arena, all->capacity, sizeof *all->covered);
  all->index = ms_arena_take(all->arena, (size_t)all->capacity * 2, sizeof *all->index);
  if (all->item == NULL || all->covered == NULL || all->index == NULL) return -1;
  for (uint32_t p = 0; p < old.count; p++) {
    all->item[p] = old.item[p];
    all->covered[p] = old.covered[p];
    all->index[slot_of(all, &all->item[p])] = p + 1;
  }
  return 0;
}

static int insert(closure *all, const ms_distance *pattern) {
  if (all->count == all->capacity && grow(all) != 0) return -1;
  uint32_t slot = slot_of(all, pattern);
  if (all->index[slot] != 0) return 0;
  all->item[all->count] = *pattern;
  all->index[slot] = ++all->count;
  return 0;
}

/* Merges item p with its '-' and 0 partners in component k, if it is the '+' of the three. */
static int merge(closure *all, uint32_t p, uint32_t k) {
  ms_distance pattern = all->item[p];
  if (pattern.at[k].sign != '+') return 0;
  pattern.at[k] = (ms_component){'-', 0};
  int64_t minus = find(all, &pattern);
  pattern.at[k] = (ms_component){'n', 0};
  int64_t zero = find(all, &pattern);
  if (minus < 0 || zero < 0) return 0;
  all->covered[p] = all->covered[minus] = all->covered[zero] = true;
  pattern.at[k] = (ms_component){'*', 0};
  return insert(all, &pattern);
}

/* One cell a sign vector means that no two first patterns cover each other; only merged patterns
 * cover, and they cover what they were merged from. So marking those is all that there is to drop.
 * Items are appended while the loop runs and are met in turn; a merge of which the last part is
 * appended late is found when the passes repeat. */
static int close_patterns(closure *all) {
  uint32_t before;
  do {
    before = all->count;
    for (uint32_t p = 0; p < all->count; p++) {
      for (uint32_t k = 0; k < all->dim_count; k++) {
        if (merge(all, p, k) != 0) return -1;
      }
    }
  } while (all->count != before);
  return 0;
}

int ms_distances_patterns(const ms_distances *set, ms_arena *arena, ms_patterns *patterns) {
  closure all = {.arena = arena, .dim_count = set->dim_count, .capacity = 8};
  if (grow(&all) != 0) return -1;
  for (uint32_t s = 0; s < set->slots; s++) {
    if (!set->slot[s].present) continue;
    ms_distance pattern = pattern_of(&set->slot[s].cell, set->dim_count);
    if (insert(&all, &pattern) != 0) return -1;
  }
  if (close_patterns(&all) != 0) return -1;
  patterns->count = 0;
  patterns->item = all.item;
  for (uint32_t p = 0; p < all.count; p++) {
    if (!all.covered[p]) patterns->item[patterns->count++] = all.item[p];
  }
  qsort(patterns->item, patterns->count, sizeof *patterns->item, compare_patterns);
  return 0;
}
