/* SPDX-License-Identifier: MIT
 *
 * Chunks: the lines around a rewritten body. See emit.h. */
#include "kernel/emit/emit.h"
#include "depend/parameter.h"

#include <stdio.h>
#include <string.h>

#include "kernel/emit/key_type.h"
#include "kernel/emit/nest.h"
#include "kernel/emit/variable.h"

static const char *const helper_key[] = {
#define MS_HELPER_KEY(name, key) [MS_HELPER_##name] = key,
    MS_KERNEL_HELPERS(MS_HELPER_KEY)
#undef MS_HELPER_KEY
};

/* Whether the loop runs over the entries of a sparse array. */
bool ms_emitter_entries(const ms_kernel_job *job) {
  return job->space->source != -1 && job->space->sparse;
}

/* Whether the body may draw random numbers, so that they must know the iteration. */
bool ms_emitter_draws(const ms_kernel_job *job) {
  for (uint32_t c = 0; c < job->loop->capture_count; c++) {
    if (job->bindings[c].draws) return true;
  }
  return false;
}

/* Whether a block function over entries takes the coordinates of dimension `d`. */
static bool needs_coord(const ms_emitter *emitter, uint32_t d) {
  return emitter->indices[d] != NULL ||
         (ms_emitter_draws(emitter->job) && !emitter->job->space->positions);
}

/* Finds a prefix for generated names that occurs nowhere in the text. */
static int choose_prefix(ms_emitter *emitter) {
  snprintf(emitter->prefix, sizeof emitter->prefix, "_m");
  for (unsigned n = 1; strstr(emitter->job->loop->tree->text, emitter->prefix) != NULL; n++) {
    if (n > 999999) return ms_error_set(emitter->err, MS_BUG, "no free name prefix");
    snprintf(emitter->prefix, sizeof emitter->prefix, "_m%u_", n);
  }
  return 0;
}

/* Follows collapsed loops inwards, so that emitter->body is the innermost body. */
static int find_indices(ms_emitter *emitter) {
  const ms_loop *loop = emitter->job->loop;
  uint32_t outer = emitter->job->space->dim_count, dims = emitter->job->verdict->dim_count;
  uint32_t inner = emitter->job->space->collapse > 1 ? emitter->job->space->collapse - 1 : 0;
  if (dims > MS_MAX_DIMS || outer + inner != dims)
    return ms_error_set(emitter->err, MS_BUG, "plan of %u dimensions, space of %u and %u collapsed",
                        dims, outer, inner);
  if (ms_emitter_entries(emitter->job))
    dims = outer; /* an entry's inner loops run as they are written */
  emitter->dims = dims;
  for (uint32_t d = 0; d < outer && d < loop->index_count; d++)
    emitter->indices[d] = loop->indices[d];
  if (loop->index_count > outer) emitter->value = loop->indices[outer];
  emitter->body = loop->body;
  for (uint32_t d = outer; d < dims; d++) {
    ms_node *next = emitter->body->kids == 1 ? emitter->body->kid[0] : NULL;
    if (next == NULL || next->kind != MS_FOR_NUMERIC)
      return ms_error_set(emitter->err, MS_BUG, "collapsed loop %u is not a numeric for", d + 1);
    emitter->indices[d] = next->symbols[0];
    emitter->body = next->kid[3];
  }
  return 0;
}

/* Notes the scalars of the plan by capture. */
static int find_scalars(ms_emitter *emitter) {
  const ms_kernel_job *job = emitter->job;
  for (uint32_t s = 0; s < job->verdict->scalar_count; s++) {
    const ms_scalar_plan *scalar = &job->verdict->scalars[s];
    if (scalar->capture >= job->loop->capture_count)
      return ms_error_set(emitter->err, MS_BUG, "scalar of capture %u", scalar->capture);
    emitter->scalar[scalar->capture] = scalar;
  }
  for (uint32_t c = 0; c < job->loop->capture_count; c++) {
    const ms_scalar_plan *scalar = emitter->scalar[c];
    bool carried = scalar != NULL && scalar->role == MS_ROLE_CARRIED;
    /* A field beyond the value is written through the value: no scalar. */
    bool whole = job->bindings[c].depth == job->loop->captures[c].field_count;
    bool lost = job->loop->captures[c].assigned && whole && scalar == NULL;
    if (carried || lost)
      return ms_error_set(emitter->err, MS_DEP,
                          "%s is assigned in a way that the plan has no role for",
                          job->loop->captures[c].root);
  }
  return 0;
}

/* Finds the captured numbers that the plan depends on, as plans are told apart. */
static int find_parameters(ms_emitter *emitter, size_t captures) {
  bool *arrays = ms_arena_take(emitter->arena, captures, sizeof *arrays);
  if (arrays == NULL) return -1;
  for (uint32_t c = 0; c < emitter->job->loop->capture_count; c++) {
    arrays[c] = emitter->job->bindings[c].kind == MS_BIND_ARRAY;
  }
  return ms_parameters_find(emitter->job->loop, false, arrays, emitter->parameter);
}

/* Whether the body calls what reads a part of it again. */
static bool rereads(const ms_kernel_job *job) {
  for (uint32_t c = 0; c < job->loop->capture_count; c++) {
    const ms_binding *binding = &job->bindings[c];
    if (binding->kind == MS_BIND_BUILTIN && (strcmp(binding->name, "meissa.iterate") == 0 ||
                                             strcmp(binding->name, "meissa.replicas") == 0))
      return true;
  }
  return false;
}

int ms_emitter_prepare(ms_emitter *emitter) {
  size_t captures = (size_t)emitter->job->loop->capture_count + 1;
  size_t symbols = (size_t)emitter->job->loop->tree->symbols + 1;
  emitter->value_used = ms_arena_take(emitter->arena, captures, sizeof *emitter->value_used);
  emitter->pointer_used = ms_arena_take(emitter->arena, captures, sizeof *emitter->pointer_used);
  emitter->touched_used = ms_arena_take(emitter->arena, captures, sizeof *emitter->touched_used);
  emitter->stride_used =
      ms_arena_take(emitter->arena, captures * MS_MAX_DIMS, sizeof *emitter->stride_used);
  emitter->extent_used =
      ms_arena_take(emitter->arena, captures * MS_MAX_DIMS, sizeof *emitter->extent_used);
  emitter->spilled = ms_arena_take(emitter->arena, captures, sizeof *emitter->spilled);
  emitter->parameter = ms_arena_take(emitter->arena, captures, sizeof *emitter->parameter);
  emitter->scalar = ms_arena_take(emitter->arena, captures, sizeof(const ms_scalar_plan *));
  emitter->views = ms_arena_take(emitter->arena, symbols, sizeof(ms_local_view *));
  if (!emitter->value_used || !emitter->pointer_used || !emitter->touched_used ||
      !emitter->stride_used || !emitter->extent_used || !emitter->spilled || !emitter->scalar ||
      !emitter->views || !emitter->parameter || find_parameters(emitter, captures) != 0) {
    return ms_error_memory(emitter->err, MS_ARR, "the text of a kernel");
  }
  emitter->rereads = rereads(emitter->job);
  if (choose_prefix(emitter) != 0 || find_indices(emitter) != 0 || find_scalars(emitter) != 0)
    return -1;
  if (ms_key_types_find(emitter) == 0 && ms_emitter_view_offsets(emitter) == 0) return 0;
  return ms_error_memory(emitter->err, MS_ARR, "the text of a kernel");
}

/* The rewritten body, twice if the first pass shows more captured values than fit into locals. */
static void write_body(ms_emitter *emitter, ms_text *body) {
  emitter->out = body;
  ms_emitter_node(emitter, emitter->body);
  uint32_t values = 0;
  for (uint32_t c = 0; c < emitter->job->loop->capture_count; c++) {
    if (emitter->value_used[c] && !ms_variable_is(emitter, c) && values++ >= emitter->job->locals)
      emitter->spilled[c] = true;
  }
  if (values <= emitter->job->locals) return;
  ms_text_free(body);
  ms_emitter_node(emitter, emitter->body);
}

static void add_param(ms_emitter *emitter, ms_kernel_info *info, ms_param_kind kind, uint32_t at) {
  static const char letter[] = {
      [MS_PARAM_COORD] = 'i',   [MS_PARAM_ENTRIES] = 'v', [MS_PARAM_VALUE] = 'c',
      [MS_PARAM_POINTER] = 'p', [MS_PARAM_STRIDE] = 's',  [MS_PARAM_STEP] = 'n',
      [MS_PARAM_TABLE] = 'k',   [MS_PARAM_EXTENT] = 'e',  [MS_PARAM_TOUCHED] = 'd'};
  info->params[info->param_count++] = (ms_param){.kind = kind, .at = at};
  ms_text_format(emitter->out, ",%s%c", emitter->prefix, letter[kind]);
  if (kind != MS_PARAM_TABLE && kind != MS_PARAM_ENTRIES)
    ms_text_format(emitter->out, "%u", at + 1);
}

/* A parameter of one dimension. */
static void add_dim(ms_emitter *emitter, ms_kernel_info *info, ms_param_kind kind, uint32_t at,
                    uint32_t dim) {
  add_param(emitter, info, kind, at);
  info->params[info->param_count - 1].dim = dim;
  ms_text_format(emitter->out, "_%u", dim + 1);
}

/* Parameters of the array that capture `at` is: its memory. */
static void add_memory(ms_emitter *emitter, ms_kernel_info *info, uint32_t at) {
  if (emitter->pointer_used[at]) add_param(emitter, info, MS_PARAM_POINTER, at);
  if (emitter->touched_used[at]) add_param(emitter, info, MS_PARAM_TOUCHED, at);
  for (uint32_t d = 0; d < MS_MAX_DIMS; d++) {
    if (emitter->stride_used[at * MS_MAX_DIMS + d]) add_dim(emitter, info, MS_PARAM_STRIDE, at, d);
    if (emitter->extent_used[at * MS_MAX_DIMS + d]) add_dim(emitter, info, MS_PARAM_EXTENT, at, d);
  }
}

/* The parameter list after the block's bounds. */
static void write_params(ms_emitter *emitter, ms_kernel_info *info) {
  const ms_kernel_job *job = emitter->job;
  for (uint32_t d = 0; info->entries && d < job->space->dim_count; d++) {
    if (needs_coord(emitter, d)) add_param(emitter, info, MS_PARAM_COORD, d);
  }
  if (emitter->value != NULL && job->space->source != -1) {
    add_param(emitter, info, MS_PARAM_ENTRIES, 0);
    for (uint32_t d = 0; !info->entries && d < job->space->dim_count; d++) {
      add_param(emitter, info, MS_PARAM_STEP, d);
      info->params[info->param_count - 1].dim = d;
    }
  }
  for (uint32_t c = 0; c < job->loop->capture_count; c++) {
    add_memory(emitter, info, c);
    if (ms_variable_is_logic(emitter, c)) add_param(emitter, info, MS_PARAM_VALUE, c);
    if (!emitter->value_used[c] || ms_variable_is(emitter, c)) continue;
    if (emitter->spilled[c]) {
      info->spilled[info->spilled_count++] = c;
    } else {
      add_param(emitter, info, MS_PARAM_VALUE, c);
    }
  }
  if (info->spilled_count > 0) add_param(emitter, info, MS_PARAM_TABLE, 0);
}

/* The value of an entry; `position` is written by the caller's loop. */
static void write_value(ms_emitter *emitter) {
  bool wide = emitter->job->entry_type == MS_INT64;
  if (wide) {
    ms_emitter_helper(emitter, MS_HELPER_WIDE);
    ms_text_add(emitter->out, "(");
  }
  ms_text_format(emitter->out, "%sv[", emitter->prefix);
  if (ms_emitter_entries(emitter->job)) {
    ms_text_format(emitter->out, "%sx-1", emitter->prefix);
  } else {
    for (uint32_t d = 0; d < emitter->job->space->dim_count; d++) {
      ms_text_format(emitter->out, "%s(%sx%u-1)*%sn%u", d > 0 ? "+" : "", emitter->prefix, d + 1,
                     emitter->prefix, d + 1);
    }
  }
  ms_text_add(emitter->out, wide ? "])" : "]");
}

/* The loop variables' declaration inside the block loops. */
static void write_indices(ms_emitter *emitter, bool entries) {
  const ms_loop *loop = emitter->job->loop;
  for (uint32_t d = 0; d < emitter->dims; d++) {
    if (emitter->indices[d] == NULL) continue;
    ms_text_format(emitter->out, " local %s=", emitter->indices[d]->name);
    if (entries) {
      ms_text_format(emitter->out, "%si%u[%sx-1]", emitter->prefix, d + 1, emitter->prefix);
    } else {
      ms_text_format(emitter->out, "%sx%u", emitter->prefix, d + 1);
    }
  }
  if (emitter->value != NULL) {
    ms_text_format(emitter->out, " local %s", emitter->value->name);
    if (emitter->job->space->source != -1) {
      ms_text_add(emitter->out, "=");
      write_value(emitter);
    }
  }
  for (uint32_t i = emitter->job->space->dim_count + 1; i < loop->index_count; i++)
    ms_text_format(emitter->out, " local %s", loop->indices[i]->name);
}

/* Tells the random numbers which iteration begins. */
static void write_place(ms_emitter *emitter, bool entries) {
  const char *prefix = emitter->prefix;
  if (!ms_emitter_draws(emitter->job)) return;
  ms_text_add(emitter->out, " ");
  ms_emitter_helper(emitter, MS_HELPER_AT);
  if (entries && emitter->job->space->positions) {
    ms_text_format(emitter->out, "(%sx)", prefix);
    return;
  }
  for (uint32_t d = 0; d < emitter->dims; d++) {
    ms_text_add(emitter->out, d > 0 ? "," : "(");
    if (entries) {
      ms_text_format(emitter->out, "%si%u[%sx-1]", prefix, d + 1, prefix);
    } else {
      ms_text_format(emitter->out, "%sx%u", prefix, d + 1);
    }
  }
  ms_text_add(emitter->out, ")");
}

/* The loops over a block; returns how many `end`s they need. */
static uint32_t write_loops(ms_emitter *emitter, bool entries) {
  const char *prefix = emitter->prefix;
  if (!entries) {
    ms_nest_loops(emitter);
    return emitter->dims;
  }
  ms_text_format(emitter->out, " for %sx=%slo,%shi do", prefix, prefix, prefix);
  return 1;
}

/* Everything before the body, on the body's first line. The helpers' names come first in the text
 * but are known last, so this writes into `head` after the rest is done. */
static void write_head(ms_emitter *emitter) {
  const char *prefix = emitter->prefix;
  ms_text_format(emitter->out, "local %srt=...", prefix);
  for (int h = 0; h < MS_HELPER_COUNT; h++) {
    if (emitter->helper_used[h]) {
      ms_text_format(emitter->out, " local %s%s=%srt.%s", prefix, helper_key[h], prefix,
                     helper_key[h]);
    }
  }
  for (uint32_t r = 0; r < emitter->row_count; r++) {
    ms_text_format(emitter->out, " local %s%s=%srt.%s", prefix, emitter->rows[r], prefix,
                   emitter->rows[r]);
  }
}

/* The function's opening, with its parameters, variables and loops; returns the loops. */
static uint32_t write_opening(ms_emitter *emitter, ms_kernel_info *info) {
  const char *prefix = emitter->prefix;
  ms_text_add(emitter->out, " return function(");
  if (info->entries) {
    ms_text_format(emitter->out, "%slo,%shi", prefix, prefix);
  } else {
    ms_nest_bounds(emitter);
  }
  write_params(emitter, info);
  ms_text_add(emitter->out, ")");
  ms_variables_declare(emitter, info);
  uint32_t loops = write_loops(emitter, info->entries);
  ms_variables_begin(emitter);
  write_indices(emitter, info->entries);
  write_place(emitter, info->entries);
  ms_text_add(emitter->out, " do ");
  return loops;
}

/* What follows the body. It starts a line, since the body may end in a comment. */
static void write_closing(ms_emitter *emitter, ms_kernel_info *info, uint32_t loops) {
  ms_text_add(emitter->out, "\nend ");
  if (emitter->leaves) ms_text_format(emitter->out, "::%snext:: ", emitter->prefix);
  ms_variables_end(emitter, info);
  for (uint32_t l = 0; l < loops; l++) ms_text_add(emitter->out, "end ");
  ms_variables_return(emitter, info);
  ms_text_add(emitter->out, " end\n");
}

int ms_emitter_info(ms_emitter *emitter, ms_kernel_info *info) {
  size_t captures = emitter->job->loop->capture_count;
  size_t values = captures > emitter->job->binding_count ? captures : emitter->job->binding_count;
  size_t scalars = emitter->job->verdict->scalar_count;
  memcpy(info->prefix, emitter->prefix, sizeof info->prefix);
  info->entries = ms_emitter_entries(emitter->job);
  info->dims = emitter->dims;
  info->row = !info->entries && ms_nest_has_row(emitter);
  for (uint32_t c = 0; c < captures; c++) {
    if (ms_variable_is_tracked(emitter, c) || ms_variable_is_ranked(emitter, c) ||
        ms_variable_is_keyed(emitter, c))
      info->positions = info->entries ? 1 : emitter->dims;
  }
  info->params = ms_arena_take(info->arena,
                               (values + 1) * (3 * MS_MAX_DIMS + 3) + 3 * MS_MAX_DIMS +
                                   MS_KERNEL_INNER + 2 * MS_KERNEL_LISTS,
                               sizeof(ms_param));
  info->spilled = ms_arena_take(info->arena, captures + 1, sizeof(uint32_t));
  info->results = ms_arena_take(info->arena, 2 * scalars + 1, sizeof(uint32_t));
  if (info->params && info->spilled && info->results) return 0;
  return ms_error_memory(emitter->err, MS_ARR, "the text of a kernel");
}

int ms_kernel_emit(const ms_kernel_job *job, ms_text *out, ms_kernel_info *info, ms_error *err) {
  *info = (ms_kernel_info){.arena = ms_arena_new(0)};
  if (info->arena == NULL) return ms_error_memory(err, MS_ARR, "a kernel");
  ms_emitter emitter = {.job = job, .arena = info->arena, .err = err};
  if (ms_emitter_prepare(&emitter) != 0 || ms_emitter_info(&emitter, info) != 0) return -1;
  ms_text body = {0}, opening = {0}, closing = {0};
  write_body(&emitter, &body);
  emitter.out = &opening;
  uint32_t loops = write_opening(&emitter, info);
  emitter.out = &closing;
  write_closing(&emitter, info, loops);
  emitter.out = out;
  for (uint32_t line = 1; line < emitter.body->line; line++) ms_text_add(out, "\n");
  write_head(&emitter);
  ms_text_append(out, opening.bytes, opening.length);
  ms_text_append(out, body.bytes, body.length);
  ms_text_append(out, closing.bytes, closing.length);
  out->failed |= body.failed || opening.failed || closing.failed;
  ms_text_free(&body);
  ms_text_free(&opening);
  ms_text_free(&closing);
  return out->failed ? ms_error_memory(err, MS_ARR, "the text of a kernel") : 0;
}

void ms_kernel_info_clear(ms_kernel_info *info) {
  ms_arena_destroy(&info->arena);
  *info = (ms_kernel_info){0};
}
