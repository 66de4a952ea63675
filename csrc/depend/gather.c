/* SPDX-License-Identifier: MIT
 *
 * Gathering: see gather.h. */
#include "depend/gather.h"

#include "depend/extreme.h"
#include "depend/scalar.h"

/* What the statements of a body do with one table. */
typedef struct search {
  ms_tally all;
  uint32_t combined; /* mentions that belong to such statements */
  bool lists, counts, sums;
} search;

static bool is_number(const ms_node *node, double number) {
  node = ms_node_bare(node);
  return node->kind == MS_NUMBER && !node->boxed && node->number == number;
}

static bool is_length(const search *look, const ms_node *node) {
  node = ms_node_bare(node);
  return node->kind == MS_UNARY && node->op == MS_OP_LEN &&
         ms_capture_is(look->all.capture, ms_node_bare(node->kid[0]));
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
  return ms_node_same_value(&look->all, node->kid[0], target);
}

static bool is_whole(const ms_node *node) {
  node = ms_node_bare(node);
  return node->kind == MS_NUMBER && !node->boxed && node->number == (double)(int32_t)node->number;
}

static bool is_count(search *look, const ms_node *target, const ms_node *value) {
  value = ms_node_bare(value);
  if (value->kind != MS_BINARY || (value->op != MS_OP_ADD && value->op != MS_OP_SUB)) return false;
  bool left = is_old(look, value->kid[0], target);
  if (!left && (value->op != MS_OP_ADD || !is_old(look, value->kid[1], target))) return false;
  ms_node *term = value->kid[left ? 1 : 0];
  look->sums = look->sums || !is_whole(term);
  return ms_tally_mentions(&look->all, term) == 0;
}

static bool visit(ms_node *node, void *context) {
  search *look = context;
  if (node->kind == MS_FUNCTION) return false;
  if (node->kind != MS_ASSIGN || node->targets != 1 || node->kids != 2) return true;
  ms_node *target = node->kid[0], *value = node->kid[1];
  if (target->kind != MS_INDEX || !ms_capture_is(look->all.capture, target->kid[0])) return true;
  bool appends = is_end(look, target->kid[1]) && ms_tally_mentions(&look->all, value) == 0;
  bool counts = !appends && ms_tally_mentions(&look->all, target->kid[1]) == 0 &&
                is_count(look, target, value);
  look->lists = look->lists || appends;
  look->counts = look->counts || counts;
  if (appends || counts) look->combined += 2;
  return true;
}

static ms_gathering gathering_of(const ms_walk *walk, uint32_t c) {
  const ms_capture *capture = &walk->loop->captures[c];
  const ms_binding *binding = &walk->bindings[c];
  if (binding->kind != MS_BIND_TABLE || !binding->alone || binding->objects != 0 ||
      capture->assigned)
    return MS_GATHERS_NOTHING;
  if (binding->depth != capture->field_count) return MS_GATHERS_NOTHING;
  search look = {.all = {.walk = walk, .loop = walk->loop, .capture = capture}};
  ms_node_walk(walk->loop->body, visit, &look);
  if (look.lists == look.counts) return MS_GATHERS_NOTHING;
  if (look.combined != ms_tally_mentions(&look.all, walk->loop->body)) return MS_GATHERS_NOTHING;
  if (look.lists) return MS_GATHERS_LIST;
  return look.sums ? MS_GATHERS_SUMS : MS_GATHERS_COUNTS;
}

int ms_gathers_find(ms_walk *walk) {
  walk->gathered = ms_arena_take(walk->arena, walk->binding_count + 1, sizeof *walk->gathered);
  if (walk->gathered == NULL) return -1;
  for (uint32_t c = 0; c < walk->loop->capture_count; c++)
    walk->gathered[c] = gathering_of(walk, c);
  return 0;
}

bool ms_gather_assign(ms_walk *walk, ms_node *target) {
  int64_t capture = ms_loop_capture_of(walk->loop, target->kid[0]);
  ms_value key;
  if (capture < 0 || walk->functions > 0 || walk->gathered[capture] == MS_GATHERS_NOTHING)
    return false;
  ms_walk_value(walk, target->kid[1], &key);
  return true;
}
