/* SPDX-License-Identifier: MIT
 *
 * Abstract views: what narrow, select and transpose leave of an array. See walk.h. */
#include <string.h>

#include "depend/abstract_view.h"
#include "depend/subscript.h"

uint32_t ms_abstract_view_left(const ms_walk *walk, const ms_abstract_view *view) {
  if (view->open != NULL) return view->open_count;
  return walk->bindings[view->binding].dim_count - view->subscript_count;
}

/* A copy whose dimensions without a subscript are listed, as `*open`; NULL without memory. */
static ms_abstract_view *open_view(ms_walk *walk, const ms_abstract_view *of, ms_open **open) {
  const ms_binding *binding = &walk->bindings[of->binding];
  ms_abstract_view *view = ms_subscript_new_view(walk, of->binding);
  *open = ms_arena_take(walk->arena, binding->dim_count + 1, sizeof **open);
  walk->failed = walk->failed || *open == NULL;
  if (view == NULL || *open == NULL) return NULL;
  memcpy(view->subscript, of->subscript, of->subscript_count * sizeof *view->subscript);
  view->subscript_count = binding->dim_count;
  view->open = *open;
  view->open_count = ms_abstract_view_left(walk, of);
  if (of->open != NULL) {
    memcpy(*open, of->open, view->open_count * sizeof **open);
    return view;
  }
  for (uint32_t k = 0; k < view->open_count; k++) {
    (*open)[k].dim = of->subscript_count + k;
    (*open)[k].length = ms_form_constant(binding->dims[of->subscript_count + k]);
  }
  return view;
}

static bool is_whole(const ms_walk *walk, const ms_abstract_view *view, const ms_open *open) {
  return ms_form_is_constant(&open->first) && open->first.constant == 0 &&
         ms_form_is_constant(&open->length) &&
         open->length.constant == walk->bindings[view->binding].dims[open->dim];
}

/* Where the last dimensions are left as they are, the view is a row, as subscripts make it. */
static void close_row(const ms_walk *walk, ms_abstract_view *view) {
  uint32_t count = view->subscript_count - view->open_count;
  for (uint32_t k = 0; k < view->open_count; k++) {
    if (view->open[k].dim != count + k || !is_whole(walk, view, &view->open[k])) return;
  }
  view->subscript_count = count;
  view->open_count = 0;
  view->open = NULL;
}

/* An argument that is a dimension of the view: its number from 0. */
static bool is_dimension(const ms_abstract_view *view, const ms_abstract_value *value,
                         uint32_t *number) {
  if (value->kind != MS_ABSTRACT_VALUE_NUMBER || !ms_form_is_constant(&value->form)) return false;
  if (value->form.constant < 1 || value->form.constant > view->open_count) return false;
  *number = (uint32_t)value->form.constant - 1;
  return true;
}

void ms_abstract_view_subscribe(ms_abstract_view *view, uint32_t number,
                                const ms_abstract_value *value) {
  const ms_open *open = &view->open[number];
  ms_subscript *subscript = &view->subscript[open->dim];
  bool first = ms_form_is_constant(&open->first) && open->first.constant == 0;
  if (first) {
    *subscript = ms_abstract_value_subscript(value);
    return;
  }
  subscript->known = value->kind == MS_ABSTRACT_VALUE_NUMBER &&
                     ms_form_add(&subscript->form, &open->first, &value->form, 1);
}

static bool select_position(ms_abstract_view *view, ms_open *open, const ms_abstract_value *values,
                            uint32_t count) {
  uint32_t at;
  if (count != 2 || view->open_count < 2 || !is_dimension(view, &values[0], &at)) return false;
  ms_abstract_view_subscribe(view, at, &values[1]);
  view->open_count--;
  memmove(&open[at], &open[at + 1], (view->open_count - at) * sizeof *open);
  return true;
}

static bool narrow_dimension(ms_abstract_view *view, ms_open *open, const ms_abstract_value *values,
                             uint32_t count) {
  uint32_t at;
  const ms_form one = ms_form_constant(1);
  if (count != 3 || !is_dimension(view, &values[0], &at)) return false;
  if (values[1].kind != MS_ABSTRACT_VALUE_NUMBER || values[2].kind != MS_ABSTRACT_VALUE_NUMBER)
    return false;
  open[at].length = values[2].form;
  return ms_form_add(&open[at].first, &open[at].first, &values[1].form, 1) &&
         ms_form_add(&open[at].first, &open[at].first, &one, -1);
}

static bool exchange(const ms_abstract_view *view, ms_open *open, const ms_abstract_value *values,
                     uint32_t count) {
  uint32_t a = 0, b = 1;
  if (view->open_count < 2) return false;
  if (count > 0 && !is_dimension(view, &values[0], &a)) return false;
  if (count > 1 && !is_dimension(view, &values[1], &b)) return false;
  ms_open first = open[a];
  open[a] = open[b];
  open[b] = first;
  return true;
}

/* Any elements of an array. */
static void some_part(ms_walk *walk, const ms_abstract_view *of, ms_abstract_value *value) {
  ms_abstract_view *part = ms_subscript_new_view(walk, of->binding);
  if (part == NULL) return;
  part->range = true;
  part->subscript_count = walk->bindings[of->binding].dim_count;
  *value = (ms_abstract_value){.kind = MS_ABSTRACT_VALUE_VIEW, .view = part};
}

void ms_abstract_view_part(ms_walk *walk, const ms_abstract_view *of, const char *method,
                           const ms_abstract_value *values, uint32_t count,
                           ms_abstract_value *value) {
  ms_open *open;
  some_part(walk, of, value);
  ms_abstract_view *view = of->range ? NULL : open_view(walk, of, &open);
  if (view == NULL) return;
  bool known = strcmp(method, "select") == 0   ? select_position(view, open, values, count)
               : strcmp(method, "narrow") == 0 ? narrow_dimension(view, open, values, count)
                                               : exchange(view, open, values, count);
  if (!known) return;
  close_row(walk, view);
  *value = (ms_abstract_value){.kind = MS_ABSTRACT_VALUE_VIEW, .view = view};
}

/* A variable over the positions of a dimension that is left; false where there are too many. */
static bool quantify(ms_walk *walk, const ms_open *open, ms_subscript *subscript) {
  ms_form variable = {0}, one = ms_form_constant(1);
  ms_inner inner = {.total = ms_form_is_constant(&open->length) && open->length.constant >= 1};
  if (walk->scope_count == MS_MAX_INNER) return false;
  variable.at[MS_MAX_DIMS + walk->scope_count] = 1;
  if (!ms_form_add(&inner.low, &variable, &one, -1)) return false;
  if (!ms_form_add(&inner.high, &open->length, &variable, -1)) return false;
  if (!ms_form_add(&subscript->form, &open->first, &variable, 1)) return false;
  walk->scope[walk->scope_count++] = inner;
  return true;
}

void ms_abstract_view_elements(ms_walk *walk, const ms_abstract_view *view,
                               ms_subscript *subscript) {
  memcpy(subscript, view->subscript, view->subscript_count * sizeof *subscript);
  for (uint32_t k = 0; k < view->open_count; k++) {
    ms_subscript *each = &subscript[view->open[k].dim];
    each->known = quantify(walk, &view->open[k], each);
  }
}
