/* SPDX-License-Identifier: MIT
 *
 * Sliced output: see sliced_output.h. */
#include "depend/sliced_output.h"

#include "depend/capture_path.h"
#include "depend/evaluate.h"
#include "depend/footprint.h"
#include "depend/scalar.h"

/* Looks for a mention of a table that is not `t[key] = ...`. */
typedef struct mention {
  const ms_capture *capture;
  bool assigned; /* some element is assigned */
  bool other;
} mention;

static bool is_element_target(const ms_node *table) {
  const ms_node *element = table->parent;
  if (element->kind != MS_INDEX || table->ordinal != 0) return false;
  return element->parent->kind == MS_ASSIGN && element->ordinal < element->parent->targets;
}

static bool look(ms_node *node, void *context) {
  mention *seen = context;
  if (!ms_capture_path_is(seen->capture, node)) return true;
  if (is_element_target(node)) {
    seen->assigned = true;
  } else {
    seen->other = true;
  }
  return false;
}

static bool is_slice(const ms_walk *walk, uint32_t c) {
  const ms_capture *capture = &walk->loop->captures[c];
  const ms_binding *binding = &walk->bindings[c];
  if (binding->kind != MS_BIND_TABLE || !binding->sole_name || capture->assigned) return false;
  if (binding->depth != capture->field_count) return false;
  mention seen = {.capture = capture};
  ms_node_walk(walk->loop->body, look, &seen);
  return seen.assigned && !seen.other;
}

int ms_sliced_outputs_find(ms_walk *walk) {
  walk->sliced = ms_arena_take(walk->arena, walk->binding_count + 1, sizeof *walk->sliced);
  if (walk->sliced == NULL) return -1;
  for (uint32_t c = 0; c < walk->loop->capture_count; c++) walk->sliced[c] = is_slice(walk, c);
  return 0;
}

static bool follows(const ms_subscript *subscript, uint32_t dim) {
  const ms_quadratic *number = subscript->quadratic;
  if (number == NULL) return subscript->known && subscript->form.at[dim] != 0;
  return number->root.at[dim] != 0 || number->rest.at[dim] != 0;
}

static bool follows_index(const ms_subscript *subscript) {
  for (uint32_t d = 0; d < MS_MAX_DIMS; d++) {
    if (follows(subscript, d)) return true;
  }
  return false;
}

/* What goes into a set may meet other keys there: a slice has each key once, as far as can be seen
 * from the text. */
static bool may_meet(const ms_walk *walk, int64_t capture, const ms_subscript *subscript) {
  ms_gathering gathers = walk->gathered[capture];
  if (gathers != MS_GATHERS_MARK) return gathers == MS_GATHERS_MARKS;
  for (uint32_t v = MS_MAX_DIMS; subscript->known && v < MS_VAR_STEADY; v++) {
    if (subscript->form.at[v] != 0 && !walk->scope[v - MS_MAX_DIMS].loop) return true;
  }
  return false;
}

bool ms_sliced_output_assign(ms_walk *walk, ms_node *target) {
  int64_t capture = ms_capture_path_of(walk->loop, target->kid[0]);
  if (capture < 0 || !walk->sliced[capture] || walk->functions > 0) return false;
  if (walk->literal != NULL) return false; /* its text is the body's, but not its iteration's */
  ms_abstract_value key;
  ms_evaluate(walk, target->kid[1], &key);
  const ms_subscript subscript = ms_abstract_value_subscript(&key);
  if (!follows_index(&subscript) || may_meet(walk, capture, &subscript)) return false;
  ms_footprint_add_element(walk, (uint32_t)capture, &subscript, 1, true, target);
  return true;
}

bool ms_sliced_output_indices(ms_walk *walk, uint32_t capture, const char **names) {
  bool any = false, followed[MS_MAX_DIMS] = {false};
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *access = walk->accesses.item[a];
    if (access->binding != capture || access->subscript_count == 0) continue;
    any = true;
    for (uint32_t d = 0; d < MS_MAX_DIMS; d++)
      followed[d] = followed[d] || follows(&access->subscript[0], d);
  }
  *names = "";
  for (uint32_t d = 0; any && d < walk->domain->dim_count; d++) {
    if (!followed[d]) continue;
    const char *name = walk->domain->dim[d].name;
    *names = ms_arena_format(walk->arena, "%s%s%s", *names, **names != '\0' ? ", " : "", name);
    if (*names == NULL) walk->failed = true;
    any = any && *names != NULL;
  }
  return any;
}
