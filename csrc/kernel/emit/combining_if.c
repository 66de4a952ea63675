/* SPDX-License-Identifier: MIT
 *
 * Ifs that combine: see combining_if.h. What is added stands where a branch's block begins, or
 * behind the `if`, on the same line. */
#include "kernel/emit/combining_if.h"

#include "kernel/emit/variable.h"

/* ---- heads ---- */

/* Writes the head of one variable that a branch assigns (depend/branch_gate.h): take_head gives it
 * the assigned value, move_to_head what the variable has got. */
static void take_head(void *context, uint32_t at, const ms_node *value) {
  ms_emitter *emitter = context;
  ms_text_format(emitter->out, "%sh%u=", emitter->prefix, at + 1);
  ms_emitter_node(emitter, value);
  ms_text_add(emitter->out, " ");
}

static void move_to_head(void *context, uint32_t at, const ms_node *value) {
  const ms_emitter *emitter = context;
  (void)value;
  ms_text_format(emitter->out, "if %sh%u==", emitter->prefix, at + 1);
  ms_emitter_helper(context, MS_HELPER_NONE);
  ms_text_format(emitter->out, " then %sh%u=%sc%u end ", emitter->prefix, at + 1, emitter->prefix,
                 at + 1);
  if (emitter->scalar[at]->tie > 0) return; /* it is not asked for before it is assigned again */
  ms_text_format(emitter->out, "%sc%u=", emitter->prefix, at + 1);
  if (emitter->scalar[at]->op == MS_REDUCE_WITH) {
    ms_emitter_helper(context, MS_HELPER_NONE);
  } else {
    ms_text_add(emitter->out, "nil");
  }
  ms_text_add(emitter->out, " ");
}

/* Writes, in front of the assignments of the gate's branch, those of the heads: they are set by the
 * first value of the block's streak, or by the last of equal ones where both branches take equal
 * ones. */
static void heads_before(ms_emitter *emitter, const ms_node *block) {
  uint32_t leader = ms_variable_leader(emitter, block);
  ms_text_format(emitter->out, " if %sh%u==", emitter->prefix, leader + 1);
  ms_emitter_helper(emitter, MS_HELPER_NONE);
  if (ms_variable_heads_last(emitter, leader)) {
    ms_text_format(emitter->out, " or %sh%u==(", emitter->prefix, leader + 1);
    ms_emitter_node(emitter, ms_variable_value(emitter, block, leader));
    ms_text_add(emitter->out, ")");
  }
  ms_text_add(emitter->out, " then ");
  ms_variable_each_assigned(emitter, block, take_head, emitter);
  ms_text_add(emitter->out, "end ");
}

/* Writes, behind an `if` of variables without a value before the loop: a nan that one has got
 * becomes its head. */
static void heads_after(ms_emitter *emitter, const ms_node *block) {
  uint32_t leader = ms_variable_leader(emitter, block) + 1;
  uint32_t ranked = ms_variable_ranked_by(emitter, block);
  ms_text_format(emitter->out, " if %sc%u~=%sc%u then ", emitter->prefix, leader, emitter->prefix,
                 leader);
  ms_variable_each_assigned(emitter, block, move_to_head, emitter);
  if (ranked != MS_NO_CAPTURE)
    ms_text_format(emitter->out, "%sl%u=false ", emitter->prefix, ranked + 1);
  ms_text_add(emitter->out, "end");
}

/* ---- streaks ---- */

static void streak_slot(void *context, uint32_t at, const ms_node *value) {
  const ms_emitter *emitter = context;
  uint32_t leader = emitter->scalar[at]->leader + 1;
  (void)value;
  ms_text_format(emitter->out, "%sstreak%u[%slength%u+%u],", emitter->prefix, leader,
                 emitter->prefix, leader, ms_variable_streak_rank(emitter, at) + 1);
}

static void streak_value(void *context, uint32_t at, const ms_node *value) {
  ms_emitter *emitter = context;
  (void)at;
  ms_emitter_node(emitter, value);
  ms_text_add(emitter->out, ",");
}

/* Where the last entry of a streak has something: `at` places before the end. */
static void streak_last(ms_emitter *emitter, uint32_t leader, uint32_t at) {
  ms_text_format(emitter->out, "%sstreak%u[%slength%u-%u]", emitter->prefix, leader + 1,
                 emitter->prefix, leader + 1, at);
}

/* Whether the iteration goes on with the last entry: only the innermost index may be another. */
static void streak_goes_on(ms_emitter *emitter, uint32_t leader, uint32_t positions) {
  ms_text_format(emitter->out, "%slength%u>0", emitter->prefix, leader + 1);
  for (uint32_t d = 0; d + 1 < positions; d++) {
    ms_text_add(emitter->out, " and ");
    streak_last(emitter, leader, positions - 1 - d);
    ms_text_format(emitter->out, "==%sx%u", emitter->prefix, d + 1);
  }
  if (positions == 1) ms_text_add(emitter->out, " and false");
}

/* Writes what appends an entry to the streak: the values that the branch assigns, the value that it
 * compares, and the subscripts of the iteration. */
static void append_entry(ms_emitter *emitter, const ms_node *block, uint32_t at,
                         uint32_t positions) {
  const char *prefix = emitter->prefix;
  uint32_t members = ms_variable_streak_members(emitter, at), leader = at + 1;
  ms_variable_each_assigned(emitter, block, streak_slot, emitter);
  for (uint32_t d = 0; d <= positions; d++)
    ms_text_format(emitter->out, "%s%sstreak%u[%slength%u+%u]", d > 0 ? "," : "", prefix, leader,
                   prefix, leader, members + d + 1);
  ms_text_add(emitter->out, "=");
  ms_variable_each_assigned(emitter, block, streak_value, emitter);
  ms_emitter_node(emitter, ms_variable_value(emitter, block, at));
  for (uint32_t d = 0; d < positions; d++) {
    ms_text_format(emitter->out, ",%sx", prefix);
    if (!ms_emitter_entries(emitter->job)) ms_text_format(emitter->out, "%u", d + 1);
  }
  ms_text_format(emitter->out, " %slength%u=%slength%u+%u ", prefix, leader, prefix, leader,
                 members + 1 + positions);
}

/* Writes, in front of the assignments of the gate's branch, what keeps the streak, as long as the
 * second branch has taken nothing in this block. A value goes into the last entry, as its end, if
 * no iteration of another block lies between the two in the loop's order; else it is an entry of
 * its own. */
static void add_to_streak(ms_emitter *emitter, const ms_node *block, uint32_t at) {
  uint32_t positions = ms_emitter_entries(emitter->job) ? 1 : emitter->dims;
  uint32_t width = ms_variable_streak_members(emitter, at) + 1 + positions;
  const ms_node *value = ms_variable_value(emitter, block, at);
  bool last = ms_variable_heads_last(emitter, at);
  ms_text_format(emitter->out, " if %sc%u==%s then if ", emitter->prefix, at + 1,
                 ms_variable_identity(emitter, at));
  streak_goes_on(emitter, at, positions);
  if (last) {
    ms_text_add(emitter->out, " and ");
    streak_last(emitter, at, width - 1 - ms_variable_streak_rank(emitter, at));
    ms_text_add(emitter->out, "~=(");
    ms_emitter_node(emitter, value);
    ms_text_add(emitter->out, ")");
  }
  ms_text_add(emitter->out, " then ");
  streak_last(emitter, at, positions);
  ms_text_add(emitter->out, "=");
  ms_emitter_node(emitter, value);
  ms_text_add(emitter->out, " else ");
  if (last) {
    ms_text_add(emitter->out, "if ");
    streak_goes_on(emitter, at, positions);
    ms_text_format(emitter->out, " then %slength%u=%slength%u-%u end ", emitter->prefix, at + 1,
                   emitter->prefix, at + 1, width);
  }
  append_entry(emitter, block, at, positions);
  ms_text_add(emitter->out, "end end ");
}

/* ---- the statement ---- */

/* Writes what stands in front of the statements of a branch, the k-th child of the `if`. */
static void open_block(ms_emitter *emitter, const ms_node *node, uint32_t k, ms_head head) {
  const ms_node *last = node->kid[node->kids - 1];
  uint32_t ranked = ms_variable_ranked_by(emitter, node->kid[k]);
  uint32_t streak = k == 1 ? ms_variable_streak_of(emitter, node) : MS_NO_CAPTURE;
  if (k == 1 && head == MS_HEAD_BEFORE) heads_before(emitter, last);
  if (streak != MS_NO_CAPTURE) add_to_streak(emitter, last, streak);
  if (ranked != MS_NO_CAPTURE)
    ms_text_format(emitter->out, " %sl%u=true ", emitter->prefix, ranked + 1);
}

void ms_emitter_combining_if(ms_emitter *emitter, const ms_node *node) {
  ms_head head = ms_variable_head_of(emitter, node);
  size_t at = node->begin;
  for (uint32_t k = 0; k < node->kids; k++) {
    ms_emitter_copy(emitter, at, node->kid[k]->begin);
    if (node->kid[k]->kind == MS_BLOCK) open_block(emitter, node, k, head);
    ms_emitter_node(emitter, node->kid[k]);
    at = node->kid[k]->end;
  }
  ms_emitter_copy(emitter, at, node->end);
  if (head == MS_HEAD_AFTER) heads_after(emitter, node->kid[node->kids - 1]);
}
