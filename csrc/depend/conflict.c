/* SPDX-License-Identifier: MIT
 *
 * Conflicts: see conflict.h. */
#include "depend/conflict.h"

#include <string.h>

#include "depend/quadratic_branch.h"

/* Two thousand accesses to one array; beyond, the answer is unknown. Most pairs take under 1 us. */
#define MAX_PAIRS 2000000U

static bool empty_domain(const ms_domain *domain) {
  for (uint32_t k = 0; k < domain->dim_count; k++) {
    if (domain->dim[k].box && domain->dim[k].extent <= 0) return true;
  }
  return false;
}

static bool meets_elsewhere(const ms_relation *relation, uint32_t dim_count) {
  for (uint32_t c = 0; c < relation->count; c++) {
    for (uint32_t k = 0; k < dim_count; k++) {
      if (relation->cell[c].sign[k] != 0) return true;
    }
  }
  return false;
}

static int keep_pair(ms_conflicts *conflicts, const ms_pair *pair) {
  ms_arena *arena = ms_solver_arena(conflicts->solver);
  uint32_t count = conflicts->pair_count;
  if (count == 0 || (count >= 8 && (count & (count - 1)) == 0)) {
    ms_pair *grown = ms_arena_take(arena, count == 0 ? 8 : (size_t)count * 2, sizeof *grown);
    if (grown == NULL) return -1;
    if (count > 0) memcpy(grown, conflicts->pair, count * sizeof *grown);
    conflicts->pair = grown;
  }
  conflicts->pair[conflicts->pair_count++] = *pair;
  return 0;
}

/* Where accesses differ in nothing that a relation depends on, as a read and a write of one element
 * do, their relations are one: kept for so many kinds of accesses. */
#define MOST_KINDS 16

typedef struct kinds {
  uint32_t count;
  const ms_access *first[MOST_KINDS];
  struct {
    bool found, measured;
    ms_relation relation;
    int reach;
  } between[MOST_KINDS][MOST_KINDS];
} kinds;

/* The number of an access's kind; MOST_KINDS when there are too many. */
static uint32_t kind_of(kinds *known, const ms_access *access) {
  uint32_t k = 0;
  while (k < known->count && !ms_access_same_elements(known->first[k], access)) k++;
  if (k < known->count || k == MOST_KINDS) return k;
  known->first[known->count++] = access;
  for (uint32_t other = 0; other < known->count; other++) {
    known->between[k][other].found = known->between[other][k].found = false;
    known->between[k][other].measured = known->between[other][k].measured = false;
  }
  return k;
}

/* As ms_relation_solve. */
static int solve(ms_conflicts *conflicts, kinds *known, const ms_pair *pair,
                 ms_relation *relation) {
  uint32_t a = kind_of(known, pair->a), b = kind_of(known, pair->b);
  bool keep = a < MOST_KINDS && b < MOST_KINDS;
  if (keep && known->between[a][b].found) {
    *relation = known->between[a][b].relation;
    return 0;
  }
  if (ms_relation_solve(conflicts->solver, conflicts->domain, pair->a, pair->b, relation) != 0) {
    return -1;
  }
  if (keep) {
    known->between[a][b].found = true;
    known->between[a][b].relation = *relation;
  }
  return 0;
}

/* Keeps a pair that meets in iterations of different levels, whatever the relation says. */
static int add_levels(ms_conflicts *conflicts, const ms_pair *pair) {
  uint32_t dim_count = conflicts->domain->dim_count, cells = 1;
  ms_distances **group = &conflicts->group[pair->a->group];
  if (*group == NULL) *group = ms_distances_new(ms_solver_arena(conflicts->solver), dim_count);
  if (*group == NULL) return -1;
  for (uint32_t k = 1; k < dim_count; k++) cells *= 3;
  for (uint32_t c = 0; c < cells; c++) {
    ms_cell cell = {.sign = {1}};
    uint32_t rest = c;
    for (uint32_t k = 1; k < dim_count; k++) {
      cell.sign[k] = (int8_t)((int)(rest % 3) - 1);
      cell.fixed[k] = cell.sign[k] == 0;
      rest /= 3;
    }
    ms_distances_add(*group, &cell, pair->a, pair->b, false);
    ms_distances_add(conflicts->all, &cell, pair->a, pair->b, false);
  }
  return keep_pair(conflicts, pair);
}

/* Keeps a pair that meets as the relation says, if that is in different iterations. */
static int add_met(ms_conflicts *conflicts, const ms_pair *pair, const ms_relation *met) {
  const ms_relation relation = *met;
  uint32_t dim_count = conflicts->domain->dim_count;
  if (!meets_elsewhere(&relation, dim_count)) return 0;
  if (conflicts->assumes == MS_ASSUME_LEVELS) return add_levels(conflicts, pair);
  bool lifted = conflicts->assumes == MS_ASSUME_INDEPENDENT && !pair->proven;
  ms_distances **group = &(lifted ? conflicts->assumed : conflicts->group)[pair->a->group];
  if (*group == NULL) *group = ms_distances_new(ms_solver_arena(conflicts->solver), dim_count);
  if (*group == NULL) return -1;
  for (uint32_t c = 0; c < relation.count; c++) {
    const ms_cell *cell = &relation.cell[c];
    ms_distances_add(*group, cell, pair->a, pair->b, pair->proven);
    if (lifted) continue;
    ms_distances_add(conflicts->all, cell, pair->a, pair->b, pair->proven);
    if (pair->proven) ms_distances_add(conflicts->proven, cell, pair->a, pair->b, true);
  }
  return lifted ? 0 : keep_pair(conflicts, pair);
}

/* The pair's accesses as they are: subscripts that are not known as forms may be equal. */
static int add_plain(ms_conflicts *conflicts, kinds *known, const ms_pair *pair) {
  ms_relation relation;
  conflicts->known = solve(conflicts, known, pair, &relation) == 0;
  return conflicts->known ? add_met(conflicts, pair, &relation) : 0;
}

/* As ms_quadratic_branch_reach. */
static int reach_of(ms_conflicts *conflicts, kinds *known, const ms_pair *pair) {
  uint32_t a = kind_of(known, pair->a), b = kind_of(known, pair->b);
  bool keep = a < MOST_KINDS && b < MOST_KINDS;
  if (keep && known->between[a][b].measured) return known->between[a][b].reach;
  int reach = ms_quadratic_branch_reach(conflicts->solver, conflicts->domain, pair->a, pair->b);
  if (keep) {
    known->between[a][b].measured = true;
    known->between[a][b].reach = reach;
  }
  return reach;
}

/* A pair with subscripts that are not known as forms. */
static int add_branches(ms_conflicts *conflicts, kinds *known, const ms_pair *pair) {
  ms_quadratic_branch branch[MS_MOST_BRANCHES];
  int reach = reach_of(conflicts, known, pair), count = -1;
  if (reach != MS_REACH_UNKNOWN)
    count = ms_quadratic_branches_make(conflicts->solver, conflicts->domain, pair->a, pair->b,
                                       reach, branch);
  if (count < 0) {
    const ms_pair possible = {pair->a, pair->b, false};
    return add_plain(conflicts, known, &possible);
  }
  for (int k = 0; k < count; k++) {
    const ms_pair each = {branch[k].a, branch[k].b, pair->proven};
    ms_relation relation;
    conflicts->known =
        ms_relation_solve(conflicts->solver, conflicts->domain, each.a, each.b, &relation) == 0;
    if (!conflicts->known) return 0;
    if (add_met(conflicts, &each, &relation) != 0) return -1;
  }
  return 0;
}

static int add_pair(ms_conflicts *conflicts, kinds *known, const ms_pair *pair) {
  if (ms_quadratic_branch_is_affine(pair->a, pair->b)) return add_plain(conflicts, known, pair);
  if (conflicts->domain->steady == NULL) return add_branches(conflicts, known, pair);
  conflicts->known = false; /* brackets have no steady variable */
  return 0;
}

/* Adds the pairs of proven accesses, or all other pairs. */
static int add_pairs(ms_conflicts *conflicts, kinds *known, const ms_accesses *accesses,
                     bool proven, uint32_t *tried) {
  for (uint32_t a = 0; a < accesses->count; a++) {
    for (uint32_t b = a; b < accesses->count && conflicts->known; b++) {
      ms_pair pair = {accesses->item[a], accesses->item[b], false};
      pair.proven = !pair.a->possible && !pair.b->possible;
      if (pair.proven != proven || pair.a->group != pair.b->group || pair.a->pending) continue;
      if (!pair.a->write && !pair.b->write) continue;
      if (++*tried > MAX_PAIRS) conflicts->known = false;
      if (conflicts->known && add_pair(conflicts, known, &pair) != 0) return -1;
    }
  }
  return 0;
}

int ms_conflicts_find(ms_conflicts *conflicts, ms_solver *solver, const ms_domain *domain,
                      const ms_accesses *accesses, uint32_t group_count, ms_assumption assumes) {
  ms_arena *arena = ms_solver_arena(solver);
  *conflicts =
      (ms_conflicts){.domain = domain, .solver = solver, .known = true, .assumes = assumes};
  conflicts->group_count = group_count;
  conflicts->all = ms_distances_new(arena, domain->dim_count);
  conflicts->proven = ms_distances_new(arena, domain->dim_count);
  conflicts->group = ms_arena_take(arena, group_count + 1, sizeof(ms_distances *));
  conflicts->assumed = ms_arena_take(arena, group_count + 1, sizeof(ms_distances *));
  if (conflicts->all == NULL || conflicts->proven == NULL || conflicts->group == NULL ||
      conflicts->assumed == NULL)
    return -1;
  if (empty_domain(domain)) return 0;
  uint32_t tried = 0;
  kinds known;
  known.count = 0;
  if (add_pairs(conflicts, &known, accesses, true, &tried) != 0) return -1;
  bool complete = conflicts->known;
  if (add_pairs(conflicts, &known, accesses, false, &tried) != 0) return -1;
  if (assumes == MS_ASSUME_INDEPENDENT)
    conflicts->known = complete; /* whatever these are is the user's word */
  return 0;
}
