/* SPDX-License-Identifier: MIT
 *
 * Carried variables: see carried.h. */
#include "depend/carried.h"

#include <string.h>

#include "depend/capture_path.h"
#include "depend/explain.h"
#include "depend/extreme.h"
#include "depend/start.h"
#include "depend/truthy.h"

typedef struct search {
  ms_tally all;
  ms_node *value;         /* what may be false, of `if s == nil and p then s = value end` */
  const ms_node *other;   /* what the variable is compared with; */
  const ms_node *begin;   /* and the e of `math.max(s or e, ...)` */
  const ms_node *compare; /* where that is */
  bool greatest;
} search;

static bool is_mention(const search *look, const ms_node *node) {
  return ms_capture_path_is(look->all.capture, ms_node_bare(node));
}

/* s == nil */
static bool look_for_nil(ms_node *node, void *context) {
  search *look = context;
  bool asks = node->kind == MS_BINARY && node->op == MS_OP_EQ && is_mention(look, node->kid[0]) &&
              ms_node_bare(node->kid[1])->kind == MS_NIL;
  if (asks) look->compare = node;
  return look->compare == NULL;
}

/* if s == nil and p then s = value end, of a value that may be false */
static bool look_for_first(ms_node *node, void *context) {
  search *look = context;
  uint32_t places;
  if (node->kind != MS_IF || node->kids != 2 || look->value != NULL) return look->value == NULL;
  ms_node *value = ms_extreme_given(node->kid[1], look->all.capture, &places);
  ms_node_walk(node->kid[0], look_for_nil, look);
  bool first = value != NULL && look->compare != NULL;
  if (first && !ms_node_is_truthy(&look->all, value)) look->value = value;
  look->compare = NULL;
  return true;
}

/* math.max(s, e), math.max(s or e, e): one of two arguments is the variable. */
static bool is_call(search *look, const ms_node *node) {
  if (node->kind != MS_CALL || node->kids != 3) return false;
  const char *name = ms_tally_builtin(&look->all, node->kid[0]);
  if (name == NULL || (strcmp(name, "math.max") != 0 && strcmp(name, "math.min") != 0))
    return false;
  for (uint32_t k = 1; k <= 2; k++) {
    ms_node *each = ms_node_bare(node->kid[k]);
    bool begun = each->kind == MS_BINARY && each->op == MS_OP_OR && is_mention(look, each->kid[0]);
    if (!begun && !is_mention(look, each)) continue;
    look->begin = begun ? ms_node_bare(each->kid[1]) : NULL;
    look->other = node->kid[3 - k];
    look->greatest = strcmp(name, "math.max") == 0;
    return true;
  }
  return false;
}

static bool look_for_comparison(ms_node *node, void *context) {
  search *look = context;
  ms_reduce_form is = {0};
  if (look->other != NULL) return false;
  if (ms_extreme_compares(look->all.capture, node, &look->other, &is)) {
    look->greatest = is.op == MS_REDUCE_MAX;
    return false;
  }
  return !is_call(look, node);
}

/* Whether the value is one of two operands, the variable and the one that it is compared with:
 * `p and s or e`, where p compares or, as in `s and math.max(s, e) or e`, does not. */
static bool chooses(search *look, const ms_node *value) {
  const ms_node *condition, *yes, *last = value->kid[1];
  if (!ms_node_is_choice(value, &condition, &yes)) return false;
  if (ms_tally_mentions(&look->all, ms_node_bare(condition)) < 2)
    return is_mention(look, condition) && ms_tally_same_value(&look->all, look->other, last);
  bool keeps = is_mention(look, yes);
  if (keeps) look->greatest = !look->greatest;
  if (!is_mention(look, keeps ? yes : last)) return false;
  return ms_tally_same_value(&look->all, look->other, keeps ? last : yes);
}

/* s = value, where the value is s or something that is compared with it. */
static bool look_for_extreme(ms_node *node, void *context) {
  search *look = context;
  if (node->kind != MS_ASSIGN || node->targets != 1 || node->kids != 2) return true;
  if (look->compare != NULL || !ms_capture_path_is(look->all.capture, node->kid[0])) return true;
  ms_node *value = ms_node_bare(node->kid[1]);
  look->other = look->begin = NULL;
  ms_node_walk(value, look_for_comparison, look);
  if (look->other == NULL || ms_tally_mentions(&look->all, ms_node_bare(look->other)) > 0)
    return true;
  bool is = value->kind == MS_BINARY ? chooses(look, value) : value->kind == MS_CALL;
  if (is) look->compare = node;
  return !is;
}

static const char *first_fix(ms_walk *walk, const search *look, const char *name,
                             const char **words) {
  *words = ms_arena_format(
      walk->arena, "is asked for nil, and %.*s may be false, which would last, too",
      (int)(look->value->end - look->value->begin), walk->loop->tree->text + look->value->begin);
  return ms_arena_format(walk->arena, "if it is never false: if not %s and ... then %s = ... end",
                         name, name);
}

static const char *extreme_fix(ms_walk *walk, const search *look, const char *name,
                               const char **words) {
  const char *text = walk->loop->tree->text, *most = look->greatest ? "greatest" : "least";
  int size = (int)(look->other->end - look->other->begin);
  const char *other = text + look->other->begin;
  *words = ms_arena_format(walk->arena,
                           "is made the %s value in a form that blocks cannot combine, so each "
                           "iteration needs the one before it",
                           most);
  if (look->begin != NULL && look->begin->kind == MS_NUMBER)
    return ms_arena_format(
        walk->arena, "begin before the loop: %s = %s or %.*s  ... %s = %s(%s, %.*s)", name, name,
        (int)(look->begin->end - look->begin->begin), text + look->begin->begin, name,
        look->greatest ? "math.max" : "math.min", name, size, other);
  return ms_arena_format(walk->arena,
                         "if no value is nan: if not %s or %.*s %c %s then %s = %.*s end", name,
                         size, other, look->greatest ? '>' : '<', name, name, size, other);
}

const char *ms_carried_fix(ms_walk *walk, ms_node *body, uint32_t index, const char **words,
                           const ms_node **place) {
  const char *spoiled = NULL, *fix = NULL, *said = NULL;
  *place = ms_scalar_spoiler(walk, index, body, &spoiled);
  if (*place != NULL) {
    walk->failed = walk->failed || spoiled == NULL;
    *words = spoiled;
    return NULL;
  }
  search look = {.all = {.walk = walk, .loop = walk->loop}};
  look.all.capture = &walk->loop->captures[index];
  look.all.kind = walk->bindings[index].kind;
  ms_node_walk(body, look_for_first, &look);
  if (look.value == NULL) ms_node_walk(body, look_for_extreme, &look);
  const char *name =
      look.value != NULL || look.compare != NULL ? ms_explain_path(walk, walk->arena, index) : NULL;
  if (name == NULL) {
    fix = ms_start_appended(walk, body, index, place);
    if (fix != NULL)
      *words = "is a string that each iteration appends to, so each needs the one before it";
    return fix;
  }
  fix = look.value != NULL ? first_fix(walk, &look, name, &said)
                           : extreme_fix(walk, &look, name, &said);
  walk->failed = walk->failed || fix == NULL || said == NULL;
  *words = said;
  return fix;
}
