/* SPDX-License-Identifier: MIT
 *
 * Gathering: see gather.h. */
#include "depend/gather.h"

#include <string.h>

#include "depend/capture_path.h"
#include "depend/evaluate.h"
#include "depend/extreme.h"
#include "depend/scalar.h"

/* What the statements of a body do with one table. */
typedef struct search {
  ms_tally all;
  uint32_t combined; /* mentions that belong to such statements */
  bool lists, counts, sums;
  uint32_t marks;      /* statements that give an element a constant */
  const ms_node *mark; /* the constant; with `differ` there are others */
  bool differ;
} search;

static bool is_number(const ms_node *node, double number) {
  node = ms_node_bare(node);
  return node->kind == MS_NUMBER && !node->boxed && node->number == number;
}

static bool is_length(const search *look, const ms_node *node) {
  node = ms_node_bare(node);
  return node->kind == MS_UNARY && node->op == MS_OP_LEN &&
         ms_capture_path_is(look->all.capture, ms_node_bare(node->kid[0]));
}

/* #t + 1 */
static bool is_end(const search *look, const ms_node *key) {
  key = ms_node_bare(key);
  if (key->kind != MS_BINARY || key->op != MS_OP_ADD) return false;
  return (is_length(look, key->kid[0]) && is_number(key->kid[1], 1)) ||
         (is_length(look, key->kid[1]) && is_number(key->kid[0], 1));
}

/* h[k] or 0, of the target's k */
static bool is_old(const search *look, const ms_node *node, const ms_node *target) {
  node = ms_node_bare(node);
  if (node->kind != MS_BINARY || node->op != MS_OP_OR || !is_number(node->kid[1], 0)) return false;
  return ms_tally_same_value(&look->all, node->kid[0], target);
}

/* Sums of whole numbers up to this one are exact for longer than loops run. */
#define MOST_WHOLE 1024

static bool is_whole(const ms_node *node) {
  node = ms_node_bare(node);
  if (node->kind != MS_NUMBER || node->boxed || !(node->number <= MOST_WHOLE)) return false;
  return node->number == (double)(int32_t)node->number;
}

/* h[k] itself, of the target's k */
static bool is_element(const search *look, const ms_node *node, const ms_node *target) {
  return ms_tally_same_value(&look->all, node, target);
}

static bool look_for_part(ms_node *node, void *context) {
  bool *found = context;
  *found = *found || node->kind == MS_INDEX || (node->kind == MS_NAME && node->symbol == NULL);
  return !*found;
}

/* Whether what a term does before h[k] is read may change k: it has a part of a table, or a global,
 * and the term calls something. */
static bool may_change(const search *look, const ms_node *key, ms_node *term) {
  bool part = false;
  ms_node_walk((ms_node *)(uintptr_t)key, look_for_part, &part);
  return part && !ms_tally_is_steady(&look->all, term);
}

typedef bool is_before(const search *look, const ms_node *node, const ms_node *target);

/* The e of `h[k] + e`, where h[k] stands as `old` says; NULL if it is none. */
static ms_node *term_of(const search *look, const ms_node *target, const ms_node *value,
                        is_before *old) {
  value = ms_node_bare(value);
  if (value->kind != MS_BINARY || (value->op != MS_OP_ADD && value->op != MS_OP_SUB)) return NULL;
  bool left = old(look, value->kid[0], target);
  if (!left && (value->op != MS_OP_ADD || !old(look, value->kid[1], target))) return NULL;
  ms_node *term = value->kid[left ? 1 : 0];
  if (!left && may_change(look, target->kid[1], term)) return NULL;
  return ms_tally_mentions(&look->all, term) == 0 ? term : NULL;
}

static bool is_count(search *look, const ms_node *target, const ms_node *value, is_before *old) {
  const ms_node *term = term_of(look, target, value, old);
  if (term == NULL) return false;
  look->sums = look->sums || !is_whole(term);
  return true;
}

/* The target of `h[k] = value`, k without h; NULL: it is no such statement. */
static ms_node *stored(const search *look, const ms_node *node) {
  if (node->kind != MS_ASSIGN || node->targets != 1 || node->kids != 2) return NULL;
  ms_node *target = node->kid[0];
  if (target->kind != MS_INDEX || !ms_capture_path_is(look->all.capture, target->kid[0]))
    return NULL;
  return ms_tally_mentions(&look->all, target->kid[1]) == 0 ? target : NULL;
}

/* The only statement of a block, that stores into the same element as `target` if that is given. */
static const ms_node *only_store(const search *look, const ms_node *block, const ms_node *target) {
  const ms_node *only = block->kind == MS_BLOCK && block->kids == 1 ? block->kid[0] : NULL;
  const ms_node *found = only != NULL ? stored(look, only) : NULL;
  bool same = found != NULL && (target == NULL || is_element(look, found, target));
  return same ? only : NULL;
}

/* Whether a condition asks for h[k]; `absent`: that there is none. */
static bool asks(const search *look, const ms_node *test, const ms_node *target, bool *absent) {
  test = ms_node_bare(test);
  *absent = true;
  if (test->kind == MS_UNARY && test->op == MS_OP_NOT)
    return is_element(look, test->kid[0], target);
  bool compares = test->kind == MS_BINARY && (test->op == MS_OP_EQ || test->op == MS_OP_NE);
  *absent = compares && test->op == MS_OP_EQ;
  if (compares && ms_node_bare(test->kid[1])->kind != MS_NIL) return false;
  return is_element(look, compares ? test->kid[0] : test, target);
}

/* if h[k] then h[k] = h[k] + e else h[k] = e end */
static bool is_either(search *look, const ms_node *node) {
  bool absent;
  if (node->kind != MS_IF || node->kids != 3) return false;
  const ms_node *first = only_store(look, node->kid[1], NULL);
  if (first == NULL || !asks(look, node->kid[0], first->kid[0], &absent)) return false;
  const ms_node *last = only_store(look, node->kid[2], first->kid[0]);
  if (last == NULL) return false;
  const ms_node *sum = absent ? last : first, *alone = absent ? first : last;
  const ms_node *value = ms_node_bare(sum->kid[1]);
  const ms_node *term = term_of(look, sum->kid[0], value, is_element);
  if (term == NULL || value->op != MS_OP_ADD) return false;
  return ms_tally_same_value(&look->all, term, alone->kid[1]) &&
         is_count(look, sum->kid[0], value, is_element);
}

/* What begins an element at 0: `h[k] = h[k] or 0`, `if not h[k] then h[k] = 0 end`. Its target. */
static const ms_node *begins(const search *look, const ms_node *node) {
  bool absent;
  const ms_node *target = stored(look, node);
  if (target != NULL) return is_old(look, node->kid[1], target) ? target : NULL;
  if (node->kind != MS_IF || node->kids != 2) return NULL;
  const ms_node *set = only_store(look, node->kid[1], NULL);
  if (set == NULL || !is_number(set->kid[1], 0)) return NULL;
  return asks(look, node->kid[0], set->kid[0], &absent) && absent ? set->kid[0] : NULL;
}

/* ... and then h[k] = h[k] + e at once. */
static bool is_begun(search *look, const ms_node *node) {
  const ms_node *block = node->parent, *target = begins(look, node);
  if (target == NULL || block->kind != MS_BLOCK || node->ordinal + 1 >= block->kids) return false;
  const ms_node *next = block->kid[node->ordinal + 1], *again = stored(look, next);
  return again != NULL && is_element(look, again, target) &&
         is_count(look, again, next->kid[1], is_element);
}

/* A call that gives one value, whatever it is given. */
static bool gives_one(const search *look, const ms_node *node) {
  static const char *const several[] = {"math.frexp", "math.modf"};
  if (node->kind != MS_CALL) return node->kind != MS_METHOD && node->kind != MS_VARARG;
  const char *name = ms_tally_builtin(&look->all, node->kid[0]);
  for (size_t n = 0; name != NULL && n < sizeof several / sizeof several[0]; n++) {
    if (strcmp(name, several[n]) == 0) return false;
  }
  return name != NULL && (strncmp(name, "math.", 5) == 0 || strncmp(name, "bit.", 4) == 0 ||
                          strcmp(name, "tostring") == 0 || strcmp(name, "string.format") == 0 ||
                          strcmp(name, "tonumber") == 0);
}

/* table.insert(t, v), table.insert(t, #t + 1, v); a v that is a call could be position and value,
 * unless it is known to be one. */
static bool is_insert(const search *look, const ms_node *node) {
  if (node->kind != MS_CALL || node->kids < 3 || node->kids > 4) return false;
  const char *name = ms_tally_builtin(&look->all, node->kid[0]);
  ms_node *value = node->kid[node->kids - 1];
  if (name == NULL || strcmp(name, "table.insert") != 0) return false;
  if (!ms_capture_path_is(look->all.capture, ms_node_bare(node->kid[1]))) return false;
  if (node->kids == 4 && !is_end(look, node->kid[2])) return false;
  return gives_one(look, value) && ms_tally_mentions(&look->all, value) == 0;
}

static bool is_constant(const ms_node *node) {
  node = ms_node_bare(node);
  if (node->kind == MS_UNARY && node->op == MS_OP_NEG) node = node->kid[0];
  return (node->kind == MS_NUMBER && !node->boxed) || node->kind == MS_STRING ||
         node->kind == MS_TRUE || node->kind == MS_FALSE;
}

static void add_mark(search *look, const ms_node *value) {
  look->differ =
      look->differ || (look->mark != NULL && !ms_tally_same_value(&look->all, look->mark, value));
  look->mark = value;
  look->marks++;
}

/* One target of an assignment, with its value; NULL: that is one of several of a call. */
static void visit_target(search *look, const ms_node *target, ms_node *value) {
  if (target->kind != MS_INDEX || !ms_capture_path_is(look->all.capture, target->kid[0])) return;
  bool free = ms_tally_mentions(&look->all, target->kid[1]) == 0;
  bool given = value != NULL && ms_tally_mentions(&look->all, value) > 0;
  bool appends = is_end(look, target->kid[1]) && !given;
  bool marks = free && value != NULL && is_constant(value);
  bool counts = free && value != NULL && is_count(look, target, value, is_old);
  look->lists = look->lists || appends;
  look->counts = look->counts || counts;
  if (marks) add_mark(look, value);
  if (!appends && !counts && !marks) return;
  look->combined += 1 + ms_tally_mentions(&look->all, target->kid[1]);
  if (given) look->combined += ms_tally_mentions(&look->all, value);
}

static bool visit(ms_node *node, void *context) {
  search *look = context;
  if (node->kind == MS_FUNCTION) return false;
  bool inserts = is_insert(look, node), alone = stored(look, node) != NULL;
  bool either = is_either(look, node), begun = is_begun(look, node);
  look->lists = look->lists || inserts;
  look->counts = look->counts || either || begun;
  if (inserts || either || begun) look->combined += ms_tally_mentions(&look->all, node);
  if (begun) look->combined += 2;
  for (uint32_t t = 0; node->kind == MS_ASSIGN && t < node->targets; t++) {
    bool several = node->targets + t >= node->kids;
    visit_target(look, node->kid[t], several ? NULL : node->kid[node->targets + t]);
  }
  return !either && !(begun && !alone);
}

static ms_gathering gathering_of(const ms_walk *walk, uint32_t c) {
  const ms_capture *capture = &walk->loop->captures[c];
  const ms_binding *binding = &walk->bindings[c];
  if (binding->kind != MS_BIND_TABLE || !binding->sole_name || binding->objects != 0 ||
      capture->assigned)
    return MS_GATHERS_NOTHING;
  if (binding->depth != capture->field_count) return MS_GATHERS_NOTHING;
  search look = {.all = {.walk = walk, .loop = walk->loop, .capture = capture}};
  ms_node_walk(walk->loop->body, visit, &look);
  if (look.lists + look.counts + (look.marks > 0) != 1 || look.differ) return MS_GATHERS_NOTHING;
  if (look.combined != ms_tally_mentions(&look.all, walk->loop->body)) return MS_GATHERS_NOTHING;
  if (look.lists) return MS_GATHERS_LIST;
  if (look.marks > 0) return look.marks == 1 ? MS_GATHERS_MARK : MS_GATHERS_MARKS;
  return look.sums ? MS_GATHERS_SUMS : MS_GATHERS_COUNTS;
}

int ms_gathers_find(ms_walk *walk) {
  walk->gathered = ms_arena_take(walk->arena, walk->binding_count + 1, sizeof *walk->gathered);
  if (walk->gathered == NULL) return -1;
  for (uint32_t c = 0; c < walk->loop->capture_count; c++)
    walk->gathered[c] = gathering_of(walk, c);
  return 0;
}

bool ms_gather_insert(ms_walk *walk, ms_node *node) {
  int64_t capture = ms_capture_path_of(walk->loop, ms_node_bare(node->kid[1]));
  ms_abstract_value ignored;
  if (capture < 0 || walk->functions > 0 || walk->frame != NULL) return false;
  if (walk->gathered[capture] != MS_GATHERS_LIST) return false;
  for (uint32_t k = 2; k < node->kids; k++) ms_evaluate(walk, node->kid[k], &ignored);
  return true;
}

bool ms_gather_assign(ms_walk *walk, ms_node *target) {
  int64_t capture = ms_capture_path_of(walk->loop, target->kid[0]);
  ms_abstract_value key;
  if (capture < 0 || walk->functions > 0 || walk->gathered[capture] == MS_GATHERS_NOTHING)
    return false;
  ms_evaluate(walk, target->kid[1], &key);
  return true;
}
