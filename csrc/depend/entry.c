/* SPDX-License-Identifier: MIT
 *
 * Entry: see entry.h. */
#include "depend/entry.h"

#include <string.h>

#include "depend/explain.h"
#include "depend/mapping.h"

/* A search for a variable in a body, and in the functions that are written there. */
typedef struct use {
  const ms_symbol *symbol;
  bool found;
} use;

static bool look_for_use(ms_node *node, void *context) {
  use *look = context;
  look->found = look->found || (node->kind == MS_NAME && node->symbol == look->symbol);
  return !look->found;
}

/* The variable that has the entry's value, if the body uses it; NULL else. */
static const ms_symbol *used_value(const ms_walk *walk) {
  const ms_loop *loop = walk->loop;
  if (loop->index_count <= walk->space->dim_count) return NULL;
  use look = {.symbol = loop->indices[walk->space->dim_count]};
  ms_node_walk(loop->body, look_for_use, &look);
  return look.found ? look.symbol : NULL;
}

/* Whether an access touches just the entry that the iteration is about. */
static bool is_of_entry(const ms_access *access, const ms_access *entry) {
  if (access->subscript_count != entry->subscript_count) return false;
  for (uint32_t k = 0; k < entry->subscript_count; k++) {
    ms_form difference;
    const ms_subscript *mine = &access->subscript[k], *its = &entry->subscript[k];
    if (!mine->known || !its->known) return false;
    if (!ms_form_add(&difference, &mine->form, &its->form, -1)) return false;
    if (!ms_form_is_constant(&difference) || difference.constant != 0) return false;
  }
  return true;
}

/* Whether a variable of the loop after the first `d` has the name of the one before them. */
static bool is_hidden(const ms_walk *walk, uint32_t d) {
  for (uint32_t k = d + 1; k < walk->loop->index_count; k++) {
    if (strcmp(walk->loop->indices[k]->name, walk->loop->indices[d]->name) == 0) return true;
  }
  return false;
}

/* "read the element: S[i][j] in place of v". */
static const char *read_element(ms_walk *walk, const ms_symbol *value) {
  const char *path = ms_explain_path(walk, walk->arena, (uint32_t)walk->space->source);
  const char *text =
      ms_arena_format(walk->arena, "read the element: %s", path == NULL ? "S" : path);
  for (uint32_t d = 0; d < walk->space->dim_count && text != NULL; d++) {
    if (is_hidden(walk, d))
      return ms_arena_format(walk->arena,
                             "give the indices names of their own, and read the "
                             "element in place of %s",
                             value->name);
    text = ms_arena_format(walk->arena, "%s[%s]", text, walk->loop->indices[d]->name);
  }
  return text == NULL ? NULL : ms_arena_format(walk->arena, "%s in place of %s", text, value->name);
}

/* A kernel gets the values of sparse entries as they are before the loop, so an iteration may write
 * no other's. `entry` is the loop's own read. */
static void find_stale(ms_walk *walk, const ms_access *entry, const ms_symbol *value) {
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *access = walk->accesses.item[a];
    if (!access->write || access->group != entry->group || is_of_entry(access, entry)) continue;
    const char *fix = read_element(walk, value);
    walk->failed = walk->failed || fix == NULL;
    ms_walk_find(walk, MS_REASON_CARRIED, false, access->node, fix,
                 "the loop's entries have their values from before it, and this may write one that "
                 "another iteration is given");
  }
}

int ms_entry_read(ms_walk *walk) {
  const ms_space *space = walk->space;
  if (space->source < 0 || (uint32_t)space->source >= walk->binding_count) return 0;
  uint32_t binding = (uint32_t)space->source;
  const ms_symbol *value = used_value(walk);
  if (walk->groups.of[binding] == MS_NO_GROUP || value == NULL) return 0;
  ms_access access = {.binding = binding, .group = walk->groups.of[binding]};
  for (uint32_t k = 0; k < space->dim_count; k++) {
    ms_subscript *subscript = &access.subscript[access.subscript_count++];
    subscript->known = walk->index_value[k].kind == MS_ABSTRACT_VALUE_NUMBER;
    if (subscript->known) subscript->form = walk->index_value[k].form;
    access.possible = access.possible || !subscript->known;
  }
  access.given = access.subscript_count;
  ms_mapping_apply(walk, &access);
  if (space->sparse) find_stale(walk, &access, value);
  int result = ms_accesses_add(&walk->accesses, walk->arena, &access, &ms_guard_always.clause[0],
                               walk->scope, walk->scope_count);
  walk->scope_count = 0;
  return result;
}
