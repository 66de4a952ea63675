/* SPDX-License-Identifier: MIT
 *
 * Accesses: see access.h. */
#include "depend/access.h"

#include <stddef.h>
#include <string.h>

bool ms_subscript_number(const ms_subscript *subscript, ms_quadratic *number) {
  if (subscript->known) *number = ms_quadratic_of(&subscript->form);
  if (subscript->quadratic != NULL) *number = *subscript->quadratic;
  return subscript->known || subscript->quadratic != NULL;
}

/* Marks the inner variables that a form mentions. */
static void mark_form(bool *used, const ms_form *form) {
  for (uint32_t k = 0; k < MS_MAX_INNER; k++) {
    if (form->at[MS_MAX_DIMS + k] != 0) used[k] = true;
  }
}

/* Which variables of the scope can matter: those of subscripts and guards, those of loops that may
 * run no iteration (the access then does not happen), and all that their bounds mention. */
static void mark_used(bool *used, const ms_access *access, const ms_inner *scope, uint32_t count) {
  for (uint32_t s = 0; s < access->subscript_count; s++) {
    const ms_subscript *subscript = &access->subscript[s];
    if (subscript->known) mark_form(used, &subscript->form);
    if (subscript->quadratic == NULL) continue;
    mark_form(used, &subscript->quadratic->root);
    mark_form(used, &subscript->quadratic->rest);
  }
  for (uint32_t g = 0; g < access->guard_count; g++) mark_form(used, &access->guard[g]);
  for (uint32_t k = count; k-- > 0;) {
    if (!used[k] && (scope[k].total || !scope[k].loop)) continue;
    used[k] = true;
    mark_form(used, &scope[k].low);
    mark_form(used, &scope[k].high);
  }
}

static void renumber(ms_form *form, const uint32_t *place) {
  ms_form old = *form;
  memset(&form->at[MS_MAX_DIMS], 0, MS_MAX_INNER * sizeof form->at[0]);
  for (uint32_t k = 0; k < MS_MAX_INNER; k++) {
    if (old.at[MS_MAX_DIMS + k] != 0) form->at[MS_MAX_DIMS + place[k]] = old.at[MS_MAX_DIMS + k];
  }
}

static bool same_subscript(const ms_subscript *a, const ms_subscript *b) {
  if (a->known != b->known || (a->quadratic == NULL) != (b->quadratic == NULL)) return false;
  if (a->quadratic != NULL) return memcmp(a->quadratic, b->quadratic, sizeof *a->quadratic) == 0;
  return !a->known || memcmp(&a->form, &b->form, sizeof a->form) == 0;
}

static bool same_subscripts(const ms_access *a, const ms_access *b) {
  for (uint32_t s = 0; s < a->subscript_count; s++) {
    if (!same_subscript(&a->subscript[s], &b->subscript[s])) return false;
  }
  return true;
}

bool ms_access_same_elements(const ms_access *a, const ms_access *b) {
  if (a->subscript_count != b->subscript_count || a->inner_count != b->inner_count) return false;
  if (a->guard_count != b->guard_count) return false;
  for (uint32_t g = 0; g < a->guard_count; g++) {
    if (memcmp(&a->guard[g], &b->guard[g], sizeof(ms_form)) != 0) return false;
  }
  for (uint32_t k = 0; k < a->inner_count; k++) {
    if (memcmp(&a->inner[k].low, &b->inner[k].low, sizeof(ms_form)) != 0) return false;
    if (memcmp(&a->inner[k].high, &b->inner[k].high, sizeof(ms_form)) != 0) return false;
  }
  return same_subscripts(a, b);
}

static bool same_access(const ms_access *a, const ms_access *b) {
  return a->group == b->group && a->binding == b->binding && a->write == b->write &&
         (!a->placed || a->node == b->node) && ms_access_same_elements(a, b);
}

/* NULL for an empty list, too. */
static void *copy_list(ms_arena *arena, const void *list, uint32_t count, size_t size) {
  void *copy = count == 0 ? NULL : ms_arena_take(arena, count, size);
  if (copy != NULL) memcpy(copy, list, count * size);
  return copy;
}

/* Gives a copied access quadratics of its own; false without memory. */
static bool copy_quadratics(ms_arena *arena, ms_access *copy) {
  for (uint32_t s = 0; s < copy->subscript_count; s++) {
    const ms_quadratic **quadratic = &copy->subscript[s].quadratic;
    if (*quadratic == NULL) continue;
    *quadratic = copy_list(arena, *quadratic, 1, sizeof **quadratic);
    if (*quadratic == NULL) return false;
  }
  return true;
}

/* A copy with what it uses of its parts; NULL without memory. */
static ms_access *copy_access(ms_arena *arena, const ms_access *access) {
  size_t parts = access->subscript_count * sizeof *access->subscript;
  ms_access *copy = ms_arena_take(arena, 1, offsetof(ms_access, subscript) + parts);
  if (copy == NULL) return NULL;
  memcpy(copy, access, offsetof(ms_access, subscript) + parts);
  copy->inner = copy_list(arena, access->inner, access->inner_count, sizeof *copy->inner);
  copy->guard = copy_list(arena, access->guard, access->guard_count, sizeof *copy->guard);
  bool whole = (access->inner_count == 0 || copy->inner != NULL) &&
               (access->guard_count == 0 || copy->guard != NULL) && copy_quadratics(arena, copy);
  return whole ? copy : NULL;
}

static int append(ms_accesses *list, ms_arena *arena, ms_access *access) {
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
    ms_access **item = ms_arena_take(arena, capacity, sizeof(ms_access *));
    if (item == NULL) return -1;
    if (list->count > 0) memcpy(item, list->item, list->count * sizeof(ms_access *));
    list->item = item;
    list->capacity = capacity;
  }
  list->item[list->count++] = access;
  return 0;
}

static void renumber_subscript(ms_subscript *subscript, const uint32_t *place,
                               ms_quadratic *quadratic) {
  if (subscript->known) renumber(&subscript->form, place);
  if (subscript->quadratic == NULL) return;
  *quadratic = *subscript->quadratic;
  renumber(&quadratic->root, place);
  renumber(&quadratic->rest, place);
  subscript->quadratic = quadratic;
}

/* Gives an access the inner variables that matter to it, renumbered, at `inner`, and quadratics in
 * these at `quadratic`. */
static void narrow(ms_access *access, ms_inner *inner, ms_quadratic *quadratic,
                   const ms_inner *scope, uint32_t scope_count) {
  bool used[MS_MAX_INNER] = {false};
  uint32_t place[MS_MAX_INNER] = {0};
  access->inner_count = 0;
  access->inner = inner;
  mark_used(used, access, scope, scope_count);
  for (uint32_t k = 0; k < scope_count; k++) {
    if (used[k]) place[k] = access->inner_count++;
  }
  for (uint32_t k = 0; k < scope_count; k++) {
    if (!used[k]) continue;
    inner[place[k]] = scope[k];
    renumber(&inner[place[k]].low, place);
    renumber(&inner[place[k]].high, place);
  }
  for (uint32_t s = 0; s < access->subscript_count; s++)
    renumber_subscript(&access->subscript[s], place, &quadratic[s]);
  for (uint32_t g = 0; g < access->guard_count; g++) renumber(&access->guard[g], place);
}

int ms_accesses_add(ms_accesses *list, ms_arena *arena, const ms_access *access,
                    const ms_clause *clause, const ms_inner *scope, uint32_t scope_count) {
  ms_access fresh = *access;
  ms_inner inner[MS_MAX_INNER];
  ms_quadratic quadratic[MS_MAX_DIMS];
  ms_form guard[MS_MAX_GUARD_FORMS];
  fresh.guard = guard;
  fresh.guard_count = clause->count;
  for (uint32_t g = 0; g < clause->count; g++) guard[g] = *clause->form[g];
  narrow(&fresh, inner, quadratic, scope, scope_count);
  for (uint32_t a = 0; a < list->count; a++) {
    if (!same_access(list->item[a], &fresh)) continue;
    if (!list->item[a]->possible || fresh.possible) return 0;
    list->item[a] = copy_access(arena, &fresh);
    return list->item[a] == NULL ? -1 : 0;
  }
  ms_access *copy = copy_access(arena, &fresh);
  return copy == NULL ? -1 : append(list, arena, copy);
}
