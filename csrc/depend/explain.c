/* SPDX-License-Identifier: MIT
 *
 * Explain: see explain.h. */
#include "depend/explain.h"

#include <stdlib.h>
#include <string.h>

#include "depend/fix.h"
#include "depend/witness.h"

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

/* Bytes of the node on its first line. */
static size_t first_line_length(const ms_tree *tree, const ms_node *node) {
  size_t length = node->end - node->begin;
  const char *text = tree->text + node->begin;
  const char *end = memchr(text, '\n', length);
  if (end != NULL) length = (size_t)(end - text);
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\r')) length--;
  return length;
}

/* The place of a node. */
static ms_place place_of(const ms_explainer *explain, const ms_node *node) {
  ms_place place = {0};
  if (node == NULL) return place;
  const ms_tree *tree = explain->walk->loop->tree;
  size_t length = first_line_length(tree, node);
  place.line = node->line;
  place.column = node->column;
  place.end_column = node->column + (uint32_t)length;
  place.text = ms_arena_copy(explain->arena, tree->text + node->begin,
                             length > MS_LONGEST_TEXT ? MS_LONGEST_TEXT : length);
  return place;
}

bool ms_explain_is_inside(const ms_walk *walk, uint32_t binding) {
  const char *name = binding >= walk->loop->capture_count ? walk->bindings[binding].name : NULL;
  return name != NULL && strchr(name, '[') != NULL;
}

const char *ms_explain_path(const ms_walk *walk, ms_arena *arena, uint32_t binding) {
  if (binding >= walk->loop->capture_count && walk->bindings[binding].name != NULL)
    return ms_arena_format(arena, "%s", walk->bindings[binding].name);
  if (binding >= walk->loop->capture_count)
    return ms_arena_format(arena, "(an array without a name)");
  const ms_capture *capture = &walk->loop->captures[binding];
  const char *path = ms_arena_format(arena, "%s", capture->root);
  for (uint32_t f = 0; f < walk->bindings[binding].depth && path != NULL; f++)
    path = ms_arena_format(arena, "%s.%s", path, capture->fields[f]);
  return path;
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
    reason->first = place_of(explain, finding->node);
    bool flows = finding->kind == MS_REASON_SCALAR; /* what keeps the result comes first */
    if (flows && ms_fix_call(explain, reason, "run it serially", "serial = true") != 0) return -1;
    if (finding->fix != NULL)
      ms_fix_add(reason, ms_arena_copy(explain->arena, finding->fix, strlen(finding->fix)));
    if (finding->kind == MS_REASON_IMPURE && finding->fix == NULL &&
        ms_fix_call(explain, reason, "if their order does not matter", "impure = true") != 0)
      return -1;
    if (!flows && !is_notice(finding->kind) &&
        ms_fix_call(explain, reason, "run it serially", "serial = true") != 0)
      return -1;
  }
  return 0;
}

/* ---- conflicts ---- */

static ms_reason_kind kind_of(const ms_explainer *explain, const ms_meeting *meeting) {
  const ms_binding *earlier = &explain->walk->bindings[meeting->earlier->binding];
  const ms_binding *later = &explain->walk->bindings[meeting->later->binding];
  bool views = earlier->array != later->array || (earlier->view == NULL && earlier != later);
  if (views && explain->walk->groups.overlap[meeting->earlier->group]) return MS_REASON_OVERLAP;
  return meeting->proven ? MS_REASON_CARRIED : MS_REASON_POSSIBLE;
}

/* Whether a meeting of arrays that objects have, where their methods are called, has been told of
 * others of them. */
static bool is_told(const ms_explainer *explain, const ms_meeting *meeting) {
  const ms_reasons *all = explain->reasons;
  const ms_node *first = meeting->earlier->node, *second = meeting->later->node;
  if (!ms_explain_is_inside(explain->walk, meeting->earlier->binding)) return false;
  for (uint32_t r = 0; r < all->count; r++) {
    const ms_place *a = &all->item[r].first, *b = &all->item[r].second;
    if (a->line == first->line && a->column == first->column && b->line == second->line &&
        b->column == second->column)
      return true;
  }
  return false;
}

static int explain_meeting(const ms_explainer *explain, const ms_meeting *meeting,
                           bool unordered_runs) {
  ms_reason *reason = add_reason(explain, kind_of(explain, meeting));
  if (reason == NULL) return -1;
  reason->first = place_of(explain, meeting->earlier->node);
  reason->second = place_of(explain, meeting->later->node);
  if (ms_witness_find(explain, meeting, reason) != 0) return -1;
  return ms_fix_conflict(explain, reason, meeting, unordered_runs);
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

/* The pair that tells most: where what is proven would run, one that is not. NULL: there is none.
 */
static const ms_meeting *best_of(const ms_explainer *explain, const ms_distances *cells) {
  const ms_meeting *best = NULL;
  for (uint32_t s = 0; cells != NULL && s < cells->slots; s++) {
    const ms_meeting *meeting = &cells->slot[s];
    if (!meeting->present) continue;
    bool beside = best != NULL && explain->provable && meeting->proven != best->proven;
    if (beside ? best->proven : best == NULL || ms_meeting_rank(meeting) < ms_meeting_rank(best))
      best = meeting;
  }
  return best;
}

static int explain_group(const ms_explainer *explain, const ms_distances *cells,
                         bool unordered_runs) {
  const ms_meeting *best = best_of(explain, cells);
  if (best == NULL || is_told(explain, best)) return 0;
  return explain_meeting(explain, best, unordered_runs);
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
  reason->first = place_of(explain, explain->walk->loop->call);
  return ms_fix_exact(explain, reason);
}

int ms_explain_assumed(const ms_explainer *explain) {
  const ms_conflicts *conflicts = explain->conflicts;
  for (uint32_t g = 0; g < conflicts->group_count; g++) {
    const ms_meeting *best = best_of(explain, conflicts->assumed[g]);
    ms_reason *reason = best == NULL ? NULL : add_reason(explain, MS_REASON_ASSUMED);
    if (best == NULL) continue;
    if (reason == NULL) return -1;
    bool same = best->earlier->node == best->later->node;
    reason->message = same ? "no two iterations share an element here, as assume = \"independent\" "
                             "says: not proved"
                           : "no iteration touches what another one does at the other place, as "
                             "assume = \"independent\" says: not proved";
    reason->first = place_of(explain, best->earlier->node);
    if (same) continue;
    reason->second = place_of(explain, best->later->node);
    reason->first.does = "and";
  }
  return 0;
}

int ms_explain_order(const ms_explainer *explain, const ms_choice *choice) {
  ms_reason *reason = add_reason(explain, MS_REASON_ORDER_COSTS);
  if (reason == NULL) return -1;
  reason->message = ms_arena_format(
      explain->arena,
      "in any order of its iterations the loop could run as a %s, whose blocks wait less for "
      "each other",
      ms_strategy_traits_of(choice->strategy)->noun);
  reason->first = place_of(explain, explain->walk->loop->call);
  return ms_fix_order(explain, reason);
}

int ms_explain_not_run(const ms_explainer *explain, const ms_choice *choice, bool unordered_runs) {
  ms_reason *reason = add_reason(explain, MS_REASON_NOT_RUN);
  if (reason == NULL) return -1;
  reason->message =
      ms_arena_format(explain->arena,
                      "the loop could run as a %s, which this version of Meissa analyses but does "
                      "not run",
                      ms_strategy_traits_of(choice->strategy)->noun);
  reason->first = place_of(explain, explain->walk->loop->call);
  if (ms_fix_exact(explain, reason) != 0) return -1;
  return unordered_runs ? ms_fix_order(explain, reason) : 0;
}
