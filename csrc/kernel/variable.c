/* SPDX-License-Identifier: MIT
 *
 * Variables: see variable.h. */
#include "kernel/variable.h"

/* Whether capture `at` is a variable of the block function. */
bool ms_variable_is(const ms_draft *draft, uint32_t at) {
  return at < draft->job->loop->capture_count && draft->scalar[at] != NULL &&
         draft->scalar[at]->role != MS_ROLE_BROADCAST;
}

bool ms_variable_is_result(const ms_draft *draft, uint32_t at) {
  return ms_variable_is(draft, at) &&
         (draft->scalar[at]->role != MS_ROLE_PRIVATE || draft->job->space->ordered);
}

/* Blocks of several dimensions may run in another order than the loop as written, so the value of
 * a private scalar comes with the iteration that gave it. */
bool ms_variable_is_tracked(const ms_draft *draft, uint32_t at) {
  return draft->dims > 1 && ms_variable_is_result(draft, at) &&
         draft->scalar[at]->role == MS_ROLE_PRIVATE;
}

/* The value that leaves a combination unchanged. */
static const char *identity(const ms_draft *draft, uint32_t at) {
  switch (draft->scalar[at]->op) {
    case MS_REDUCE_SUM:
      return "-0"; /* 0 would turn a sum of negative zeros positive */
    case MS_REDUCE_PRODUCT:
      return "1";
    case MS_REDUCE_MIN:
      return "1/0";
    case MS_REDUCE_MAX:
      return "-1/0";
    case MS_REDUCE_AND:
      return "true";
    case MS_REDUCE_OR:
      return draft->job->bindings[at].kind == MS_BIND_NIL ? "nil" : "false";
  }
  return "nil";
}

/* Names of the numbers that say where a tracked scalar got its value. */
static void write_positions(ms_draft *draft, const ms_kernel_info *info, uint32_t at) {
  for (uint32_t d = 0; d < info->positions; d++)
    ms_text_format(draft->out, ",%sq%u_%u", draft->prefix, at + 1, d + 1);
}

/* Scalars of the plan as locals of the block function. */
void ms_variables_declare(ms_draft *draft, const ms_kernel_info *info) {
  for (uint32_t c = 0; c < draft->job->loop->capture_count; c++) {
    if (!ms_variable_is(draft, c)) continue;
    if (ms_variable_is_tracked(draft, c)) {
      ms_text_format(draft->out, " local %sq%u", draft->prefix, c + 1);
      write_positions(draft, info, c);
      ms_text_add(draft->out, "=");
      ms_draft_helper(draft, MS_HELPER_NONE);
      continue;
    }
    ms_text_format(draft->out, " local %sc%u=", draft->prefix, c + 1);
    if (draft->scalar[c]->role == MS_ROLE_REDUCTION) {
      ms_text_add(draft->out, identity(draft, c));
    } else if (draft->scalar[c]->role == MS_ROLE_SLICED) {
      ms_draft_helper(draft, MS_HELPER_SLICE);
      ms_text_add(draft->out, "()");
    } else if (ms_variable_is_result(draft, c)) {
      ms_draft_helper(draft, MS_HELPER_NONE);
    } else {
      ms_text_add(draft->out, "nil");
    }
  }
}

/* Before each iteration nothing has been assigned. */
void ms_variables_begin(ms_draft *draft) {
  for (uint32_t c = 0; c < draft->job->loop->capture_count; c++) {
    if (!ms_variable_is_tracked(draft, c)) continue;
    ms_text_format(draft->out, " local %sc%u=", draft->prefix, c + 1);
    ms_draft_helper(draft, MS_HELPER_NONE);
  }
}

/* After each iteration: what it has assigned, and that it was this one. */
void ms_variables_end(ms_draft *draft, const ms_kernel_info *info) {
  const char *prefix = draft->prefix;
  for (uint32_t c = 0; c < draft->job->loop->capture_count; c++) {
    if (!ms_variable_is_tracked(draft, c)) continue;
    ms_text_format(draft->out, "if %sc%u~=", prefix, c + 1);
    ms_draft_helper(draft, MS_HELPER_NONE);
    ms_text_format(draft->out, " then %sq%u", prefix, c + 1);
    write_positions(draft, info, c);
    ms_text_format(draft->out, "=%sc%u", prefix, c + 1);
    for (uint32_t d = 0; d < info->positions; d++) {
      ms_text_format(draft->out, ",%sx", prefix);
      if (!info->entries) ms_text_format(draft->out, "%u", d + 1);
    }
    ms_text_add(draft->out, " end ");
  }
}

void ms_variables_return(ms_draft *draft, ms_kernel_info *info) {
  for (uint32_t s = 0; s < draft->job->plan->scalar_count; s++) {
    uint32_t at = draft->job->plan->scalars[s].capture;
    if (!ms_variable_is_result(draft, at)) continue;
    ms_text_add(draft->out, info->result_count == 0 ? "return " : ",");
    ms_text_format(draft->out, "%s%c%u", draft->prefix,
                   ms_variable_is_tracked(draft, at) ? 'q' : 'c', at + 1);
    info->results[info->result_count++] = s;
  }
  for (uint32_t r = 0; r < info->result_count; r++) {
    uint32_t at = draft->job->plan->scalars[info->results[r]].capture;
    if (ms_variable_is_tracked(draft, at)) write_positions(draft, info, at);
  }
}
