/* SPDX-License-Identifier: MIT
 *
 * Strategies: see strategy.h. Skewing and hyperplanes follow Wolf & Lam (1991) and Lamport (1974);
 * the rotation is the one of Orion (2019) and of the strata of Gemulla et al. (2011). */
#include "depend/strategy.h"

#include "depend/extent.h"
#include "depend/integer.h"
#include "depend/transform_row.h"

bool ms_strategy_may_cut(const ms_patterns *patterns, uint32_t dim) {
  for (uint32_t p = 0; p < patterns->count; p++) {
    if (!ms_distance_is_zero(&patterns->item[p].at[dim])) return false;
  }
  return true;
}

typedef struct query {
  const ms_conflicts *conflicts;
  const ms_patterns *patterns;
  uint32_t dims;
  const ms_strategy_terms *terms;
} query;

static bool try_independent(const query *loop, ms_choice *choice) {
  (void)choice;
  return loop->patterns->count == 0;
}

static bool try_partition(const query *loop, ms_choice *choice) {
  for (uint32_t k = 0; k < loop->dims; k++) {
    if (!ms_strategy_may_cut(loop->patterns, k)) continue;
    choice->dim_count = 1;
    choice->dim[0] = k;
    return true;
  }
  return false;
}

static bool try_skew(const query *loop, ms_choice *choice) {
  int found = ms_transform_row_skew(loop->conflicts, loop->terms->proven, choice->row);
  if (found < 0) choice->sure = false;
  choice->has_row = found > 0;
  return found > 0;
}

/* Every distance is zero in a dimension of the set (a bit mask). */
static bool stratifies(const query *loop, uint32_t set) {
  for (uint32_t p = 0; p < loop->patterns->count; p++) {
    bool zero = false;
    for (uint32_t k = 0; k < loop->dims; k++) {
      zero = zero || ((set >> k & 1) != 0 && ms_distance_is_zero(&loop->patterns->item[p].at[k]));
    }
    if (!zero) return false;
  }
  return true;
}

/* The next larger number with as many bits (Gosper). */
static uint32_t next_subset(uint32_t set) {
  uint32_t low = set & (~set + 1), ripple = set + low;
  return ripple | (((set ^ ripple) / low) >> 2);
}

/* Subsets of one size in the order {0,1}, {0,2}, {1,2}, ...; 0 when none is legal. */
static uint32_t find_strata(const query *loop, uint32_t size) {
  uint32_t best = 0;
  for (uint32_t set = (1U << size) - 1; set < 1U << loop->dims; set = next_subset(set)) {
    if (!stratifies(loop, set)) continue;
    if (best == 0) best = set;
    uint32_t differ = best ^ set; /* the one with the smaller first difference comes first */
    if (differ != 0 && (set & (differ & (~differ + 1))) != 0) best = set;
  }
  return best;
}

static bool try_rotate(const query *loop, ms_choice *choice) {
  if (loop->terms->ordered) return false;
  for (uint32_t size = 2; size <= loop->dims; size++) {
    uint32_t set = find_strata(loop, size);
    if (set == 0) continue;
    for (uint32_t k = 0; k < loop->dims; k++) {
      if ((set >> k & 1) != 0) choice->dim[choice->dim_count++] = k;
    }
    return true;
  }
  return false;
}

static bool never_negative(const query *loop, uint32_t dim) {
  for (uint32_t p = 0; p < loop->patterns->count; p++) {
    if (!ms_distance_is_never_negative(&loop->patterns->item[p].at[dim])) return false;
  }
  return true;
}

static bool try_wavefront(const query *loop, ms_choice *choice) {
  for (uint32_t a = 0; a < loop->dims; a++) {
    for (uint32_t b = a + 1; b < loop->dims; b++) {
      if (!never_negative(loop, a) || !never_negative(loop, b)) continue;
      choice->dim_count = 2;
      choice->dim[0] = a;
      choice->dim[1] = b;
      return true;
    }
  }
  return false;
}

/* Every distance is carried by the first m indices. */
static bool carried_by(const query *loop, uint32_t m) {
  for (uint32_t p = 0; p < loop->patterns->count; p++) {
    bool carried = false;
    for (uint32_t k = 0; k < m; k++)
      carried = carried || ms_distance_is_never_zero(&loop->patterns->item[p].at[k]);
    if (!carried) return false;
  }
  return true;
}

/* What of a sweep runs in parallel: the longest dimension behind the sequential ones. */
static uint32_t longest_from(const query *loop, uint32_t first) {
  uint32_t best = first;
  for (uint32_t k = first + 1; k < loop->dims; k++) {
    if (ms_extent_of(loop->conflicts->domain, k) > ms_extent_of(loop->conflicts->domain, best))
      best = k;
  }
  return best;
}

/* Whether a plane of the row has two iterations that differ in dimension k. */
static bool varies(const query *loop, const int64_t *row, uint32_t k) {
  const ms_domain *domain = loop->conflicts->domain;
  int64_t own = ms_extent_of(domain, k);
  if (row[k] == 0) return own > 1;
  for (uint32_t other = 0; other < loop->dims; other++) {
    if (other == k || row[other] == 0) continue;
    int64_t common = ms_integer_gcd(row[k], row[other]);
    if (ms_integer_absolute(row[other]) / common < own &&
        ms_integer_absolute(row[k]) / common < ms_extent_of(domain, other))
      return true;
  }
  return false;
}

/* The first dimension whose cut leaves several parts of a plane. */
static uint32_t across(const query *loop, const int64_t *row) {
  for (uint32_t k = 0; k < loop->dims; k++) {
    if (varies(loop, row, k)) return k;
  }
  return loop->dims - 1;
}

static bool try_hyperplane(const query *loop, ms_choice *choice) {
  for (uint32_t m = 1; m < loop->dims; m++) {
    if (!carried_by(loop, m)) continue;
    for (uint32_t k = 0; k < m; k++) choice->dim[choice->dim_count++] = k;
    choice->dim[choice->dim_count++] = longest_from(loop, m);
    choice->sequential = m;
    return true;
  }
  int found = ms_transform_row_hyperplane(loop->conflicts, loop->patterns, choice->row);
  if (found < 0) choice->sure = false;
  choice->has_row = found > 0;
  if (found <= 0) return false;
  choice->dim[choice->dim_count++] = across(loop, choice->row);
  choice->sequential = 1;
  return true;
}

/* Rounds, which are the first index, over ranges of another one that no distance crosses, in the
 * same round or between two: the first such dimension that has several values. */
static bool try_rounds(const query *loop, ms_choice *choice) {
  uint32_t best = 0;
  for (uint32_t k = 1; k < loop->dims; k++) {
    if (!ms_strategy_may_cut(loop->patterns, k)) continue;
    bool several = ms_extent_of(loop->conflicts->domain, k) > 1;
    if (best == 0 || several) best = k;
    if (several) break;
  }
  choice->dim_count = 2;
  choice->dim[1] = best;
  choice->sequential = 1;
  return best > 0;
}

/* Where iterations have levels, these are a sweep's sequential axis. */
static bool try_levels(const query *loop, ms_choice *choice) {
  if (!loop->terms->levels || !carried_by(loop, 1)) return false;
  choice->dim[0] = 0;
  choice->dim[1] = longest_from(loop, 1);
  choice->dim_count = 2;
  choice->sequential = 1;
  return true;
}

static const struct {
  ms_strategy strategy;
  bool (*try)(const query *loop, ms_choice *choice);
} classes[] = {
    {MS_LEVELS, try_levels},         {MS_INDEPENDENT, try_independent},
    {MS_PARTITION, try_partition},   {MS_SKEW, try_skew},
    {MS_ROTATE, try_rotate},         {MS_WAVEFRONT, try_wavefront},
    {MS_HYPERPLANE, try_hyperplane}, {MS_ROUNDS, try_rounds},
};

/* Whether this version executes a choice. */
static bool runs(const ms_strategy_terms *terms, const ms_choice *choice) {
  int64_t most = ms_strategy_traits_of(choice->strategy)->most_axes;
  if (!terms->executable) return true;
  if (choice->dim_count > most + choice->sequential) return false;
  if (terms->entries == 0) return true;
  for (uint32_t k = 0; k < choice->dim_count; k++) {
    if (choice->dim[k] >= terms->entries) return false;
  }
  return !choice->has_row;
}

enum { CLASSES = sizeof classes / sizeof classes[0] };

ms_choice ms_strategy_choose(const ms_conflicts *conflicts, const ms_patterns *patterns,
                             const ms_strategy_terms *terms) {
  query loop = {conflicts, patterns, conflicts->domain->dim_count, terms};
  bool sure = true;
  for (uint32_t c = 0; c < CLASSES; c++) {
    if ((classes[c].strategy == MS_ROUNDS) != terms->rounds) continue;
    ms_choice choice = {.strategy = classes[c].strategy, .sure = true};
    bool legal = classes[c].try(&loop, &choice);
    sure = sure && choice.sure;
    if (legal && runs(terms, &choice)) return choice;
  }
  return (ms_choice){.strategy = MS_SERIALLY, .sure = sure};
}
