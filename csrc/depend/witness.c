/* SPDX-License-Identifier: MIT
 *
 * Witness: see witness.h. */
#include "depend/witness.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "depend/mapping.h"

/* Values of all columns for the earliest pair of iterations in the meeting's cell; false if it
 * cannot be had within the quota. */
static bool earliest(const ms_conflicts *conflicts, const ms_meeting *meeting, int64_t *values) {
  ms_system *system = malloc(sizeof *system);
  if (system == NULL) return false;
  bool found =
      ms_system_of_pair(system, conflicts->domain, meeting->earlier, meeting->later, false);
  for (uint32_t k = 0; found && k < conflicts->domain->dim_count; k++) {
    int8_t sign = meeting->cell.sign[k];
    ms_constraint low = {.constant = sign == 0 ? 0 : -1}, high = {0};
    low.at[MS_COLUMN_D(k)] = sign == 0 ? 1 : sign;
    high.at[MS_COLUMN_D(k)] = -1;
    ms_system_bound(system, &low);
    if (sign == 0) ms_system_bound(system, &high);
  }
  found = found && ms_solver_earliest(conflicts->solver, system, values) == 1;
  free(system);
  return found;
}

/* The variables of an access at the witness. */
static void variables_of(const int64_t *values, bool later, int64_t *variables) {
  for (uint32_t k = 0; k < MS_MAX_DIMS; k++) {
    variables[k] = values[MS_COLUMN_T(k)];
    if (later) variables[k] += values[MS_COLUMN_D(k)];
  }
  for (uint32_t k = 0; k < MS_MAX_INNER; k++)
    variables[MS_MAX_DIMS + k] = values[later ? MS_COLUMN_B(k) : MS_COLUMN_A(k)];
}

/* The subscripts of an access as its source counts them, of a view where it goes through one. */
static bool subscripts_of(const ms_explainer *explain, const ms_access *access,
                          const int64_t *variables, int64_t *subscripts) {
  const ms_binding *binding = &explain->walk->bindings[access->binding];
  int64_t at[MS_MAX_DIMS];
  bool solved = access->origin != NULL; /* or else a quadratic subscript is not what met */
  if (solved) access = access->origin;
  for (uint32_t s = 0; s < access->subscript_count; s++) {
    const ms_subscript *subscript = &access->subscript[s];
    if (subscript->known) {
      at[s] = ms_form_value(&subscript->form, variables);
    } else if (solved && subscript->quadratic != NULL) {
      at[s] = ms_quadratic_value(subscript->quadratic, variables);
    } else {
      return false;
    }
  }
  if (binding->view != NULL && access->subscript_count > 0)
    return ms_mapping_invert(binding, at, subscripts);
  memcpy(subscripts, at, access->subscript_count * sizeof *at);
  return true;
}

/* A captured array is all of the base that views of its memory have. */
static bool is_base(const ms_binding *binding) {
  const ms_mapping *view = binding->view;
  if (view == NULL || view->dim_count != binding->dim_count) return false;
  for (uint32_t d = 0; d < view->dim_count; d++) {
    if (view->dims[d] != binding->dims[d] || view->first[d] != 1 || view->along[d] != d ||
        view->factor[d] != 1)
      return false;
  }
  return true;
}

/* Whether a meeting is of two views of one memory, at an element that is known. */
static bool are_views(const ms_walk *walk, const ms_meeting *meeting) {
  const ms_access *a = meeting->earlier, *b = meeting->later;
  const ms_binding *one = &walk->bindings[a->binding], *other = &walk->bindings[b->binding];
  if (one->view == NULL || other->view == NULL || one->array == other->array) return false;
  if (a->subscript_count < one->view->dim_count) return false;
  for (uint32_t s = 0; s < one->view->dim_count; s++) {
    if (s >= b->subscript_count || !a->subscript[s].known || !b->subscript[s].known) return false;
  }
  return true;
}

/* Says of places that two names have that they are one element, and which of the base, where that
 * is captured. `variables`: those of the later one. */
static int tell_same(const ms_explainer *explain, const ms_meeting *meeting, ms_reason *reason,
                     const int64_t *variables) {
  const ms_walk *walk = explain->walk;
  const ms_access *access = meeting->later;
  ms_place *place = &reason->second;
  if (!reason->has_witness || !are_views(walk, meeting)) return 0;
  ms_text text = {0};
  ms_text_format(&text, "%s", ", the same element");
  for (uint32_t b = 0; b < walk->loop->capture_count; b++) {
    if (walk->groups.of[b] != access->group || !is_base(&walk->bindings[b])) continue;
    const char *path = ms_explain_path(walk, explain->arena, b);
    if (walk->bindings[b].array == walk->bindings[access->binding].array) place = &reason->first;
    text.length = 0;
    ms_text_format(&text, ", which is %s", path == NULL ? "" : path);
    for (uint32_t s = 0; s < access->subscript_count; s++)
      ms_text_format(&text, "[%lld]",
                     (long long)ms_form_value(&access->subscript[s].form, variables));
    break;
  }
  if (!text.failed) place->does = ms_arena_format(explain->arena, "%s%s", place->does, text.bytes);
  bool failed = text.failed || place->does == NULL;
  ms_text_free(&text);
  return failed ? -1 : 0;
}

/* "A[2][1]", or the source where the element is not known. */
static const char *element_of(const ms_explainer *explain, const ms_access *access,
                              const char *source, const int64_t *variables) {
  ms_text text = {0};
  const char *path = ms_explain_path(explain->walk, explain->arena, access->binding);
  int64_t at[MS_MAX_DIMS];
  bool known = path != NULL && access->given > 0 && subscripts_of(explain, access, variables, at);
  ms_text_add(&text, path == NULL ? "" : path);
  for (uint32_t s = 0; s < access->given && known; s++) {
    ms_text_format(&text, "[%lld]", (long long)at[s]);
  }
  const char *element = NULL;
  if (known && !text.failed) {
    element = ms_arena_copy(explain->arena, text.bytes, text.length);
  } else if (source != NULL && path != NULL && strncmp(source, path, strlen(path)) == 0) {
    element = source;
  } else if (path != NULL) {
    element = ms_arena_format(explain->arena, "%s (%s)", path,
                              source == NULL ? "the loop's own data" : source);
  }
  ms_text_free(&text);
  return element;
}

static const char *verb_of(const ms_access *access, bool known) {
  if (access->possible || !known) return access->write ? "may write" : "may read";
  return access->write ? "writes" : "reads";
}

/* "2", or "(1, 2)". */
static const char *iteration_text(const ms_explainer *explain, const int64_t *at) {
  uint32_t dims = explain->conflicts->domain->dim_count;
  ms_text text = {0};
  if (dims > 1) ms_text_add(&text, "(");
  for (uint32_t k = 0; k < dims; k++)
    ms_text_format(&text, "%s%lld", k > 0 ? ", " : "", (long long)at[k]);
  if (dims > 1) ms_text_add(&text, ")");
  const char *copy = text.failed ? NULL : ms_arena_copy(explain->arena, text.bytes, text.length);
  ms_text_free(&text);
  return copy;
}

/* Whether both accesses happen in every iteration. */
static bool is_everywhere(const ms_meeting *meeting) {
  const ms_access *a = meeting->earlier, *b = meeting->later;
  return !a->possible && !b->possible && a->guard_count == 0 && b->guard_count == 0;
}

/* "distance 1, every iteration", "distances (+, 0)". */
static const char *distance_text(const ms_explainer *explain, const ms_meeting *meeting) {
  const ms_cell *cell = &meeting->cell;
  const char *where = is_everywhere(meeting) ? ", every iteration" : ", some iterations";
  uint32_t dims = explain->conflicts->domain->dim_count;
  bool fixed = true;
  ms_text text = {0};
  for (uint32_t k = 0; k < dims; k++) {
    const char *separator = k > 0 ? ", " : "";
    fixed = fixed && cell->fixed[k];
    if (cell->fixed[k]) {
      ms_text_format(&text, "%s%lld", separator, (long long)cell->value[k]);
    } else {
      ms_text_format(&text, "%s%s", separator, cell->sign[k] > 0 ? "+" : "-");
    }
  }
  const char *copy = NULL;
  if (!text.failed && !fixed && dims == 1) {
    copy = ms_arena_format(explain->arena, "various distances");
  } else if (!text.failed) {
    copy =
        ms_arena_format(explain->arena, "distance%s %s%s%s%s", fixed ? "" : "s",
                        dims > 1 ? "(" : "", text.bytes, dims > 1 ? ")" : "", fixed ? where : "");
  }
  ms_text_free(&text);
  return copy;
}

static int describe(const ms_explainer *explain, const ms_access *access, ms_place *place,
                    const int64_t *variables) {
  const char *element = element_of(explain, access, place->text, variables);
  if (element == NULL) return -1;
  bool known = true;
  for (uint32_t s = 0; s < access->subscript_count; s++)
    known = known && access->subscript[s].known;
  place->does = ms_arena_format(explain->arena, "%s %s", verb_of(access, known), element);
  return place->does == NULL ? -1 : 0;
}

int ms_witness_find(const ms_explainer *explain, const ms_meeting *meeting, ms_reason *reason) {
  const ms_domain *domain = explain->conflicts->domain;
  int64_t values[MS_MAX_COLUMNS] = {0}, variables[MS_MAX_VARS];
  reason->has_witness = earliest(explain->conflicts, meeting, values);
  for (uint32_t k = 0; k < domain->dim_count; k++) {
    int64_t from = values[MS_COLUMN_T(k)], to = from + values[MS_COLUMN_D(k)];
    reason->from[k] = domain->dim[k].origin + domain->dim[k].step * from;
    reason->to[k] = domain->dim[k].origin + domain->dim[k].step * to;
  }
  variables_of(values, false, variables);
  if (describe(explain, meeting->earlier, &reason->first, variables) != 0) return -1;
  variables_of(values, true, variables);
  if (describe(explain, meeting->later, &reason->second, variables) != 0) return -1;
  if (tell_same(explain, meeting, reason, variables) != 0) return -1;
  const char *from = iteration_text(explain, reason->from);
  const char *to = iteration_text(explain, reason->to);
  reason->distance = distance_text(explain, meeting);
  if (from == NULL || to == NULL || reason->distance == NULL) return -1;
  if (reason->has_witness) {
    reason->message =
        ms_arena_format(explain->arena, "iteration %s %s and iteration %s %s: %s", from,
                        reason->first.does, to, reason->second.does, reason->distance);
  } else {
    reason->message = ms_arena_format(explain->arena, "one iteration %s and a later one %s: %s",
                                      reason->first.does, reason->second.does, reason->distance);
  }
  return reason->message == NULL ? -1 : 0;
}
