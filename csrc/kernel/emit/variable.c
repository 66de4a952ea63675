/* SPDX-License-Identifier: MIT
 *
 * Variables: see variable.h. */
#include "kernel/emit/variable.h"

/* Whether capture `at` is a variable of the block function. */
bool ms_variable_is(const ms_emitter *draft, uint32_t at) {
  return at < draft->job->loop->capture_count && draft->scalar[at] != NULL &&
         draft->scalar[at]->role != MS_ROLE_BROADCAST;
}

bool ms_variable_is_result(const ms_emitter *draft, uint32_t at) {
  return ms_variable_is(draft, at) &&
         (draft->scalar[at]->role != MS_ROLE_PRIVATE || draft->job->space->ordered);
}

/* Blocks of several dimensions may run in another order than the loop as written, so the value of
 * a private scalar comes with the iteration that gave it. */
bool ms_variable_is_tracked(const ms_emitter *draft, uint32_t at) {
  if (draft->dims == 1 || !draft->job->space->ordered || !ms_variable_is(draft, at)) return false;
  return draft->scalar[at]->role == MS_ROLE_PRIVATE || draft->scalar[at]->op == MS_REDUCE_WITH;
}

static bool is_reduction(const ms_emitter *draft, uint32_t at) {
  return ms_variable_is(draft, at) && draft->scalar[at]->role == MS_ROLE_REDUCTION;
}

bool ms_variable_is_logic(const ms_emitter *draft, uint32_t at) {
  if (!is_reduction(draft, at) || draft->scalar[at]->wins != MS_WINS_BEYOND) return false;
  return draft->scalar[at]->op == MS_REDUCE_OR || draft->scalar[at]->op == MS_REDUCE_AND;
}

bool ms_variable_is_ranked(const ms_emitter *draft, uint32_t at) {
  return is_reduction(draft, at) && draft->scalar[at]->ranked;
}

bool ms_variable_has_origin(const ms_emitter *draft, uint32_t at) {
  return ms_variable_is_ranked(draft, at) && draft->scalar[at]->unset;
}

bool ms_variable_is_keyed(const ms_emitter *draft, uint32_t at) {
  return ms_variable_is(draft, at) && draft->scalar[at]->role == MS_ROLE_LISTED &&
         draft->scalar[at]->ranked;
}

bool ms_variable_has_head(const ms_emitter *draft, uint32_t at) {
  if (!is_reduction(draft, at) || draft->scalar[at]->op == MS_REDUCE_SUM) return false;
  return draft->scalar[at]->unset || draft->scalar[at]->gated;
}

void ms_variable_each_assigned(ms_emitter *draft, const ms_node *block,
                               void (*visit)(void *context, uint32_t at, const ms_node *value),
                               void *context) {
  const ms_node *value;
  for (uint32_t s = 0; s < block->kids; s++) {
    const ms_node *assign = block->kid[s];
    for (uint32_t t = 0; assign->kind == MS_ASSIGN && t < assign->targets; t++) {
      uint32_t at = ms_emitter_capture(draft, assign->kid[t], &value);
      if (at == MS_NO_CAPTURE || value != assign->kid[t] || assign->targets + t >= assign->kids)
        continue;
      visit(context, at, assign->kid[assign->targets + t]);
    }
  }
}

typedef struct heads {
  const ms_emitter *draft;
  bool any, gated;
  uint32_t leader;
} heads;

static void look_for_head(void *context, uint32_t at, const ms_node *value) {
  heads *look = context;
  (void)value;
  if (!ms_variable_has_head(look->draft, at)) return;
  look->any = true;
  look->gated = look->draft->scalar[at]->gated;
  look->leader = look->draft->scalar[at]->leader;
}

uint32_t ms_variable_leader(ms_emitter *draft, const ms_node *block) {
  heads look = {.draft = draft};
  ms_variable_each_assigned(draft, block, look_for_head, &look);
  return look.leader;
}

static void look_for_ranked(void *context, uint32_t at, const ms_node *value) {
  heads *look = context;
  (void)value;
  if (ms_variable_is_ranked(look->draft, at)) look->leader = at;
}

uint32_t ms_variable_ranked_by(ms_emitter *draft, const ms_node *statement) {
  heads look = {.draft = draft, .leader = MS_NO_CAPTURE};
  if (statement->kids == 2)
    ms_variable_each_assigned(draft, statement->kid[1], look_for_ranked, &look);
  return look.leader;
}

ms_head ms_variable_head_of(ms_emitter *draft, const ms_node *statement) {
  heads look = {.draft = draft};
  if (statement->kids != 2 && statement->kids != 4) return MS_HEAD_NONE;
  ms_variable_each_assigned(draft, statement->kid[statement->kids - 1], look_for_head, &look);
  if (!look.any || look.gated != (statement->kids == 4)) return MS_HEAD_NONE;
  return look.gated ? MS_HEAD_BEFORE : MS_HEAD_AFTER;
}

bool ms_variable_is_asked(const ms_emitter *draft, uint32_t at, const ms_node *mention) {
  if (!is_reduction(draft, at) || draft->scalar[at]->op != MS_REDUCE_OR) return false;
  while (mention->parent->kind == MS_PAREN) mention = mention->parent;
  const ms_node *around = mention->parent;
  if (around->kind == MS_ASSIGN) return mention->ordinal >= around->targets;
  return around->kind != MS_BINARY || around->op != MS_OP_OR || mention->ordinal == 0;
}

uint32_t ms_variable_meant(const ms_emitter *draft, uint32_t at, const ms_node *mention) {
  if (!is_reduction(draft, at) || draft->scalar[at]->op != MS_REDUCE_WITH) return at;
  while (mention->parent->kind == MS_PAREN) mention = mention->parent;
  return mention->parent->kind == MS_ASSIGN ? at : draft->scalar[at]->leader;
}

/* The value that leaves a combination unchanged; NULL: none. Of bits it is no value that they can
 * take, so that a block that has combined nothing is known. */
static const char *identity(const ms_emitter *draft, uint32_t at) {
  if (draft->scalar[at]->unset && draft->scalar[at]->op != MS_REDUCE_WITH) return "nil";
  switch (draft->scalar[at]->op) {
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

/* The parameter of that name says whether it is decided: else the block begins without a value. */
static void begin_logic(ms_emitter *draft, uint32_t at) {
  bool any = draft->scalar[at]->op == MS_REDUCE_OR;
  ms_text_format(draft->out, " if %s%sc%u then %sc%u=", any ? "not " : "", draft->prefix, at + 1,
                 draft->prefix, at + 1);
  ms_emitter_helper(draft, MS_HELPER_NONE);
  ms_text_add(draft->out, " end");
}

/* Heads, which a block begins without. */
static void declare_heads(ms_emitter *draft) {
  for (uint32_t c = 0; c < draft->job->loop->capture_count; c++) {
    if (!ms_variable_has_head(draft, c)) continue;
    ms_text_format(draft->out, " local %sh%u=", draft->prefix, c + 1);
    ms_emitter_helper(draft, MS_HELPER_NONE);
  }
}

/* Names of the numbers that say where a tracked scalar got its value; `letter` o: where its first
 * one was. */
static void write_positions(ms_emitter *draft, const ms_kernel_info *info, char letter,
                            uint32_t at) {
  for (uint32_t d = 0; d < info->positions; d++)
    ms_text_format(draft->out, ",%s%c%u_%u", draft->prefix, letter, at + 1, d + 1);
}

/* What ranked variables and lists keep beside their values. */
static void declare_ranks(ms_emitter *draft, const ms_kernel_info *info) {
  for (uint32_t c = 0; c < draft->job->loop->capture_count; c++) {
    if (ms_variable_is_keyed(draft, c))
      ms_text_format(draft->out, " local %sr%u,%sm%u={},0", draft->prefix, c + 1, draft->prefix,
                     c + 1);
    if (!ms_variable_is_ranked(draft, c)) continue;
    ms_text_format(draft->out, " local %sl%u", draft->prefix, c + 1);
    write_positions(draft, info, 'q', c);
    if (ms_variable_has_origin(draft, c)) write_positions(draft, info, 'o', c);
  }
}

/* Scalars of the plan as locals of the block function. */
void ms_variables_declare(ms_emitter *draft, const ms_kernel_info *info) {
  declare_heads(draft);
  declare_ranks(draft, info);
  for (uint32_t c = 0; c < draft->job->loop->capture_count; c++) {
    if (!ms_variable_is(draft, c)) continue;
    if (ms_variable_is_logic(draft, c)) {
      begin_logic(draft, c);
      continue;
    }
    if (ms_variable_is_tracked(draft, c)) {
      ms_text_format(draft->out, " local %sq%u", draft->prefix, c + 1);
      write_positions(draft, info, 'q', c);
      ms_text_add(draft->out, "=");
      ms_emitter_helper(draft, MS_HELPER_NONE);
      continue;
    }
    ms_text_format(draft->out, " local %sc%u=", draft->prefix, c + 1);
    if (is_reduction(draft, c) && identity(draft, c) != NULL) {
      ms_text_add(draft->out, identity(draft, c));
    } else if (draft->scalar[c]->role > MS_ROLE_SLICED) {
      ms_text_add(draft->out, "{}");
    } else if (draft->scalar[c]->role == MS_ROLE_SLICED) {
      ms_emitter_helper(draft, MS_HELPER_SLICE);
      ms_text_add(draft->out, "()");
    } else if (ms_variable_is_result(draft, c)) {
      ms_emitter_helper(draft, MS_HELPER_NONE);
    } else {
      ms_text_add(draft->out, "nil");
    }
  }
}

/* Before each iteration nothing has been assigned. */
void ms_variables_begin(ms_emitter *draft) {
  for (uint32_t c = 0; c < draft->job->loop->capture_count; c++) {
    if (ms_variable_is_ranked(draft, c))
      ms_text_format(draft->out, " %sl%u=false", draft->prefix, c + 1);
    if (!ms_variable_is_tracked(draft, c)) continue;
    ms_text_format(draft->out, " local %sc%u=", draft->prefix, c + 1);
    ms_emitter_helper(draft, MS_HELPER_NONE);
  }
}

/* "=x1,x2": the indices of the iteration. */
static void write_iteration(ms_emitter *draft, const ms_kernel_info *info) {
  for (uint32_t d = 0; d < info->positions; d++) {
    ms_text_format(draft->out, "%s%sx", d > 0 ? "," : "", draft->prefix);
    if (!info->entries) ms_text_format(draft->out, "%u", d + 1);
  }
}

/* The first iteration that gave a variable a value. */
static void end_origin(ms_emitter *draft, const ms_kernel_info *info, uint32_t at) {
  const char *prefix = draft->prefix;
  ms_text_format(draft->out, "if not %so%u_1 and (%sc%u~=nil or %sh%u~=", prefix, at + 1, prefix,
                 at + 1, prefix, at + 1);
  ms_emitter_helper(draft, MS_HELPER_NONE);
  ms_text_format(draft->out, ") then %sl%u", prefix, at + 1);
  write_positions(draft, info, 'o', at);
  ms_text_format(draft->out, "=%sl%u,", prefix, at + 1);
  write_iteration(draft, info);
  ms_text_add(draft->out, " end ");
}

/* How long a list is after an iteration that has appended to it, and which that was. */
static void end_keyed(ms_emitter *draft, const ms_kernel_info *info, uint32_t at) {
  const char *prefix = draft->prefix;
  uint32_t c = at + 1;
  ms_text_format(draft->out, "if #%sc%u~=%sm%u then %sm%u=#%sc%u local r=#%sr%u", prefix, c, prefix,
                 c, prefix, c, prefix, c, prefix, c);
  ms_text_format(draft->out, " %sr%u[r+1]", prefix, c);
  for (uint32_t d = 0; d < info->positions; d++)
    ms_text_format(draft->out, ",%sr%u[r+%u]", prefix, c, d + 2);
  ms_text_format(draft->out, "=%sm%u,", prefix, c);
  write_iteration(draft, info);
  ms_text_add(draft->out, " end ");
}

/* After each iteration: what it has assigned, and that it was this one. */
void ms_variables_end(ms_emitter *draft, const ms_kernel_info *info) {
  const char *prefix = draft->prefix;
  for (uint32_t c = 0; c < draft->job->loop->capture_count; c++) {
    if (ms_variable_is_ranked(draft, c)) {
      ms_text_format(draft->out, "if %sl%u then %sl%u", prefix, c + 1, prefix, c + 1);
      write_positions(draft, info, 'q', c);
      ms_text_add(draft->out, "=nil,");
      write_iteration(draft, info);
      ms_text_add(draft->out, " end ");
    }
    if (ms_variable_has_origin(draft, c)) end_origin(draft, info, c);
    if (ms_variable_is_keyed(draft, c)) end_keyed(draft, info, c);
    if (!ms_variable_is_tracked(draft, c)) continue;
    ms_text_format(draft->out, "if %sc%u~=", prefix, c + 1);
    ms_emitter_helper(draft, MS_HELPER_NONE);
    ms_text_format(draft->out, " then %sq%u", prefix, c + 1);
    write_positions(draft, info, 'q', c);
    ms_text_format(draft->out, "=%sc%u,", prefix, c + 1);
    write_iteration(draft, info);
    ms_text_add(draft->out, " end ");
  }
}

void ms_variables_results(const ms_emitter *draft, ms_kernel_info *info) {
  const ms_verdict *verdict = draft->job->verdict;
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    if (ms_variable_is_result(draft, verdict->scalars[s].capture))
      info->results[info->result_count++] = s;
  }
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    if (ms_variable_has_head(draft, verdict->scalars[s].capture))
      info->results[info->result_count++] = s | MS_RESULT_HEAD;
  }
}

void ms_variables_return(ms_emitter *draft, ms_kernel_info *info) {
  ms_variables_results(draft, info);
  for (uint32_t r = 0; r < info->result_count; r++) {
    bool head = (info->results[r] & MS_RESULT_HEAD) != 0;
    uint32_t at = draft->job->verdict->scalars[info->results[r] & ~MS_RESULT_HEAD].capture;
    char letter = head ? 'h' : ms_variable_is_tracked(draft, at) ? 'q' : 'c';
    ms_text_add(draft->out, r == 0 ? "return " : ",");
    ms_text_format(draft->out, "%s%c%u", draft->prefix, letter, at + 1);
  }
  for (uint32_t s = 0; s < draft->job->verdict->scalar_count; s++) {
    uint32_t at = draft->job->verdict->scalars[s].capture;
    if (ms_variable_is_tracked(draft, at) || ms_variable_is_ranked(draft, at))
      write_positions(draft, info, 'q', at);
    if (ms_variable_has_origin(draft, at)) write_positions(draft, info, 'o', at);
  }
  for (uint32_t s = 0; s < draft->job->verdict->scalar_count; s++) {
    uint32_t at = draft->job->verdict->scalars[s].capture;
    if (ms_variable_is_keyed(draft, at))
      ms_text_format(draft->out, ",%sr%u", draft->prefix, at + 1);
  }
}
