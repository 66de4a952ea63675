/* SPDX-License-Identifier: MIT
 *
 * Variables: see variable.h. */
#include "kernel/emit/variable.h"

/* Whether capture `at` is a variable of the block function. */
bool ms_variable_is(const ms_emitter *emitter, uint32_t at) {
  return at < emitter->job->loop->capture_count && emitter->scalar[at] != NULL &&
         emitter->scalar[at]->role != MS_ROLE_BROADCAST;
}

bool ms_variable_is_result(const ms_emitter *emitter, uint32_t at) {
  return ms_variable_is(emitter, at) &&
         (emitter->scalar[at]->role != MS_ROLE_PRIVATE || emitter->job->space->ordered);
}

/* Blocks of several dimensions may run in another order than the loop as written, so the value of
 * a private scalar comes with the iteration that gave it. */
bool ms_variable_is_tracked(const ms_emitter *emitter, uint32_t at) {
  if (emitter->dims == 1 || !emitter->job->space->ordered || !ms_variable_is(emitter, at))
    return false;
  if (emitter->scalar[at]->role == MS_ROLE_PRIVATE) return true;
  return emitter->scalar[at]->op == MS_REDUCE_WITH && emitter->scalar[at]->tie == 0;
}

static bool is_reduction(const ms_emitter *emitter, uint32_t at) {
  return ms_variable_is(emitter, at) && emitter->scalar[at]->role == MS_ROLE_REDUCTION;
}

bool ms_variable_is_logic(const ms_emitter *emitter, uint32_t at) {
  if (!is_reduction(emitter, at) || emitter->scalar[at]->wins != MS_WINS_BEYOND) return false;
  return emitter->scalar[at]->op == MS_REDUCE_OR || emitter->scalar[at]->op == MS_REDUCE_AND;
}

bool ms_variable_is_ranked(const ms_emitter *emitter, uint32_t at) {
  return is_reduction(emitter, at) && emitter->scalar[at]->ranked;
}

bool ms_variable_has_origin(const ms_emitter *emitter, uint32_t at) {
  return ms_variable_is_ranked(emitter, at) && emitter->scalar[at]->unset;
}

bool ms_variable_is_keyed(const ms_emitter *emitter, uint32_t at) {
  return ms_variable_is(emitter, at) && emitter->scalar[at]->role == MS_ROLE_LISTED &&
         emitter->scalar[at]->ranked;
}

bool ms_variable_has_head(const ms_emitter *emitter, uint32_t at) {
  if (!is_reduction(emitter, at) || emitter->scalar[at]->op == MS_REDUCE_SUM) return false;
  if (emitter->scalar[at]->gated) return !ms_variable_has_streak(emitter, at);
  return emitter->scalar[at]->unset;
}

bool ms_variable_heads_last(const ms_emitter *emitter, uint32_t leader) {
  const ms_scalar_plan *scalar = emitter->scalar[leader];
  return scalar->gated && scalar->wins == MS_WINS_EQUAL &&
         emitter->scalar[scalar->gate]->wins == MS_WINS_EQUAL;
}

bool ms_variable_has_streak(const ms_emitter *emitter, uint32_t at) {
  return is_reduction(emitter, at) && emitter->scalar[at]->gated &&
         ms_variable_is_ranked(emitter, emitter->scalar[at]->leader);
}

static uint32_t members_before(const ms_emitter *emitter, uint32_t leader, uint32_t at) {
  const ms_verdict *verdict = emitter->job->verdict;
  uint32_t count = 0;
  for (uint32_t s = 0; s < verdict->scalar_count && verdict->scalars[s].capture != at; s++)
    count += verdict->scalars[s].role == MS_ROLE_REDUCTION && verdict->scalars[s].leader == leader;
  return count;
}

uint32_t ms_variable_streak_rank(const ms_emitter *emitter, uint32_t at) {
  return members_before(emitter, emitter->scalar[at]->leader, at);
}

uint32_t ms_variable_streak_members(const ms_emitter *emitter, uint32_t leader) {
  return members_before(emitter, leader, MS_NO_CAPTURE);
}

void ms_variable_each_assigned(ms_emitter *emitter, const ms_node *block,
                               void (*visit)(void *context, uint32_t at, const ms_node *value),
                               void *context) {
  const ms_node *value;
  for (uint32_t s = 0; s < block->kids; s++) {
    const ms_node *assign = block->kid[s];
    for (uint32_t t = 0; assign->kind == MS_ASSIGN && t < assign->targets; t++) {
      uint32_t at = ms_emitter_capture(emitter, assign->kid[t], &value);
      if (at == MS_NO_CAPTURE || value != assign->kid[t] || assign->targets + t >= assign->kids)
        continue;
      visit(context, at, assign->kid[assign->targets + t]);
    }
  }
}

typedef struct heads {
  const ms_emitter *emitter;
  bool any, gated;
  uint32_t leader;
  const ms_node *value;
} heads;

static void look_for_head(void *context, uint32_t at, const ms_node *value) {
  heads *look = context;
  (void)value;
  if (!ms_variable_has_head(look->emitter, at)) return;
  look->any = true;
  look->gated = look->emitter->scalar[at]->gated;
  look->leader = look->emitter->scalar[at]->leader;
}

uint32_t ms_variable_leader(ms_emitter *emitter, const ms_node *block) {
  heads look = {.emitter = emitter};
  ms_variable_each_assigned(emitter, block, look_for_head, &look);
  return look.leader;
}

static void look_for_ranked(void *context, uint32_t at, const ms_node *value) {
  heads *look = context;
  (void)value;
  if (ms_variable_is_ranked(look->emitter, at)) look->leader = at;
}

uint32_t ms_variable_ranked_by(ms_emitter *emitter, const ms_node *block) {
  heads look = {.emitter = emitter, .leader = MS_NO_CAPTURE};
  ms_variable_each_assigned(emitter, block, look_for_ranked, &look);
  return look.leader;
}

static void look_for_streak(void *context, uint32_t at, const ms_node *value) {
  heads *look = context;
  (void)value;
  if (ms_variable_has_streak(look->emitter, at)) look->leader = look->emitter->scalar[at]->leader;
}

uint32_t ms_variable_streak_of(ms_emitter *emitter, const ms_node *statement) {
  heads look = {.emitter = emitter, .leader = MS_NO_CAPTURE};
  if (statement->kids == 4)
    ms_variable_each_assigned(emitter, statement->kid[3], look_for_streak, &look);
  return look.leader;
}

static void look_for_value(void *context, uint32_t at, const ms_node *value) {
  heads *look = context;
  if (at == look->leader) look->value = value;
}

const ms_node *ms_variable_value(ms_emitter *emitter, const ms_node *block, uint32_t at) {
  heads look = {.emitter = emitter, .leader = at};
  ms_variable_each_assigned(emitter, block, look_for_value, &look);
  return look.value;
}

ms_head ms_variable_head_of(ms_emitter *emitter, const ms_node *statement) {
  heads look = {.emitter = emitter};
  if (statement->kids != 2 && statement->kids != 4) return MS_HEAD_NONE;
  ms_variable_each_assigned(emitter, statement->kid[statement->kids - 1], look_for_head, &look);
  if (!look.any || look.gated != (statement->kids == 4)) return MS_HEAD_NONE;
  return look.gated ? MS_HEAD_BEFORE : MS_HEAD_AFTER;
}

bool ms_variable_is_asked(const ms_emitter *emitter, uint32_t at, const ms_node *mention) {
  if (!is_reduction(emitter, at) || emitter->scalar[at]->op != MS_REDUCE_OR) return false;
  while (mention->parent->kind == MS_PAREN) mention = mention->parent;
  const ms_node *around = mention->parent;
  if (around->kind == MS_ASSIGN) return mention->ordinal >= around->targets;
  return around->kind != MS_BINARY || around->op != MS_OP_OR || mention->ordinal == 0;
}

/* `p == nil`, not `p == e` or `p < e`. */
static bool asks_for_nil(const ms_node *test) {
  return test->kind != MS_BINARY || test->kid[1]->kind == MS_NIL;
}

uint32_t ms_variable_meant(const ms_emitter *emitter, uint32_t at, const ms_node *mention) {
  if (!is_reduction(emitter, at) || emitter->scalar[at]->op != MS_REDUCE_WITH) return at;
  while (mention->parent->kind == MS_PAREN) mention = mention->parent;
  if (emitter->scalar[at]->tie > 0 && !asks_for_nil(mention->parent)) return at;
  return mention->parent->kind == MS_ASSIGN ? at : emitter->scalar[at]->leader;
}

const char *ms_variable_identity(const ms_emitter *emitter, uint32_t at) {
  if (emitter->scalar[at]->tie > 0)
    return emitter->scalar[at]->tie_op == MS_REDUCE_MIN ? "1/0" : "-1/0";
  if (emitter->scalar[at]->unset && emitter->scalar[at]->op != MS_REDUCE_WITH) return "nil";
  switch (emitter->scalar[at]->op) {
    case MS_REDUCE_SUM:
      return "-0"; /* 0 would turn a sum of negative zeros positive */
    case MS_REDUCE_PRODUCT:
      return "1";
    case MS_REDUCE_MIN:
      return "1/0";
    case MS_REDUCE_MAX:
      return "-1/0";
    case MS_REDUCE_BOR:
    case MS_REDUCE_BXOR:
      return "4294967296";
    case MS_REDUCE_BAND:
      return "4294967295";
    default:
      return NULL;
  }
}

/* Writes the start of a variable that `and` or `or` reduces: its parameter is the value before the
 * loop. Where that decides the result the variable keeps it; else the block begins without one. */
static void begin_logic(ms_emitter *emitter, uint32_t at) {
  bool any = emitter->scalar[at]->op == MS_REDUCE_OR;
  ms_text_format(emitter->out, " if %s%sc%u then %sc%u=", any ? "not " : "", emitter->prefix,
                 at + 1, emitter->prefix, at + 1);
  ms_emitter_helper(emitter, MS_HELPER_NONE);
  ms_text_add(emitter->out, " end");
}

/* Writes the locals of heads, which are unset where a block begins. */
static void declare_heads(ms_emitter *emitter) {
  for (uint32_t c = 0; c < emitter->job->loop->capture_count; c++) {
    if (!ms_variable_has_head(emitter, c)) continue;
    ms_text_format(emitter->out, " local %sh%u=", emitter->prefix, c + 1);
    ms_emitter_helper(emitter, MS_HELPER_NONE);
  }
}

/* Names of the numbers that say where a tracked scalar got its value; `letter` o: where its first
 * one was. */
static void write_positions(ms_emitter *emitter, const ms_kernel_info *info, char letter,
                            uint32_t at) {
  for (uint32_t d = 0; d < info->positions; d++)
    ms_text_format(emitter->out, ",%s%c%u_%u", emitter->prefix, letter, at + 1, d + 1);
}

/* Writes the locals that ranked variables and lists keep beside their values: iterations. */
static void declare_ranks(ms_emitter *emitter, const ms_kernel_info *info) {
  for (uint32_t c = 0; c < emitter->job->loop->capture_count; c++) {
    if (ms_variable_is_keyed(emitter, c))
      ms_text_format(emitter->out, " local %sr%u,%sm%u={},0", emitter->prefix, c + 1,
                     emitter->prefix, c + 1);
    if (!ms_variable_is_ranked(emitter, c)) continue;
    if (ms_variable_has_streak(emitter, c))
      ms_text_format(emitter->out, " local %sstreak%u,%slength%u={},0", emitter->prefix, c + 1,
                     emitter->prefix, c + 1);
    ms_text_format(emitter->out, " local %sl%u", emitter->prefix, c + 1);
    write_positions(emitter, info, 'q', c);
    if (ms_variable_has_origin(emitter, c)) write_positions(emitter, info, 'o', c);
  }
}

/* A block's part of a table; sums by key and sets make use of its outermost range, and of what they
 * are for. */
static void begin_table(ms_emitter *emitter, uint32_t at, const char *dim) {
  ms_scalar_role role = emitter->scalar[at]->role;
  if (role == MS_ROLE_LISTED) {
    ms_text_add(emitter->out, "{}");
    return;
  }
  ms_emitter_helper(emitter, role == MS_ROLE_SLICED ? MS_HELPER_SLICE : MS_HELPER_KEYED);
  ms_text_format(emitter->out, "(%slo%s,%shi%s,%u)", emitter->prefix, dim, emitter->prefix, dim,
                 at + 1);
}

/* Scalars of the plan as locals of the block function. */
void ms_variables_declare(ms_emitter *emitter, const ms_kernel_info *info) {
  declare_heads(emitter);
  declare_ranks(emitter, info);
  for (uint32_t c = 0; c < emitter->job->loop->capture_count; c++) {
    if (!ms_variable_is(emitter, c)) continue;
    if (ms_variable_is_logic(emitter, c)) {
      begin_logic(emitter, c);
      continue;
    }
    if (ms_variable_is_tracked(emitter, c)) {
      ms_text_format(emitter->out, " local %sq%u", emitter->prefix, c + 1);
      write_positions(emitter, info, 'q', c);
      ms_text_add(emitter->out, "=");
      ms_emitter_helper(emitter, MS_HELPER_NONE);
      continue;
    }
    ms_text_format(emitter->out, " local %sc%u=", emitter->prefix, c + 1);
    if (is_reduction(emitter, c) && ms_variable_identity(emitter, c) != NULL) {
      ms_text_add(emitter->out, ms_variable_identity(emitter, c));
    } else if (emitter->scalar[c]->role >= MS_ROLE_SLICED) {
      begin_table(emitter, c, info->entries ? "" : "1");
    } else if (ms_variable_is_result(emitter, c)) {
      ms_emitter_helper(emitter, MS_HELPER_NONE);
    } else {
      ms_text_add(emitter->out, "nil");
    }
  }
}

/* Writes what stands at the beginning of each iteration, in which nothing has been assigned yet. */
void ms_variables_begin(ms_emitter *emitter) {
  for (uint32_t c = 0; c < emitter->job->loop->capture_count; c++) {
    if (ms_variable_is_ranked(emitter, c))
      ms_text_format(emitter->out, " %sl%u=false", emitter->prefix, c + 1);
    if (!ms_variable_is_tracked(emitter, c)) continue;
    ms_text_format(emitter->out, " local %sc%u=", emitter->prefix, c + 1);
    ms_emitter_helper(emitter, MS_HELPER_NONE);
  }
}

/* "=x1,x2": the indices of the iteration. */
static void write_iteration(ms_emitter *emitter, const ms_kernel_info *info) {
  for (uint32_t d = 0; d < info->positions; d++) {
    ms_text_format(emitter->out, "%s%sx", d > 0 ? "," : "", emitter->prefix);
    if (!info->entries) ms_text_format(emitter->out, "%u", d + 1);
  }
}

/* Writes what notes the first iteration that has given a variable a value. */
static void end_origin(ms_emitter *emitter, const ms_kernel_info *info, uint32_t at) {
  const char *prefix = emitter->prefix;
  ms_text_format(emitter->out, "if not %so%u_1 and (%sc%u~=nil or %sh%u~=", prefix, at + 1, prefix,
                 at + 1, prefix, at + 1);
  ms_emitter_helper(emitter, MS_HELPER_NONE);
  ms_text_format(emitter->out, ") then %sl%u", prefix, at + 1);
  write_positions(emitter, info, 'o', at);
  ms_text_format(emitter->out, "=%sl%u,", prefix, at + 1);
  write_iteration(emitter, info);
  ms_text_add(emitter->out, " end ");
}

/* Writes what notes a list's length and the iteration, behind one that has appended to it. */
static void end_keyed(ms_emitter *emitter, const ms_kernel_info *info, uint32_t at) {
  const char *prefix = emitter->prefix;
  uint32_t c = at + 1;
  ms_text_format(emitter->out, "if #%sc%u~=%sm%u then %sm%u=#%sc%u local r=#%sr%u", prefix, c,
                 prefix, c, prefix, c, prefix, c, prefix, c);
  ms_text_format(emitter->out, " %sr%u[r+1]", prefix, c);
  for (uint32_t d = 0; d < info->positions; d++)
    ms_text_format(emitter->out, ",%sr%u[r+%u]", prefix, c, d + 2);
  ms_text_format(emitter->out, "=%sm%u,", prefix, c);
  write_iteration(emitter, info);
  ms_text_add(emitter->out, " end ");
}

/* Writes the text behind the body, which after each iteration keeps the values that it has assigned
 * and the iteration's number. */
void ms_variables_end(ms_emitter *emitter, const ms_kernel_info *info) {
  const char *prefix = emitter->prefix;
  for (uint32_t c = 0; c < emitter->job->loop->capture_count; c++) {
    if (ms_variable_is_ranked(emitter, c)) {
      ms_text_format(emitter->out, "if %sl%u then %sl%u", prefix, c + 1, prefix, c + 1);
      write_positions(emitter, info, 'q', c);
      ms_text_add(emitter->out, "=nil,");
      write_iteration(emitter, info);
      ms_text_add(emitter->out, " end ");
    }
    if (ms_variable_has_origin(emitter, c)) end_origin(emitter, info, c);
    if (ms_variable_is_keyed(emitter, c)) end_keyed(emitter, info, c);
    if (!ms_variable_is_tracked(emitter, c)) continue;
    ms_text_format(emitter->out, "if %sc%u~=", prefix, c + 1);
    ms_emitter_helper(emitter, MS_HELPER_NONE);
    ms_text_format(emitter->out, " then %sq%u", prefix, c + 1);
    write_positions(emitter, info, 'q', c);
    ms_text_format(emitter->out, "=%sc%u,", prefix, c + 1);
    write_iteration(emitter, info);
    ms_text_add(emitter->out, " end ");
  }
}

void ms_variables_results(const ms_emitter *emitter, ms_kernel_info *info) {
  const ms_verdict *verdict = emitter->job->verdict;
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    if (ms_variable_is_result(emitter, verdict->scalars[s].capture))
      info->results[info->result_count++] = s;
  }
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    if (ms_variable_has_head(emitter, verdict->scalars[s].capture))
      info->results[info->result_count++] = s | MS_RESULT_HEAD;
  }
}

void ms_variables_return(ms_emitter *emitter, ms_kernel_info *info) {
  ms_variables_results(emitter, info);
  for (uint32_t r = 0; r < info->result_count; r++) {
    bool head = (info->results[r] & MS_RESULT_HEAD) != 0;
    uint32_t at = emitter->job->verdict->scalars[info->results[r] & ~MS_RESULT_HEAD].capture;
    char letter = head ? 'h' : ms_variable_is_tracked(emitter, at) ? 'q' : 'c';
    ms_text_add(emitter->out, r == 0 ? "return " : ",");
    ms_text_format(emitter->out, "%s%c%u", emitter->prefix, letter, at + 1);
  }
  for (uint32_t s = 0; s < emitter->job->verdict->scalar_count; s++) {
    uint32_t at = emitter->job->verdict->scalars[s].capture;
    if (ms_variable_is_tracked(emitter, at) || ms_variable_is_ranked(emitter, at))
      write_positions(emitter, info, 'q', at);
    if (ms_variable_has_origin(emitter, at)) write_positions(emitter, info, 'o', at);
  }
  for (uint32_t s = 0; s < emitter->job->verdict->scalar_count; s++) {
    uint32_t at = emitter->job->verdict->scalars[s].capture;
    if (ms_variable_is_keyed(emitter, at))
      ms_text_format(emitter->out, ",%sr%u", emitter->prefix, at + 1);
  }
  for (uint32_t s = 0; s < emitter->job->verdict->scalar_count; s++) {
    uint32_t at = emitter->job->verdict->scalars[s].capture;
    if (ms_variable_is_ranked(emitter, at) && ms_variable_has_streak(emitter, at))
      ms_text_format(emitter->out, ",%sstreak%u,%slength%u", emitter->prefix, at + 1,
                     emitter->prefix, at + 1);
  }
}
