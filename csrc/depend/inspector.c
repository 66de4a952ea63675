/* SPDX-License-Identifier: MIT
 *
 * Inspectors: see inspector.h. The candidates, and what becomes of them. */
#include "depend/inspector.h"

#include <string.h>

#include "depend/inspector_state.h"

void ms_inspector_drop(ms_inspector *inspector, ms_taint which, const char *why) {
  for (uint32_t k = 0; k < inspector->count; k++) {
    ms_taint bit = (ms_taint)1 << k;
    if ((which & inspector->served & bit) == 0) continue;
    inspector->why[k] = why;
    inspector->served &= ~bit;
  }
}

/* Whether an access to the array has a subscript that is not known. */
static bool is_irregular(const ms_walk *walk, const ms_array_plan *plan) {
  const ms_binding *binding = &walk->bindings[plan->binding];
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *access = walk->accesses.item[a];
    if (access->group != walk->groups.of[plan->binding]) continue;
    if (walk->bindings[access->binding].array != binding->array) continue;
    for (uint32_t s = 0; s < access->subscript_count; s++) {
      if (!access->subscript[s].known) return true;
    }
  }
  return false;
}

/* Whether the array is only read, not at known subscripts alone, and follows no cut. */
static bool is_candidate(const ms_walk *walk, const ms_array_plan *plan) {
  const ms_binding *binding = &walk->bindings[plan->binding];
  bool fitting = plan->read && !plan->written && !binding->sparse && binding->buffers == 0 &&
                 !binding->scratch && binding->dim_count > 0 && binding->dim_count <= MS_MAX_DIMS;
  return fitting && plan->placement == MS_PLACE_BROADCAST && is_irregular(walk, plan);
}

/* Whether a binding leads to the array. */
static bool leads_to(const ms_walk *walk, const ms_binding *from, uint32_t binding) {
  for (uint32_t k = 0; k < from->reached_count; k++) {
    uint32_t reached = from->reached[k];
    bool array = reached < walk->binding_count && walk->groups.of[reached] != MS_NO_GROUP;
    if (array && walk->bindings[reached].array == walk->bindings[binding].array) return true;
  }
  return false;
}

/* Whether a function or table, or one that these lead to, gives access to the array, and something
 * is touched by another way than its name. */
static bool is_reached(const ms_walk *walk, uint32_t binding) {
  if (!walk->groups.unnamed[walk->groups.of[binding]]) return false;
  for (uint32_t b = 0; b < walk->binding_count; b++) {
    if (leads_to(walk, &walk->bindings[b], binding)) return true;
  }
  return false;
}

/* The array is what the loop's own entries come from. */
static bool is_source(const ms_walk *walk, uint32_t binding) {
  int32_t source = walk->space->source;
  if (source < 0 || (uint32_t)source >= walk->binding_count) return false;
  return walk->bindings[source].array == walk->bindings[binding].array;
}

/* Whether what happens to the array can be seen from its names in the body. */
static bool can_be_watched(const ms_walk *walk, uint32_t binding) {
  const ms_binding *about = &walk->bindings[binding];
  return about->kind == MS_BIND_ARRAY && !about->sparse && about->buffers == 0 && !about->scratch &&
         about->dim_count > 0 && !walk->groups.overlap[walk->groups.of[binding]] &&
         !is_reached(walk, binding) && !is_source(walk, binding);
}

/* Whether the array is written where an inspection has looked. */
static bool is_inspected(const ms_walk *walk, const ms_array_plan *plan) {
  return walk->space->inspected && plan->written && can_be_watched(walk, plan->binding) &&
         is_irregular(walk, plan);
}

/* Whether blocks hand over what they write of the array, in the order of the iterations' levels. */
static bool is_levelled(const ms_walk *walk, const ms_array_plan *plan) {
  return walk->space->assumes == MS_ASSUME_LEVELS && plan->written &&
         plan->placement == MS_PLACE_HALO && can_be_watched(walk, plan->binding);
}

static void add_candidate(ms_inspector *inspector, uint32_t binding) {
  uint32_t k = inspector->count++;
  inspector->binding[k] = binding;
  inspector->served |= (ms_taint)1 << k;
  if (is_reached(inspector->walk, binding))
    ms_inspector_drop(inspector, (ms_taint)1 << k, "a captured function or table leads to it");
  if (is_source(inspector->walk, binding))
    ms_inspector_drop(inspector, (ms_taint)1 << k, "the loop runs over it");
}

static void place(const ms_inspector *inspector, ms_array_plan *arrays, uint32_t count) {
  for (uint32_t a = 0; a < count; a++) {
    for (uint32_t k = 0; k < inspector->count; k++) {
      if (inspector->binding[k] != arrays[a].binding) continue;
      bool served = (inspector->served >> k & 1) != 0;
      arrays[a].marked = served;
      arrays[a].stored = served && (inspector->stored >> k & 1) != 0;
      if (arrays[a].written) continue;
      if (served) arrays[a].placement = MS_PLACE_SERVED;
      if (!served) arrays[a].whole = inspector->why[k];
    }
  }
}

/* Makes room, and takes candidates away until the others can be inspected. */
static int settle(ms_inspector *inspector) {
  uint32_t symbols = inspector->walk->loop->tree->symbols + 1;
  inspector->taint = ms_arena_take(inspector->walk->arena, symbols, sizeof *inspector->taint);
  inspector->needed = ms_arena_take(inspector->walk->arena, symbols, sizeof *inspector->needed);
  if (inspector->taint == NULL || inspector->needed == NULL) return -1;
  ms_inspector_settle(inspector);
  return 0;
}

/* Writes the slice into the walk's arena. */
static int write(ms_inspector *inspector, const char **text) {
  const char *slice = ms_inspector_write(inspector);
  *text = slice == NULL ? NULL : ms_arena_copy(inspector->walk->arena, slice, strlen(slice));
  return *text == NULL ? -1 : 0;
}

int ms_inspector_find(ms_walk *walk, ms_array_plan *arrays, uint32_t count, const char **text) {
  ms_text written = {0};
  ms_inspector inspector = {.walk = walk, .text = &written};
  *text = NULL;
  for (uint32_t a = 0; a < count && inspector.count < MS_INSPECTOR_MOST; a++) {
    bool levelled = is_levelled(walk, &arrays[a]);
    bool also = levelled || is_inspected(walk, &arrays[a]);
    if (also) inspector.written |= (ms_taint)1 << inspector.count;
    if (levelled) inspector.stored |= (ms_taint)1 << inspector.count;
    if (also || is_candidate(walk, &arrays[a])) add_candidate(&inspector, arrays[a].binding);
  }
  if (inspector.count == 0) return 0;
  int failed = settle(&inspector);
  if (failed == 0 && inspector.served != 0) failed = write(&inspector, text);
  if (failed == 0) place(&inspector, arrays, count);
  ms_text_free(&written);
  return failed;
}

/* ---- collisions ---- */

/* Whether an earlier binding is the same array. */
static bool is_repeated(const ms_walk *walk, uint32_t binding) {
  for (uint32_t b = 0; b < binding; b++) {
    if (walk->groups.of[b] == walk->groups.of[binding] &&
        walk->bindings[b].array == walk->bindings[binding].array)
      return true;
  }
  return false;
}

/* Makes the written arrays of these groups candidates, all of which can be inspected: 1; 0: some
 * cannot; -1: out of memory. */
static int watch(ms_inspector *inspector, const bool *groups) {
  const ms_walk *walk = inspector->walk;
  if (walk->space->collapse > 1) return 0; /* iterations have no numbers */
  /* Entries come in another order than their numbers. */
  if (walk->space->sparse && inspector->form == MS_INSPECT_LEVELS) return 0;
  for (uint32_t b = 0; b < walk->binding_count; b++) {
    uint32_t group = walk->groups.of[b];
    if (group == MS_NO_GROUP || !groups[group] || is_repeated(walk, b)) continue;
    if (!can_be_watched(walk, b) || inspector->count == MS_INSPECTOR_MOST) return 0;
    add_candidate(inspector, b);
  }
  ms_taint all = inspector->served;
  if (all == 0) return 0;
  if (settle(inspector) != 0) return -1;
  return inspector->served == all;
}

int ms_inspector_collisions(ms_walk *walk, const bool *groups, ms_collisions *collisions) {
  ms_text text = {0};
  ms_inspector inspector = {.walk = walk, .text = &text, .form = MS_INSPECT_STORES};
  int watched = watch(&inspector, groups);
  if (watched <= 0) return watched;
  int failed = write(&inspector, &collisions->stores);
  inspector.form = MS_INSPECT_LOOKS;
  if (failed == 0) failed = write(&inspector, &collisions->looks);
  ms_text_free(&text);
  collisions->count = inspector.count;
  memcpy(collisions->binding, inspector.binding, sizeof collisions->binding);
  return failed;
}

int ms_inspector_levels(ms_walk *walk, const bool *groups, ms_collisions *collisions) {
  ms_text text = {0};
  ms_inspector inspector = {.walk = walk, .text = &text, .form = MS_INSPECT_LEVELS};
  int watched = watch(&inspector, groups);
  for (uint32_t k = 0; watched > 0 && k < inspector.count; k++) { /* its marks have one more */
    if (walk->bindings[inspector.binding[k]].dim_count == MS_MAX_DIMS) watched = 0;
  }
  if (watched <= 0) return watched;
  int failed = write(&inspector, &collisions->levels);
  ms_text_free(&text);
  collisions->level_count = inspector.count;
  memcpy(collisions->level_binding, inspector.binding, sizeof collisions->level_binding);
  return failed;
}
