/* SPDX-License-Identifier: MIT
 *
 * Explain: see explain.h. */
#include "depend/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "depend/witness.h"

/* Longer code is cut in places and not repeated in fixes. */
#define LONGEST_TEXT 72
#define LONGEST_CALL 100
/* More reasons than these are noise. */
#define MOST_CONFLICTS 4

const char *ms_reason_code(ms_reason_kind kind) {
  static const char *const codes[] = {
#define MS_REASON_CODE(name, code, title) code,
      MS_REASON_TABLE(MS_REASON_CODE)
#undef MS_REASON_CODE
  };
  return codes[kind];
}

const char *ms_reason_title(ms_reason_kind kind) {
  static const char *const titles[] = {
#define MS_REASON_TITLE(name, code, title) title,
      MS_REASON_TABLE(MS_REASON_TITLE)
#undef MS_REASON_TITLE
  };
  return titles[kind];
}

static ms_reason *add_reason(const ms_explainer *explain, ms_reason_kind kind) {
  ms_reasons *all = explain->reasons;
  if (all->count == all->capacity) {
    uint32_t capacity = all->capacity == 0 ? 8 : all->capacity * 2;
    ms_reason *grown = ms_arena_take(explain->arena, capacity, sizeof *grown);
    if (grown == NULL) return NULL;
    if (all->count > 0) memcpy(grown, all->item, all->count * sizeof *grown);
    all->item = grown;
    all->capacity = capacity;
  }
  ms_reason *reason = &all->item[all->count++];
  *reason = (ms_reason){.code = ms_reason_code(kind), .title = ms_reason_title(kind)};
  return reason;
}

static void add_fix(ms_reason *reason, const char *fix) {
  for (uint32_t f = 0; f < MS_MAX_FIXES && fix != NULL; f++) {
    if (reason->fix[f] != NULL) continue;
    reason->fix[f] = fix;
    return;
  }
}

/* Bytes of the node on its first line. */
static size_t first_line_length(const ms_tree *tree, const ms_node *node) {
  size_t length = node->end - node->begin;
  const char *text = tree->text + node->begin;
  const char *end = memchr(text, '\n', length);
  if (end != NULL) length = (size_t)(end - text);
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\r')) length--;
  return length;
}

ms_place ms_explain_place(const ms_explainer *explain, const ms_node *node) {
  ms_place place = {0};
  if (node == NULL) return place;
  const ms_tree *tree = explain->walk->loop->tree;
  size_t length = first_line_length(tree, node);
  place.line = node->line;
  place.column = node->column;
  place.end_column = node->column + (uint32_t)length;
  place.text = ms_arena_copy(explain->arena, tree->text + node->begin,
                             length > LONGEST_TEXT ? LONGEST_TEXT : length);
  return place;
}

const char *ms_binding_path(const ms_walk *walk, ms_arena *arena, uint32_t binding) {
  if (binding >= walk->loop->capture_count && walk->bindings[binding].name != NULL)
    return ms_arena_format(arena, "%s", walk->bindings[binding].name);
  if (binding >= walk->loop->capture_count)
    return ms_arena_copy(arena, "an array of a function", strlen("an array of a function"));
  const ms_capture *capture = &walk->loop->captures[binding];
  const char *path = ms_arena_format(arena, "%s", capture->root);
  for (uint32_t f = 0; f < walk->bindings[binding].depth && path != NULL; f++)
    path = ms_arena_format(arena, "%s.%s", path, capture->fields[f]);
  return path;
}

/* ---- fixes ---- */

static bool is_options(const ms_node *node) {
  return node->kind == MS_TABLE && (node->kids == 0 || node->kid[0]->kid[0] != NULL);
}

static void append_node(ms_text *text, const ms_tree *tree, const ms_node *node) {
  ms_text_append(text, tree->text + node->begin, node->end - node->begin);
}

static void append_arguments(ms_text *text, const ms_tree *tree, const ms_node *call,
                             const char *option) {
  bool done = false;
  for (uint32_t k = 1; k < call->kids; k++) {
    const ms_node *argument = call->kid[k];
    const char *separator = k > 1 ? ", " : "";
    if (is_options(argument)) {
      ms_text_format(text, "%s{%s%s", separator, option, argument->kids > 0 ? ", " : "");
      ms_text_append(text, tree->text + argument->begin + 1, argument->end - argument->begin - 1);
      done = true;
    } else {
      ms_text_add(text, separator);
      append_node(text, tree, argument);
    }
  }
  if (!done) ms_text_format(text, ", {%s}", option);
}

const char *ms_explain_call(const ms_explainer *explain, const char *option) {
  const ms_loop *loop = explain->walk->loop;
  ms_text text = {0};
  if (loop->closure != NULL) /* it may stand elsewhere: the call is not seen */
    return ms_arena_format(explain->arena, "meissa.each(..., {%s}, ...)", option);
  append_node(&text, loop->tree, loop->call->kid[0]);
  if (loop->call->kind == MS_METHOD) ms_text_format(&text, ":%s", loop->call->text);
  ms_text_add(&text, "(");
  append_arguments(&text, loop->tree, loop->call, option);
  ms_text_add(&text, ")");
  const char *call = NULL;
  if (!text.failed && text.length <= LONGEST_CALL && strchr(text.bytes, '\n') == NULL) {
    call = ms_arena_copy(explain->arena, text.bytes, text.length);
  } else if (!text.failed) {
    call = ms_arena_format(explain->arena, "parallel(..., {%s})", option);
  }
  ms_text_free(&text);
  return call;
}

/* "what: the call with the option". -1: out of memory. */
static int add_call_fix(const ms_explainer *explain, ms_reason *reason, const char *what,
                        const char *option) {
  const char *call = ms_explain_call(explain, option);
  if (call == NULL) return -1;
  add_fix(reason, ms_arena_format(explain->arena, "%s: %s", what, call));
  return 0;
}

static int add_order_fix(const ms_explainer *explain, ms_reason *reason) {
  return add_call_fix(explain, reason, "if any order of iterations is acceptable",
                      "ordered = false");
}

/* What computes the same as the loop as written. */
static int add_exact_fixes(const ms_explainer *explain, ms_reason *reason) {
  if (explain->collapses &&
      add_call_fix(explain, reason, "with two indices, as a wavefront or sweep", "collapse = 2") !=
          0)
    return -1;
  return add_call_fix(explain, reason, "run it serially", "serial = true");
}

/* ---- findings ---- */

static bool is_notice(ms_reason_kind kind) {
  return ms_reason_code(kind)[3] == '2';
}

int ms_explain_findings(const ms_explainer *explain) {
  const ms_walk *walk = explain->walk;
  for (uint32_t f = 0; f < walk->finding_count; f++) {
    const ms_finding *finding = &walk->findings[f];
    ms_reason *reason = add_reason(explain, finding->kind);
    if (reason == NULL) return -1;
    reason->message = ms_arena_copy(explain->arena, finding->message, strlen(finding->message));
    reason->first = ms_explain_place(explain, finding->node);
    bool flows = finding->kind == MS_REASON_SCALAR; /* what keeps the result comes first */
    if (flows && add_call_fix(explain, reason, "run it serially", "serial = true") != 0) return -1;
    if (finding->fix != NULL)
      add_fix(reason, ms_arena_copy(explain->arena, finding->fix, strlen(finding->fix)));
    if (finding->kind == MS_REASON_IMPURE && finding->fix == NULL &&
        add_call_fix(explain, reason, "if their order does not matter", "impure = true") != 0)
      return -1;
    if (!flows && !is_notice(finding->kind) &&
        add_call_fix(explain, reason, "run it serially", "serial = true") != 0)
      return -1;
  }
  return 0;
}

/* ---- conflicts ---- */

typedef struct update {
  const ms_tree *tree;
  const ms_node *target; /* the write to look for */
  bool found;
} update;

static bool is_same_text(const ms_tree *tree, const ms_node *a, const ms_node *b) {
  size_t length = a->end - a->begin;
  return length == b->end - b->begin &&
         memcmp(tree->text + a->begin, tree->text + b->begin, length) == 0;
}

/* target = target + e, or e + target, or target - e. */
static bool look_for_update(ms_node *node, void *context) {
  update *look = context;
  if (node->kind != MS_ASSIGN || node->targets != 1 || node->kids != 2) return true;
  if (node->kid[0] != look->target) return true;
  const ms_node *value = node->kid[1];
  while (value->kind == MS_PAREN) value = value->kid[0];
  while (value->kind == MS_BINARY && (value->op == MS_OP_ADD || value->op == MS_OP_SUB)) {
    if (is_same_text(look->tree, value->kid[0], look->target)) look->found = true;
    if (value->op == MS_OP_ADD && is_same_text(look->tree, value->kid[1], look->target))
      look->found = true;
    value = value->kid[0];
  }
  return true;
}

static bool is_update(const ms_explainer *explain, const ms_access *write) {
  update look = {explain->walk->loop->tree, write->node, false};
  if (write->node == NULL) return false;
  ms_node_walk(explain->walk->loop->body, look_for_update, &look);
  return look.found;
}

typedef struct stores {
  const ms_explainer *explain;
  uint32_t group;
  bool summed;
} stores;

/* Whether an assignment's target is a place in the group's arrays. */
static bool is_in_group(const ms_walk *walk, const ms_node *target, uint32_t group) {
  const ms_node *root = target;
  int64_t capture = -1;
  while (root->kind == MS_INDEX && capture < 0) {
    root = root->kid[0];
    capture = ms_loop_capture_of(walk->loop, root);
  }
  if (capture >= 0) return walk->groups.of[capture] == group;
  if (root->kind != MS_NAME || root->symbol == NULL) return false;
  const ms_value *value = walk->symbol_value[root->symbol->index];
  return value != NULL && value->kind == MS_VALUE_VIEW &&
         walk->groups.of[value->view->binding] == group;
}

static bool look_for_others(ms_node *node, void *context) {
  stores *look = context;
  const ms_walk *walk = look->explain->walk;
  for (uint32_t t = 0; node->kind == MS_ASSIGN && t < node->targets; t++) {
    const ms_access store = {.node = node->kid[t]};
    if (is_in_group(walk, node->kid[t], look->group) && !is_update(look->explain, &store))
      look->summed = false;
  }
  return look->summed;
}

/* Whether a place is written in just these words: `A[i]` of `A[i] = A[i] + x`, but not `A[i-1]`. */
static bool is_also_written(const ms_explainer *explain, const ms_access *read) {
  const ms_accesses *all = &explain->walk->accesses;
  for (uint32_t a = 0; a < all->count && read->node != NULL; a++) {
    const ms_access *write = all->item[a];
    if (write->write && write->node != NULL &&
        is_same_text(explain->walk->loop->tree, write->node, read->node))
      return true;
  }
  return false;
}

/* All stores into the array are such updates, and nothing else reads it: a sum that is added at the
 * end would be missed there. Accesses to equal elements are kept once only, so assignments are
 * looked at, too. */
static bool is_only_summed(const ms_explainer *explain, uint32_t group) {
  const ms_accesses *all = &explain->walk->accesses;
  stores look = {explain, group, true};
  for (uint32_t a = 0; a < all->count; a++) {
    const ms_access *access = all->item[a];
    if (access->group != group) continue;
    if (access->write ? !is_update(explain, access) : !is_also_written(explain, access))
      return false;
  }
  ms_node_walk(explain->walk->loop->body, look_for_others, &look);
  return look.summed;
}

/* What reads there is not what also writes, or may: a snapshot cannot stand in its place. */
static bool is_only_read(const ms_explainer *explain, const ms_access *read) {
  const ms_accesses *all = &explain->walk->accesses;
  for (uint32_t a = 0; a < all->count; a++) {
    const ms_access *access = all->item[a];
    bool unknown = access->given == 0 && read->given == 0 && access->possible && read->possible;
    if (!access->write || access->group != read->group) continue;
    if (access->node == read->node || unknown) return false;
  }
  return true;
}

/* The source of a read with the array's name replaced: "old[i-1]". */
static const char *read_of_copy(const ms_explainer *explain, const ms_access *read,
                                const char *path) {
  const ms_tree *tree = explain->walk->loop->tree;
  const char *text = tree->text + read->node->begin;
  size_t length = read->node->end - read->node->begin, name = strlen(path);
  if (length > LONGEST_TEXT || length < name || memcmp(text, path, name) != 0) return "old[...]";
  const char *rest = ms_arena_copy(explain->arena, text + name, length - name);
  return rest == NULL ? NULL : ms_arena_format(explain->arena, "old%s", rest);
}

/* What computes something else than the loop as written: each is a condition. */
static int add_other_fixes(const ms_explainer *explain, ms_reason *reason,
                           const ms_meeting *meeting, bool unordered_runs) {
  const ms_access *read = meeting->earlier->write ? meeting->later : meeting->earlier;
  const ms_access *write = meeting->earlier->write ? meeting->earlier : meeting->later;
  const char *path = ms_binding_path(explain->walk, explain->arena, write->binding);
  if (path == NULL) return -1;
  bool named = write->binding < explain->walk->loop->capture_count;
  bool updates = is_update(explain, write) || is_update(explain, meeting->later);
  if (named && updates && explain->hopeless && is_only_summed(explain, write->group)) {
    add_fix(reason, ms_arena_format(explain->arena,
                                    "if sums may be added at the end: local sum = "
                                    "meissa.buffer(%s)  ... sum[e] = sum[e] + x",
                                    path));
  } else if (!updates && !read->write && read->node != NULL && is_only_read(explain, read) &&
             read->binding < explain->walk->loop->capture_count) {
    path = ms_binding_path(explain->walk, explain->arena, read->binding);
    const char *copy = path == NULL ? NULL : read_of_copy(explain, read, path);
    if (copy == NULL) return -1;
    add_fix(reason, ms_arena_format(explain->arena,
                                    "if old values are fine: local old = %s:snapshot()  ... %s",
                                    path, copy));
  }
  return unordered_runs ? add_order_fix(explain, reason) : 0;
}

/* Where a value flows from one iteration to the next, what keeps the result comes first. */
static int add_conflict_fixes(const ms_explainer *explain, ms_reason *reason,
                              const ms_meeting *meeting, bool unordered_runs) {
  bool flows = meeting->earlier->write && !meeting->later->write;
  if (flows && add_exact_fixes(explain, reason) != 0) return -1;
  if (add_other_fixes(explain, reason, meeting, unordered_runs) != 0) return -1;
  return flows ? 0 : add_exact_fixes(explain, reason);
}

static ms_reason_kind kind_of(const ms_explainer *explain, const ms_meeting *meeting) {
  const ms_binding *earlier = &explain->walk->bindings[meeting->earlier->binding];
  const ms_binding *later = &explain->walk->bindings[meeting->later->binding];
  bool views = earlier->array != later->array || (earlier->view == NULL && earlier != later);
  if (views && explain->walk->groups.overlap[meeting->earlier->group]) return MS_REASON_OVERLAP;
  return meeting->proven ? MS_REASON_CARRIED : MS_REASON_POSSIBLE;
}

static int explain_meeting(const ms_explainer *explain, const ms_meeting *meeting,
                           bool unordered_runs) {
  ms_reason *reason = add_reason(explain, kind_of(explain, meeting));
  if (reason == NULL) return -1;
  reason->first = ms_explain_place(explain, meeting->earlier->node);
  reason->second = ms_explain_place(explain, meeting->later->node);
  if (ms_witness_find(explain, meeting, reason) != 0) return -1;
  return add_conflict_fixes(explain, reason, meeting, unordered_runs);
}

static bool blocks_all_cuts(const ms_distances *cells) {
  for (uint32_t k = 0; k < cells->dim_count; k++) {
    bool zero = true;
    for (uint32_t s = 0; s < cells->slots; s++)
      zero = zero && (!cells->slot[s].present || cells->slot[s].cell.sign[k] == 0);
    if (zero) return false;
  }
  return true;
}

static int explain_group(const ms_explainer *explain, const ms_distances *cells,
                         bool unordered_runs) {
  const ms_meeting *best = NULL;
  for (uint32_t s = 0; s < cells->slots; s++) {
    const ms_meeting *meeting = &cells->slot[s];
    if (!meeting->present) continue;
    if (best == NULL || ms_meeting_rank(meeting) < ms_meeting_rank(best)) best = meeting;
  }
  return best == NULL ? 0 : explain_meeting(explain, best, unordered_runs);
}

int ms_explain_conflicts(const ms_explainer *explain, bool unordered_runs) {
  const ms_conflicts *conflicts = explain->conflicts;
  bool any_blocks = false;
  uint32_t told = 0;
  for (uint32_t g = 0; g < conflicts->group_count; g++) {
    const ms_distances *cells = conflicts->group[g];
    any_blocks = any_blocks || (cells != NULL && blocks_all_cuts(cells));
  }
  for (uint32_t g = 0; g < conflicts->group_count && told < MOST_CONFLICTS; g++) {
    const ms_distances *cells = conflicts->group[g];
    if (cells == NULL || cells->count == 0) continue;
    if (any_blocks && !blocks_all_cuts(cells)) continue;
    if (explain_group(explain, cells, unordered_runs) != 0) return -1;
    told++;
  }
  if (conflicts->known) return 0;
  ms_reason *reason = add_reason(explain, MS_REASON_COMPLEX);
  if (reason == NULL) return -1;
  reason->message = "the subscripts took more steps to compare than are allowed";
  reason->first = ms_explain_place(explain, explain->walk->loop->call);
  return add_exact_fixes(explain, reason);
}

int ms_explain_order(const ms_explainer *explain) {
  ms_reason *reason = add_reason(explain, MS_REASON_ORDER_COSTS);
  if (reason == NULL) return -1;
  reason->message =
      "in any order of its iterations the loop could run as a rotation, whose blocks wait less for "
      "each other";
  reason->first = ms_explain_place(explain, explain->walk->loop->call);
  return add_order_fix(explain, reason);
}

int ms_explain_not_run(const ms_explainer *explain, const ms_choice *choice, bool unordered_runs) {
  ms_reason *reason = add_reason(explain, MS_REASON_NOT_RUN);
  if (reason == NULL) return -1;
  reason->message =
      ms_arena_format(explain->arena,
                      "the loop could run as a %s, which this version of Meissa analyses but does "
                      "not run",
                      ms_strategy_name(choice->strategy));
  reason->first = ms_explain_place(explain, explain->walk->loop->call);
  if (add_exact_fixes(explain, reason) != 0) return -1;
  return unordered_runs ? add_order_fix(explain, reason) : 0;
}
