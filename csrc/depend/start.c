/* SPDX-License-Identifier: MIT
 *
 * Starts: see start.h. */
#include "depend/start.h"

#include "depend/capture_path.h"
#include "depend/explain.h"
#include "depend/scalar.h"

/* What a binding's value is called; NULL for numbers and nil. */
static const char *noun_of(ms_binding_kind kind) {
  if (kind == MS_BIND_STRING) return "a string";
  return kind == MS_BIND_BOOLEAN ? "a boolean" : NULL;
}

/* What decides between equal extremes is compared with a number as soon as values are equal. */
static const char *tie_words(ms_walk *walk, const ms_scalar_plan *plan, const char **fix) {
  ms_binding_kind kind = walk->bindings[plan->capture].kind;
  if (kind == MS_BIND_NUMBER) return NULL;
  const char *noun = noun_of(kind), *name = ms_explain_path(walk, walk->arena, plan->capture);
  *fix = ms_arena_format(walk->arena, "if any index is to go before it: %s = %smath.huge", name,
                         plan->tie_op == MS_REDUCE_MIN ? "" : "-");
  const char *words = ms_arena_format(walk->arena,
                                      "is %s before the loop, and compared with a number where the "
                                      "values are equal",
                                      noun == NULL ? "nil" : noun);
  walk->failed = walk->failed || name == NULL || *fix == NULL || words == NULL;
  return words;
}

const char *ms_start_words(ms_walk *walk, const ms_scalar_plan *plan, const char **fix) {
  if (plan->tie > 0 && !plan->unset) return tie_words(walk, plan, fix);
  const char *noun = noun_of(walk->bindings[plan->capture].kind);
  bool extreme = plan->op == MS_REDUCE_MIN || plan->op == MS_REDUCE_MAX;
  bool any = plan->op == MS_REDUCE_AND || plan->op == MS_REDUCE_OR || plan->op == MS_REDUCE_WITH;
  if (noun == NULL || any || plan->unset) return NULL;
  const char *name = ms_explain_path(walk, walk->arena, plan->capture);
  *fix = extreme ? ms_arena_format(walk->arena,
                                   "if that need not count: %s = nil  ... if not %s "
                                   "or value %c %s then %s = value end",
                                   name, name, plan->op == MS_REDUCE_MAX ? '>' : '<', name, name)
                 : ms_arena_format(walk->arena, "if it is to be a number: %s = %d", name,
                                   plan->op == MS_REDUCE_PRODUCT ? 1 : 0);
  const char *words = ms_arena_format(walk->arena,
                                      "is %s before the loop, and the reduction '%s' starts from a "
                                      "number",
                                      noun, ms_reduce_op_name(plan->op));
  walk->failed = walk->failed || name == NULL || *fix == NULL || words == NULL;
  return words;
}

typedef struct look {
  const ms_capture *capture;
  const ms_node *first; /* mention that is appended to */
  bool only;            /* no other was met */
} look;

/* `s`, `(s)` or `(s or "")`. */
static const ms_node *mentioned(const ms_capture *capture, const ms_node *node) {
  while (node->kind == MS_PAREN) node = node->kid[0];
  if (node->kind == MS_BINARY && node->op == MS_OP_OR && node->kid[1]->kind == MS_STRING)
    node = node->kid[0];
  return ms_capture_path_is(capture, node) ? node : NULL;
}

/* s = s .. e */
static const ms_node *appended(const ms_capture *capture, const ms_node *assign) {
  if (assign->targets != 1 || assign->kids != 2) return NULL;
  const ms_node *value = assign->kid[1];
  if (!ms_capture_path_is(capture, assign->kid[0])) return NULL;
  while (value->kind == MS_PAREN) value = value->kid[0];
  if (value->kind != MS_BINARY || value->op != MS_OP_CONCAT) return NULL;
  return mentioned(capture, value->kid[0]);
}

static bool visit(ms_node *node, void *context) {
  look *at = context;
  const ms_node *old = node->kind == MS_ASSIGN ? appended(at->capture, node) : NULL;
  if (old != NULL) {
    look rest = {at->capture, NULL, true};
    ms_node *value = node->kid[1];
    while (value->kind == MS_PAREN) value = value->kid[0];
    ms_node_walk(value->kid[1], visit, &rest);
    at->only = at->only && rest.only && rest.first == NULL;
    if (at->first == NULL) at->first = old;
    return false;
  }
  if (ms_capture_path_is(at->capture, node)) at->only = false;
  return at->only;
}

const char *ms_start_appended(ms_walk *walk, ms_node *body, uint32_t index, const ms_node **place) {
  look at = {.capture = &walk->loop->captures[index], .only = true};
  ms_binding_kind kind = walk->bindings[index].kind;
  if (kind != MS_BIND_STRING && kind != MS_BIND_NIL && kind != MS_BIND_NUMBER) return NULL;
  ms_node_walk(body, visit, &at);
  if (at.first == NULL || !at.only) return NULL;
  *place = at.first;
  const char *name = ms_explain_path(walk, walk->arena, index);
  const char *fix = ms_arena_format(walk->arena,
                                    "collect the pieces: local parts = {}  ... parts[#parts + 1] = "
                                    "piece  ... %s = %s .. table.concat(parts)",
                                    name, kind == MS_BIND_NIL ? "\"\"" : name);
  walk->failed = walk->failed || name == NULL || fix == NULL;
  return fix;
}
