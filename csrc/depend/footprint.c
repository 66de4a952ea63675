/* SPDX-License-Identifier: MIT
 *
 * Walk, footprint: see footprint.h. */
#include <string.h>

#include "depend/abstract_view.h"
#include "depend/buffered.h"
#include "depend/capture_path.h"
#include "depend/footprint.h"
#include "depend/inline.h"
#include "depend/mapping.h"
#include "depend/piece.h"

static uint64_t bit_of(uint32_t group) {
  return (uint64_t)1 << (group < 63 ? group : 63);
}

uint64_t ms_footprint_groups(const ms_walk *walk, const ms_abstract_value *value) {
  if (value->kind == MS_ABSTRACT_VALUE_VIEW) return bit_of(walk->groups.of[value->view->binding]);
  return value->kind == MS_ABSTRACT_VALUE_OTHER ? value->groups : 0;
}

/* Whether what is touched at a node is an array that the loop's body names there. */
static bool is_named(const ms_walk *walk, const ms_node *node) {
  if (walk->frame != NULL || node == NULL) return false;
  if (node->kind == MS_METHOD) node = node->kid[0];
  int64_t capture = ms_capture_path_of(walk->loop, node);
  while (capture < 0 && (node->kind == MS_INDEX || node->kind == MS_PAREN)) {
    node = node->kid[0];
    capture = ms_capture_path_of(walk->loop, node);
  }
  if (capture < 0) return false;
  const ms_binding *binding = &walk->bindings[capture];
  return binding->kind == MS_BIND_ARRAY &&
         binding->depth == walk->loop->captures[capture].field_count;
}

static void record(ms_walk *walk, ms_access *access) {
  const ms_guard *guard = walk->guard;
  if (walk->bindings[access->binding].scratch) return;
  if (!is_named(walk, access->node)) walk->groups.unnamed[access->group] = true;
  access->pending = walk->bindings[access->binding].buffers != 0;
  access->placed =
      access->binding < walk->space->version_count && walk->space->versions[access->binding] > 0;
  for (uint32_t s = 0; s < access->subscript_count; s++) {
    ms_quadratic number;
    if (!ms_subscript_number(&access->subscript[s], &number)) access->possible = true;
  }
  if (walk->possible > 0 || walk->functions > 0) access->possible = true;
  for (uint32_t c = 0; c < guard->count && !walk->failed; c++) {
    walk->failed = ms_accesses_add(&walk->accesses, walk->arena, access, &guard->clause[c],
                                   walk->scope, walk->scope_count) != 0;
  }
}

void ms_footprint_add_element(ms_walk *walk, uint32_t binding, const ms_subscript *subscript,
                              uint32_t count, bool write, const ms_node *node) {
  ms_access access = {.binding = binding, .write = write, .subscript_count = count, .given = count};
  access.node = ms_inline_place(walk, node);
  access.group = walk->groups.of[binding];
  memcpy(access.subscript, subscript, count * sizeof *subscript);
  uint32_t scope = walk->scope_count;
  ms_mapping_apply(walk, &access);
  record(walk, &access);
  walk->scope_count = scope;
}

void ms_footprint_add_view(ms_walk *walk, const ms_abstract_view *view, bool write,
                           const ms_node *node) {
  ms_subscript subscript[MS_MAX_DIMS] = {0};
  uint32_t scope = walk->scope_count;
  ms_abstract_view_elements(walk, view, subscript);
  ms_footprint_add_element(walk, view->binding, subscript, view->subscript_count, write, node);
  walk->scope_count = scope;
  const ms_binding *binding = &walk->bindings[view->binding];
  if (ms_guard_is_never(walk->guard)) return;
  if (binding->buffers != 0 && !binding->marks && !binding->replica)
    ms_buffered_note(walk, view, write, node);
}

void ms_footprint_add_groups(ms_walk *walk, uint64_t groups, bool write, const ms_node *node) {
  for (uint32_t g = 0; g < walk->groups.count; g++) {
    if ((groups & bit_of(g)) == 0) continue;
    if (walk->sliced[walk->groups.binding[g]]) continue; /* only its own name leads there */
    if (write && walk->bindings[walk->groups.binding[g]].frozen) continue;
    ms_access access = {.binding = walk->groups.binding[g], .group = g, .write = write};
    access.node = ms_inline_place(walk, node);
    access.possible = true;
    record(walk, &access);
  }
}

static void touch_pieces(ms_walk *walk, const ms_pieces *all, bool write, const ms_node *node) {
  for (uint32_t p = 0; p < all->count; p++) {
    ms_outside_piece outside = ms_piece_enter(walk, all, p);
    ms_footprint_add(walk, &all->piece[p].value, write, node);
    ms_piece_leave(walk, &outside);
  }
}

void ms_footprint_add(ms_walk *walk, const ms_abstract_value *value, bool write,
                      const ms_node *node) {
  if (value->pieces != NULL) {
    touch_pieces(walk, value->pieces, write, node);
    return;
  }
  if (value->kind == MS_ABSTRACT_VALUE_VIEW) {
    ms_footprint_add_view(walk, value->view, write, node);
  } else if (value->kind == MS_ABSTRACT_VALUE_OTHER) {
    ms_footprint_add_groups(walk, value->groups, write, node);
  }
}

static bool share_storage(const ms_walk *walk, uint32_t a, uint32_t b) {
  const ms_binding *one = &walk->bindings[a], *other = &walk->bindings[b];
  if (walk->sliced[a] || walk->sliced[b]) return false;
  return one->storage == other->storage || one->array == other->array;
}

int ms_footprint_make_groups(ms_walk *walk) {
  ms_groups *groups = &walk->groups;
  uint32_t count = walk->binding_count;
  groups->of = ms_arena_take(walk->arena, count + 1, sizeof *groups->of);
  groups->binding = ms_arena_take(walk->arena, count + 1, sizeof *groups->binding);
  groups->overlap = ms_arena_take(walk->arena, count + 1, sizeof *groups->overlap);
  groups->unnamed = ms_arena_take(walk->arena, count + 1, sizeof *groups->unnamed);
  if (groups->of == NULL || groups->binding == NULL || groups->overlap == NULL ||
      groups->unnamed == NULL)
    return -1;
  for (uint32_t b = 0; b < count; b++) {
    const ms_binding *binding = &walk->bindings[b];
    groups->of[b] = MS_NO_GROUP;
    if (binding->kind != MS_BIND_ARRAY && !walk->sliced[b]) continue;
    uint32_t g = 0;
    while (g < groups->count && !share_storage(walk, groups->binding[g], b)) g++;
    if (g == groups->count) groups->binding[groups->count++] = b;
    if (walk->bindings[groups->binding[g]].array != binding->array) groups->overlap[g] = true;
    groups->of[b] = g;
  }
  return 0;
}
