/* SPDX-License-Identifier: MIT
 *
 * Placement: see placement.h. An array is aligned with a loop dimension when all accesses have, in
 * one array dimension, the same subscript scale * index + offset. */
#include "depend/placement.h"

#include <stdlib.h>
#include <string.h>

#include "depend/extent.h"
#include "depend/mapping.h"
#include "depend/written.h"

/* Which accesses count. */
typedef enum which { ALL, WRITES } which;

/* The subscript is scale * index of `dim` + offset, of the index value. */
static bool is_along(const ms_domain *domain, const ms_subscript *subscript, uint32_t dim,
                     ms_followed *align) {
  if (!subscript->known || subscript->form.at[dim] == 0) return false;
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    if (v != dim && subscript->form.at[v] != 0) return false;
  }
  int64_t step = domain->dim[dim].step, factor = subscript->form.at[dim];
  if (factor % step != 0) return false;
  align->loop_dim = dim;
  align->scale = factor / step;
  align->offset = subscript->form.constant - align->scale * domain->dim[dim].origin;
  return true;
}

static bool same_array(const ms_walk *walk, uint32_t a, uint32_t b) {
  return walk->bindings[a].array == walk->bindings[b].array;
}

/* The access concerns this array: by its own name, or by the storage that it shares. */
static bool concerns(const ms_walk *walk, const ms_access *access, uint32_t binding) {
  if (access->group != walk->groups.of[binding]) return false;
  return walk->groups.overlap[access->group] || same_array(walk, access->binding, binding);
}

static bool align_along(const ms_walk *walk, const ms_domain *domain, uint32_t binding, which ones,
                        uint32_t array_dim, uint32_t loop_dim, ms_followed *align) {
  bool any = false;
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *access = walk->accesses.item[a];
    ms_followed own;
    if (!concerns(walk, access, binding) || (ones == WRITES && !access->write)) continue;
    if (array_dim >= access->subscript_count) return false;
    if (!is_along(domain, &access->subscript[array_dim], loop_dim, &own)) return false;
    if (any && (own.scale != align->scale || own.offset != align->offset)) return false;
    *align = own;
    any = true;
  }
  align->array_dim = array_dim;
  return any;
}

/* The first array dimension that follows the loop dimension in every access that counts. */
static bool find_alignment(const ms_walk *walk, const ms_domain *domain, uint32_t binding,
                           which ones, uint32_t loop_dim, ms_followed *align) {
  const int64_t *dims;
  uint32_t count = ms_mapping_dims(&walk->bindings[binding], &dims);
  for (uint32_t p = 0; p < count && p < MS_MAX_DIMS; p++) {
    if (align_along(walk, domain, binding, ones, p, loop_dim, align)) return true;
  }
  return false;
}

static bool first_of_array(const ms_walk *walk, uint32_t binding) {
  if (walk->groups.of[binding] == MS_NO_GROUP || walk->sliced[binding]) return false;
  for (uint32_t b = 0; b < binding; b++) {
    if (walk->groups.of[b] != MS_NO_GROUP && !walk->sliced[b] && same_array(walk, b, binding))
      return false;
  }
  return true;
}

/* The access goes through a name of this array, or may do so. */
static bool names(const ms_walk *walk, const ms_access *access, uint32_t binding) {
  bool any = walk->groups.overlap[access->group] && access->subscript_count == 0;
  return any || same_array(walk, access->binding, binding);
}

static void find_access(const ms_walk *walk, ms_array_plan *plan) {
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *access = walk->accesses.item[a];
    if (!concerns(walk, access, plan->binding)) continue;
    *(access->write ? &plan->written : &plan->read) = true;
    if (!names(walk, access, plan->binding)) continue;
    *(access->write ? &plan->own_write : &plan->own_read) = true;
  }
}

/* How many written arrays follow a dimension. */
static uint32_t count_aligned(const ms_walk *walk, const ms_domain *domain, uint32_t dim) {
  uint32_t aligned = 0;
  for (uint32_t b = 0; b < walk->binding_count; b++) {
    ms_array_plan plan = {.binding = b};
    ms_followed align;
    if (!first_of_array(walk, b) || walk->bindings[b].buffers != 0) continue;
    find_access(walk, &plan);
    aligned += plan.written && find_alignment(walk, domain, b, ALL, dim, &align);
  }
  return aligned;
}

uint32_t ms_placement_cut(const ms_walk *walk, const ms_domain *domain, const ms_patterns *patterns,
                          uint32_t first, uint32_t end) {
  uint32_t best = first, most = 0;
  for (uint32_t dim = first; dim < end; dim++) {
    uint32_t aligned = ms_strategy_may_cut(patterns, dim) ? count_aligned(walk, domain, dim) : 0;
    if (aligned > most) {
      most = aligned;
      best = dim;
    }
  }
  return best;
}

uint32_t ms_placement_share(const ms_walk *walk, const ms_domain *domain,
                            const ms_patterns *patterns) {
  uint32_t best = domain->dim_count, most = 0;
  int64_t longest = 0;
  for (uint32_t dim = 0; dim < domain->dim_count; dim++) {
    if (!ms_strategy_may_cut(patterns, dim)) continue;
    uint32_t aligned = count_aligned(walk, domain, dim);
    int64_t length = ms_extent_of(domain, dim);
    bool first = best == domain->dim_count;
    if (!first && (aligned < most || (aligned == most && length <= longest))) continue;
    best = dim;
    most = aligned;
    longest = length;
  }
  return best;
}

static void place_along(ms_array_plan *plan, const ms_followed *align, ms_placement placement) {
  plan->placement = placement;
  plan->array_dim = (int32_t)align->array_dim;
  plan->loop_dim = (int32_t)align->loop_dim;
  plan->scale = align->scale;
  plan->offset = align->offset;
}

/* No two iterations in different ranges of the dimension touch one element of the group. */
static bool stays_in(const ms_conflicts *conflicts, uint32_t group, uint32_t dim) {
  const ms_distances *cells = conflicts->group[group];
  for (uint32_t s = 0; cells != NULL && s < cells->slots; s++) {
    if (cells->slot[s].present && cells->slot[s].cell.sign[dim] != 0) return false;
  }
  return true;
}

/* The dimensions along which the blocks of a choice differ while they run, the one whose ranges
 * belong to workers first; returns how many. */
static uint32_t cut_dims(const ms_choice *choice, uint32_t *cuts) {
  const ms_strategy_traits *traits = ms_strategy_traits_of(choice->strategy);
  if (traits->any_axis && !traits->alone) {
    cuts[0] = choice->dim_count > 0 ? choice->dim[0] : 0;
    return 1;
  }
  uint32_t first = traits->sweeps ? choice->dim_count - 1 : 0, count = choice->dim_count - first;
  memcpy(cuts, choice->dim + first, count * sizeof *cuts);
  return count;
}

static void place(const ms_walk *walk, const ms_conflicts *conflicts, const ms_choice *choice,
                  ms_array_plan *plan) {
  uint32_t cuts[MS_MAX_DIMS], group = walk->groups.of[plan->binding];
  if (walk->bindings[plan->binding].buffers != 0) {
    plan->placement = MS_PLACE_REDUCED;
    return;
  }
  uint32_t count = cut_dims(choice, cuts);
  for (uint32_t k = 0; k < count; k++) {
    ms_followed align;
    if (!find_alignment(walk, conflicts->domain, plan->binding, ALL, cuts[k], &align)) continue;
    place_along(plan, &align, k == 0 ? MS_PLACE_LOCAL : MS_PLACE_ROTATED);
    return;
  }
  plan->placement = plan->written ? MS_PLACE_LOCAL : MS_PLACE_BROADCAST;
  if (!plan->written || count == 0) return;
  for (uint32_t k = 0; k < count; k++) {
    if (!stays_in(conflicts, group, cuts[k])) continue;
    plan->placement = k == 0 ? MS_PLACE_LOCAL : MS_PLACE_ROTATED;
    plan->loop_dim = (int32_t)cuts[k];
    return;
  }
  plan->placement = MS_PLACE_HALO;
}

/* Finds what is written, and along which cuts. */
static void find_writes(const ms_walk *walk, const ms_domain *domain, const ms_choice *choice,
                        ms_array_plan *plan) {
  ms_written *writes = &plan->writes;
  uint32_t cuts[MS_MAX_DIMS], count = cut_dims(choice, cuts);
  *writes = (ms_written){.follow_count = 0};
  ms_written_find(walk, domain, plan->binding, concerns, writes);
  for (uint32_t k = 0; k < count; k++) {
    ms_followed *next = &writes->follow[writes->follow_count];
    if (find_alignment(walk, domain, plan->binding, WRITES, cuts[k], next)) writes->follow_count++;
  }
}

int ms_placement_find(const ms_walk *walk, const ms_conflicts *conflicts, const ms_choice *choice,
                      ms_array_plan **arrays, uint32_t *count) {
  *count = 0;
  *arrays = ms_arena_take(walk->arena, walk->binding_count + 1, sizeof **arrays);
  if (*arrays == NULL) return -1;
  for (uint32_t b = 0; b < walk->binding_count; b++) {
    if (!first_of_array(walk, b)) continue;
    ms_array_plan *plan = &(*arrays)[(*count)++];
    *plan = (ms_array_plan){.binding = b,
                            .sparse = walk->bindings[b].sparse,
                            .array_dim = -1,
                            .loop_dim = -1,
                            .scale = 1};
    find_access(walk, plan);
    place(walk, conflicts, choice, plan);
    if (plan->written) find_writes(walk, conflicts->domain, choice, plan);
  }
  return 0;
}

uint32_t *ms_placement_array_of(const ms_walk *walk, const ms_array_plan *arrays, uint32_t count,
                                ms_arena *arena) {
  uint32_t *array_of = ms_arena_take(arena, walk->binding_count + (size_t)1, sizeof *array_of);
  if (array_of == NULL) return NULL;
  for (uint32_t b = 0; b < walk->binding_count; b++) {
    uint32_t a = walk->bindings[b].kind == MS_BIND_ARRAY ? 0 : count;
    while (a < count && !same_array(walk, arrays[a].binding, b)) a++;
    array_of[b] = a < count ? a + 1 : 0;
  }
  return array_of;
}
