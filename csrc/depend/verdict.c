/* SPDX-License-Identifier: MIT
 *
 * Verdict: see verdict.h. The stages in their order: domain, accesses, scalars, conflicts,
 * patterns, strategy, placements, reasons. */
#include "depend/verdict.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "depend/buffered.h"
#include "depend/entry.h"
#include "depend/explain.h"
#include "depend/extent.h"
#include "depend/inspector.h"
#include "depend/placement.h"
#include "depend/round.h"
#include "depend/scalar.h"
#include "depend/space.h"
#include "depend/walk.h"

/* Bounds the memory of one verdict; most plans are small, and many are kept. */
#define ARENA_LIMIT ((size_t)64 << 20)
#define ARENA_CHUNK ((size_t)1024)

static atomic_uint_fast64_t last_id;

/* All that lives only while a verdict is made. */
typedef struct work {
  ms_walk walk;
  ms_domain domain;
  ms_node *body;
  ms_solver *solver;
  ms_conflicts conflicts;
  ms_patterns all, proven;
  ms_scalar_plan *scalars;
  ms_array_plan *arrays;
  ms_reasons reasons;
} work;

/* Dimensions that only cuts between entries can cut. */
static uint32_t entries_of(const work *now) {
  const ms_space *space = now->walk.space;
  return space->sparse && space->source != -1 ? space->dim_count : 0;
}

/* Whether blocks are ranges of one dimension, which no distance crosses. */
static bool cuts_one(const ms_choice *choice) {
  return choice->dim_count == 1 && choice->sequential == 0 && !choice->has_row;
}

/* Whether the body uses replicas. */
static bool has_replicas(const work *now) {
  for (uint32_t b = 0; b < now->walk.binding_count; b++) {
    if (now->walk.bindings[b].replica || now->walk.bindings[b].owned) return true;
  }
  return false;
}

/* A loop over replicas is shared out along a dimension that no distance crosses, or it is not run.
 */
static ms_choice share_out(const work *now) {
  uint32_t dim = ms_placement_share(&now->walk, &now->domain, &now->all);
  if (dim == now->domain.dim_count) return (ms_choice){.strategy = MS_SERIALLY};
  return (ms_choice){.strategy = MS_PARTITION, .sure = true, .dim_count = 1, .dim = {dim}};
}

/* What the distances allow to run. */
static ms_choice choose(const work *now, ms_strategy_terms *terms) {
  *terms = (ms_strategy_terms){.ordered = now->walk.space->ordered,
                               .rounds = now->walk.space->rounds,
                               .levels = now->walk.space->assumes == MS_ASSUME_LEVELS,
                               .executable = true,
                               .entries = entries_of(now)};
  if (has_replicas(now)) return share_out(now);
  ms_choice choice = ms_strategy_choose(&now->conflicts, &now->all, terms);
  uint32_t cuttable = entries_of(now);
  if (cuts_one(&choice))
    choice.dim[0] = ms_placement_cut(&now->walk, &now->domain, &now->all, choice.dim[0],
                                     cuttable > 0 ? cuttable : now->domain.dim_count);
  return choice;
}

/* Whether blocks of an ordered loop do not go through it one after the other: are anything but
 * ranges of the outermost index, or of a round. */
static bool is_scattered(const work *now) {
  ms_strategy_terms terms;
  if (!now->walk.space->ordered || now->domain.dim_count == 1) return false;
  ms_choice choice = choose(now, &terms);
  if (ms_strategy_traits_of(choice.strategy)->any_axis) return false;
  if (choice.strategy == MS_ROUNDS) return ms_extent_is_long(&now->domain, 1, choice.dim[1]);
  return !cuts_one(&choice) || choice.dim[0] != 0;
}

/* Chooses among what the distances allow, and says how sure a refusal is. */
static void decide(work *now, ms_verdict *verdict, ms_choice *choice, bool *not_run) {
  bool refused = !now->conflicts.known, proven = false;
  for (uint32_t f = 0; f < now->walk.finding_count; f++) {
    if (!ms_finding_refuses(&now->walk.findings[f])) continue;
    refused = true;
    proven = proven || now->walk.findings[f].proven;
  }
  ms_strategy_terms terms;
  *choice = choose(now, &terms);
  terms.executable = false;
  *not_run = false;
  if (choice->strategy == MS_SERIALLY && !has_replicas(now)) {
    *choice = ms_strategy_choose(&now->conflicts, &now->all, &terms);
    *not_run = choice->strategy != MS_SERIALLY;
  }
  verdict->decision = MS_PARALLEL;
  verdict->strategy = choice->strategy;
  if (!refused && choice->strategy != MS_SERIALLY && !*not_run) return;
  verdict->strategy = MS_SERIALLY;
  verdict->decision = MS_UNKNOWN;
  if (proven) verdict->decision = MS_SERIAL;
  if (choice->strategy != MS_SERIALLY || !choice->sure) return;
  terms.proven = true;
  ms_choice certain = ms_strategy_choose(&now->conflicts, &now->proven, &terms);
  if (certain.strategy == MS_SERIALLY && certain.sure) verdict->decision = MS_SERIAL;
}

/* What an ordered loop could run as without its order; serially if it has none. */
static ms_choice unordered_choice(const work *now) {
  const ms_strategy_terms terms = {.executable = true, .entries = entries_of(now)};
  const ms_space *space = now->walk.space;
  if (!space->ordered || space->rounds) return (ms_choice){.strategy = MS_SERIALLY};
  return ms_strategy_choose(&now->conflicts, &now->all, &terms);
}

/* What needs no order is cheaper than what keeps it and waits: a wavefront or a sweep. */
static int explain_order(const work *now, const ms_explainer *explainer,
                         const ms_verdict *verdict) {
  if (!ms_strategy_waits(verdict->strategy)) return 0;
  ms_choice choice = unordered_choice(now);
  return ms_strategy_traits_of(choice.strategy)->unordered ? ms_explain_order(explainer, &choice)
                                                           : 0;
}

/* Whether a refused loop would run with the numeric loop directly inside of it taken in. */
static bool would_collapse(const work *now) {
  ms_space space = *now->walk.space;
  ms_error ignored;
  if (!space.ordered || space.rounds || space.sparse || space.collapse != 1) return false;
  if (space.dim_count == MS_MAX_DIMS) return false;
  space.collapse = 2;
  ms_verdict *nest =
      ms_verdict_new(now->walk.loop, now->walk.bindings, now->walk.binding_count, &space, &ignored);
  bool runs = nest != NULL && nest->decision == MS_PARALLEL;
  ms_verdict_destroy(&nest);
  return runs;
}

static int explain(work *now, ms_verdict *verdict, const ms_choice *choice, bool not_run) {
  ms_explainer explainer = {&now->walk, &now->conflicts, verdict->arena, &now->reasons,
                            false,      false,           false};
  if (ms_explain_findings(&explainer) != 0) return -1;
  bool conflicting = choice->strategy == MS_SERIALLY || not_run || !now->conflicts.known;
  if (conflicting) {
    bool unordered = unordered_choice(now).strategy != MS_SERIALLY;
    explainer.provable = verdict->decision == MS_UNKNOWN && !not_run && now->conflicts.known;
    explainer.hopeless = !not_run && !unordered;
    explainer.collapses = would_collapse(now);
    if (not_run && ms_explain_not_run(&explainer, choice, unordered) != 0) return -1;
    if (ms_explain_conflicts(&explainer, unordered) != 0) return -1;
  }
  if (ms_explain_assumed(&explainer) != 0) return -1;
  if (explain_order(now, &explainer, verdict) != 0) return -1;
  verdict->reasons = now->reasons.item;
  verdict->reason_count = now->reasons.count;
  return 0;
}

/* The walk's memory goes with the solver: what the verdict keeps of it. */
static int copy_scalars(const work *now, ms_verdict *verdict) {
  const ms_scalar_plan *found = now->scalars;
  verdict->scalars =
      ms_arena_take(verdict->arena, verdict->scalar_count + 1, sizeof *verdict->scalars);
  if (verdict->scalars == NULL) return -1;
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    verdict->scalars[s] = found[s];
    if (found[s].indices == NULL) continue;
    verdict->scalars[s].indices =
        ms_arena_copy(verdict->arena, found[s].indices, strlen(found[s].indices));
    if (verdict->scalars[s].indices == NULL) return -1;
  }
  return 0;
}

static int copy_arrays(const work *now, ms_verdict *verdict) {
  verdict->arrays =
      ms_arena_take(verdict->arena, verdict->array_count + 1, sizeof *verdict->arrays);
  if (verdict->arrays == NULL) return -1;
  for (uint32_t a = 0; a < verdict->array_count; a++) verdict->arrays[a] = now->arrays[a];
  verdict->binding_count = now->walk.binding_count;
  verdict->array_of =
      ms_placement_array_of(&now->walk, verdict->arrays, verdict->array_count, verdict->arena);
  return verdict->array_of == NULL ? -1 : 0;
}

/* Finds out which arrays can be served, if the loop is going to run. */
static int serve(work *now, ms_verdict *verdict) {
  const char *text = NULL;
  if (verdict->strategy == MS_SERIALLY || has_replicas(now)) return 0;
  if (ms_inspector_find(&now->walk, now->arrays, verdict->array_count, &text) != 0) return -1;
  if (text == NULL) return 0;
  verdict->prefetch = ms_arena_copy(verdict->arena, text, strlen(text));
  return verdict->prefetch == NULL ? -1 : 0;
}

static int copy_patterns(work *now, ms_verdict *verdict) {
  verdict->distance_count = now->all.count;
  verdict->furthest = ms_distances_furthest(now->conflicts.all);
  verdict->distances =
      ms_arena_take(verdict->arena, now->all.count + 1, sizeof *verdict->distances);
  if (verdict->distances == NULL) return -1;
  for (uint32_t p = 0; p < now->all.count; p++) verdict->distances[p] = now->all.item[p];
  return 0;
}

static int copy_domain(work *now, ms_verdict *verdict) {
  verdict->dim_count = now->domain.dim_count;
  for (uint32_t k = 0; k < verdict->dim_count; k++) {
    verdict->index_name[k] = ms_arena_format(verdict->arena, "%s", now->domain.dim[k].name);
    if (verdict->index_name[k] == NULL) return -1;
    ms_extent_describe(&now->domain, k, &verdict->extent[k]);
  }
  return 0;
}

static void copy_choice(ms_verdict *verdict, const ms_choice *choice) {
  if (verdict->strategy == MS_SERIALLY) return;
  verdict->strategy_dims = choice->dim_count;
  memcpy(verdict->strategy_dim, choice->dim, sizeof choice->dim);
  verdict->sequential = choice->sequential;
  verdict->has_row = choice->has_row;
  memcpy(verdict->row, choice->row, sizeof choice->row);
}

/* Whether the walk found something that no strategy can run. */
static bool is_refused(const work *now) {
  for (uint32_t f = 0; f < now->walk.finding_count; f++) {
    if (ms_finding_refuses(&now->walk.findings[f])) return true;
  }
  return false;
}

static int copy_collisions(const ms_collisions *found, ms_verdict *verdict) {
  ms_collisions *kept = ms_arena_take(verdict->arena, 1, sizeof *kept);
  if (kept == NULL) return -1;
  *kept = *found;
  const char **texts[] = {&kept->stores, &kept->looks, &kept->levels};
  for (uint32_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
    if (*texts[t] == NULL) continue;
    *texts[t] = ms_arena_copy(verdict->arena, *texts[t], strlen(*texts[t]));
    if (*texts[t] == NULL) return -1;
  }
  verdict->collisions = kept;
  return 0;
}

/* Where nothing but possible collisions keeps the loop from running: how to find out whether there
 * are any, and, where it has an order, which iterations have to wait for which. */
static int inspect(const work *now, ms_verdict *verdict) {
  work lifted = *now;
  ms_strategy_terms terms;
  ms_collisions found = {.count = 0};
  if (verdict->decision != MS_UNKNOWN || !now->conflicts.known || is_refused(now)) return 0;
  uint32_t groups = now->walk.groups.count;
  bool *possible = ms_arena_take(now->walk.arena, groups + 1, sizeof *possible);
  bool *any = ms_arena_take(now->walk.arena, groups + 1, sizeof *any);
  if (possible == NULL || any == NULL ||
      ms_conflicts_find(&lifted.conflicts, now->solver, &now->domain, &now->walk.accesses, groups,
                        MS_ASSUME_INDEPENDENT) != 0 ||
      ms_distances_patterns(lifted.conflicts.all, now->walk.arena, &lifted.all) != 0)
    return -1;
  if (!lifted.conflicts.known) return 0;
  for (uint32_t g = 0; g < groups; g++) {
    possible[g] = lifted.conflicts.assumed[g] != NULL;
    any[g] = now->conflicts.group[g] != NULL;
  }
  bool runs = choose(&lifted, &terms).strategy != MS_SERIALLY, ordered = now->walk.space->ordered;
  if (runs && ms_inspector_collisions(&lifted.walk, possible, &found) != 0) return -1;
  if (ordered && ms_inspector_levels(&lifted.walk, any, &found) != 0) return -1;
  return found.stores == NULL && found.levels == NULL ? 0 : copy_collisions(&found, verdict);
}

/* What rounds read of other ranges, if they are going to run. */
static int find_reads(work *now, uint32_t cut, ms_verdict *verdict) {
  ms_round_read *found;
  uint32_t count;
  if (verdict->strategy != MS_ROUNDS) return 0;
  if (ms_rounds_find(&now->walk, now->solver, &now->domain, cut, &found, &count) != 0) return -1;
  verdict->round_reads = ms_arena_take(verdict->arena, count + 1, sizeof *found);
  if (verdict->round_reads == NULL) return -1;
  memcpy(verdict->round_reads, found, count * sizeof *found);
  verdict->round_read_count = count;
  return 0;
}

/* Everything after the domain; -1 only when memory is out. */
static int analyse(work *now, ms_verdict *verdict) {
  ms_walk *walk = &now->walk;
  ms_arena *scratch = ms_solver_arena(now->solver);
  ms_choice choice;
  bool not_run;
  if (ms_walk_body(walk, now->body) != 0) return -1;
  ms_buffered_find(walk);
  if (ms_entry_read(walk) != 0) return -1;
  if (ms_conflicts_find(&now->conflicts, now->solver, &now->domain, &walk->accesses,
                        walk->groups.count, walk->space->assumes) != 0)
    return -1;
  if (ms_distances_patterns(now->conflicts.all, scratch, &now->all) != 0) return -1;
  if (ms_distances_patterns(now->conflicts.proven, scratch, &now->proven) != 0) return -1;
  walk->scattered = is_scattered(now);
  if (ms_scalars_find(walk, now->body, &now->scalars, &verdict->scalar_count) != 0) return -1;
  bool rounds = walk->space->rounds;
  if (rounds && ms_rounds_check(walk, now->solver, &now->domain) != 0) return -1;
  decide(now, verdict, &choice, &not_run);
  if (rounds && find_reads(now, choice.dim[1], verdict) != 0) return -1;
  if (copy_patterns(now, verdict) != 0 || copy_domain(now, verdict) != 0) return -1;
  copy_choice(verdict, &choice);
  ms_choice placed = choice;
  if (verdict->strategy == MS_SERIALLY) placed = (ms_choice){.strategy = MS_SERIALLY};
  if (ms_placement_find(walk, &now->conflicts, &placed, &now->arrays, &verdict->array_count) != 0)
    return -1;
  if (serve(now, verdict) != 0 || inspect(now, verdict) != 0) return -1;
  if (copy_scalars(now, verdict) != 0 || copy_arrays(now, verdict) != 0) return -1;
  return explain(now, verdict, &choice, not_run);
}

static int check_bindings(const ms_loop *loop, const ms_binding *bindings, uint32_t count,
                          ms_error *err) {
  if (count < loop->capture_count)
    return ms_error_set(err, MS_BUG, "%u bindings for %u captures", count, loop->capture_count);
  for (uint32_t b = 0; b < count; b++) {
    if (bindings[b].dim_count > MS_MAX_DIMS)
      return ms_error_set(err, MS_ARR, "an array has %u dimensions; the most is %d",
                          bindings[b].dim_count, MS_MAX_DIMS);
    uint32_t fields = b < loop->capture_count ? loop->captures[b].field_count : 0;
    if (bindings[b].depth > fields)
      return ms_error_set(err, MS_BUG, "binding %u is %u fields deep; its capture has %u", b + 1,
                          bindings[b].depth, fields);
  }
  return 0;
}

static int fill_verdict(work *now, ms_verdict *verdict, ms_error *err) {
  now->walk.domain = &now->domain;
  now->body = now->walk.loop->body;
  now->solver = ms_solver_new(0);
  if (now->solver != NULL) now->walk.arena = ms_solver_arena(now->solver);
  if (now->solver == NULL || ms_walk_begin(&now->walk) != 0)
    return ms_error_memory(err, MS_BUG, "the analysis of a loop");
  if (ms_space_domain(&now->walk, &now->domain, &now->body, err) != 0) return -1;
  if (analyse(now, verdict) != 0)
    return ms_error_set(err, MS_DEP, "the loop's body is too large to be analysed in memory");
  return 0;
}

/* Copies what the walk met into the verdict. */
static int keep_stranger(const ms_walk *walk, ms_verdict *verdict, ms_error *err) {
  if (walk->stranger == NULL) return 0;
  const char *name = walk->stranger->text;
  verdict->stranger = ms_arena_copy(verdict->arena, name, strlen(name));
  verdict->stranger_line = walk->stranger_line;
  return verdict->stranger != NULL ? 0 : ms_error_memory(err, MS_BUG, "the analysis of a loop");
}

ms_verdict *ms_verdict_new(const ms_loop *loop, const ms_binding *bindings, uint32_t binding_count,
                           const ms_space *space, ms_error *err) {
  if (check_bindings(loop, bindings, binding_count, err) != 0) return NULL;
  ms_verdict *verdict = calloc(1, sizeof *verdict);
  work *now = calloc(1, sizeof *now);
  if (verdict != NULL) verdict->arena = ms_arena_new_sized(ARENA_LIMIT, ARENA_CHUNK);
  int result = -1;
  if (verdict == NULL || now == NULL || verdict->arena == NULL) {
    ms_error_memory(err, MS_BUG, "the analysis of a loop");
  } else {
    verdict->id = atomic_fetch_add(&last_id, 1) + 1;
    now->walk.loop = loop;
    now->walk.bindings = bindings;
    now->walk.binding_count = binding_count;
    now->walk.space = space;
    result = fill_verdict(now, verdict, err);
    if (result == 0) result = keep_stranger(&now->walk, verdict, err);
    ms_solver_destroy(&now->solver);
  }
  free(now);
  if (result != 0) ms_verdict_destroy(&verdict);
  return verdict;
}

void ms_verdict_destroy(ms_verdict **verdict) {
  if (*verdict == NULL) return;
  ms_arena_destroy(&(*verdict)->arena);
  free(*verdict);
  *verdict = NULL;
}
