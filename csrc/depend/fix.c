/* SPDX-License-Identifier: MIT
 *
 * Fixes: see fix.h. */
#include "depend/fix.h"

#include <string.h>

#include "depend/addition.h"
#include "depend/capture_path.h"
#include "depend/option.h"

void ms_fix_add(ms_reason *reason, const char *fix) {
  for (uint32_t f = 0; f < MS_MAX_FIXES && fix != NULL; f++) {
    if (reason->fix[f] != NULL) continue;
    reason->fix[f] = fix;
    return;
  }
}

int ms_fix_call(const ms_explainer *explain, ms_reason *reason, const char *what,
                const char *option) {
  const ms_space *space = explain->walk->space;
  bool other = strcmp(option, "impure = true") != 0;
  if ((space->rounds || space->replicas) && other) return 0; /* they have no such options */
  const char *code = ms_option_code(explain->walk, explain->arena, option);
  if (code == NULL) return -1;
  ms_fix_add(reason, ms_arena_format(explain->arena, "%s: %s", what, code));
  return 0;
}

int ms_fix_order(const ms_explainer *explain, ms_reason *reason) {
  return ms_fix_call(explain, reason, "if any order of iterations is acceptable",
                     "ordered = false");
}

int ms_fix_exact(const ms_explainer *explain, ms_reason *reason) {
  if (explain->collapses &&
      ms_fix_call(explain, reason, "with two indices, as a wavefront or sweep", "collapse = 2") !=
          0)
    return -1;
  return ms_fix_call(explain, reason, "run it serially", "serial = true");
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

/* Whether what is read is written by the same name. */
static bool is_also_written(const ms_explainer *explain, const ms_access *read) {
  const ms_accesses *all = &explain->walk->accesses;
  for (uint32_t a = 0; a < all->count; a++) {
    const ms_access *write = all->item[a];
    if (write->write && write->node != NULL && ms_node_is_same(write->node, read->node))
      return true;
  }
  return false;
}

/* An element that data name. */
static bool is_unknown(const ms_access *access) {
  for (uint32_t s = 0; s < access->given && s < access->subscript_count; s++) {
    if (!access->subscript[s].known && access->subscript[s].quadratic == NULL) return true;
  }
  return false;
}

/* The source of a read with the array's name replaced: "old[i-1]". */
static const char *read_of_copy(const ms_explainer *explain, const ms_access *read,
                                const char *path) {
  const ms_tree *tree = explain->walk->loop->tree;
  const char *text = tree->text + read->node->begin;
  size_t length = read->node->end - read->node->begin, name = strlen(path);
  if (length > MS_LONGEST_TEXT || length < name || memcmp(text, path, name) != 0) return "old[...]";
  const char *rest = ms_arena_copy(explain->arena, text + name, length - name);
  return rest == NULL ? NULL : ms_arena_format(explain->arena, "old%s", rest);
}

/* What computes something else than the loop as written: each is a condition. */
static int add_other_fixes(const ms_explainer *explain, ms_reason *reason,
                           const ms_meeting *meeting, bool unordered_runs) {
  const ms_access *read = meeting->earlier->write ? meeting->later : meeting->earlier;
  const ms_access *write = meeting->earlier->write ? meeting->earlier : meeting->later;
  const char *path = ms_explain_path(explain->walk, explain->arena, write->binding);
  if (path == NULL) return -1;
  bool named = write->binding < explain->walk->loop->capture_count;
  bool adds = ms_addition_is(explain->walk, write->node) ||
              ms_addition_is(explain->walk, meeting->later->node);
  bool copied = !adds && !read->write && read->node != NULL && is_only_read(explain, read);
  bool scattered =
      !meeting->proven && copied && is_unknown(read) && !is_also_written(explain, read);
  const char *buffer =
      ms_arena_format(explain->arena,
                      "if sums may be added at the end: local sum = meissa.buffer(%s)  ... "
                      "sum[e] = sum[e] + x",
                      path);
  if (buffer == NULL) return -1;
  if (named && adds && explain->hopeless && ms_addition_only(explain->walk, write->group)) {
    ms_fix_add(reason, buffer);
  } else if (copied && read->binding < explain->walk->loop->capture_count) {
    path = ms_explain_path(explain->walk, explain->arena, read->binding);
    const char *copy = path == NULL ? NULL : read_of_copy(explain, read, path);
    if (copy == NULL) return -1;
    ms_fix_add(reason, ms_arena_format(explain->arena,
                                       "if old values are fine: local old = %s:snapshot()  ... %s",
                                       path, copy));
  }
  if (named && scattered && explain->hopeless) ms_fix_add(reason, buffer);
  if (ms_explain_is_inside(explain->walk, write->binding)) {
    ms_fix_add(reason,
               "if each iteration has an array of its own: make them rows of one, W[k], or in "
               "the body, as meissa.map's function can, which returns what it made");
  }
  return unordered_runs ? ms_fix_order(explain, reason) : 0;
}

int ms_fix_conflict(const ms_explainer *explain, ms_reason *reason, const ms_meeting *meeting,
                    bool unordered_runs) {
  bool flows = meeting->earlier->write && !meeting->later->write;
  if (flows && ms_fix_exact(explain, reason) != 0) return -1;
  if (add_other_fixes(explain, reason, meeting, unordered_runs) != 0) return -1;
  return flows ? 0 : ms_fix_exact(explain, reason);
}
