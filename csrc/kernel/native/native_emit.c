/* SPDX-License-Identifier: MIT
 *
 * The native engine's text: the functions of a kernel put together. See native_emit.h.
 *
 * A body has several versions (loop versioning), of which each block runs one: ms_quick where the
 * guards hold that the compiled text relies on (subscripts in bounds, integers that fit, arrays
 * apart), ms_careful in any case, ms_wide where the guards hold, but captured numbers are such that
 * fast mode must not compute in float. The entry unpacks the slots, tests these conditions and
 * calls one of them. The lengths of rows are arguments, as captured numbers are; for those of now,
 * ms_quick is called with constants. What a block of other lengths needs is not compiled as well
 * where ms_careful can run it, if slower: who has other arrays asks for a general text, which has
 * no constants (job->general). */
#include "kernel/native/native_emit.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/c_block.h"
#include "kernel/native/c_draws.h"
#include "kernel/native/c_parameter.h"
#include "kernel/native/c_recursive.h"
#include "kernel/native/c_variable.h"
#include "kernel/native/prelude.h"

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "the text of a kernel");
}

/* Whether the memory of two captured arrays may be the same. */
static bool overlap(const ms_writer *w, uint32_t a, uint32_t b) {
  const ms_binding *bindings = w->emitter->job->bindings;
  return bindings[a].kind == MS_BIND_ARRAY && bindings[b].kind == MS_BIND_ARRAY &&
         bindings[a].storage == bindings[b].storage;
}

static bool same_array(const ms_writer *w, uint32_t a, uint32_t b) {
  const ms_binding *bindings = w->emitter->job->bindings;
  return bindings[a].array == bindings[b].array;
}

/* Marks the arrays that cannot be `restrict`: parts of one array under two names. The entries of a
 * dense array that the body does not name may be any other's. */
static void find_shared(ms_writer *w) {
  const ms_kernel_job *job = w->emitter->job;
  uint32_t count = job->binding_count;
  bool unknown = job->space->source == -2 && !job->space->sparse;
  for (uint32_t a = 0; a < count; a++) {
    w->shared[a] = unknown;
    for (uint32_t b = 0; b < count; b++) {
      if (overlap(w, a, b) && !same_array(w, a, b)) w->shared[a] = true;
    }
    if (job->space->source >= 0 && overlap(w, a, (uint32_t)job->space->source)) w->shared[a] = true;
  }
}

static int prepare(ms_writer *w, ms_error *err) {
  size_t bindings = (size_t)w->emitter->job->binding_count + MS_INNER + 1;
  size_t symbols = (size_t)w->emitter->job->loop->tree->symbols + 1;
  w->local = ms_arena_take(w->arena, symbols, sizeof *w->local);
  w->number_used = ms_arena_take(w->arena, bindings, sizeof(bool));
  w->rows_used = ms_arena_take(w->arena, bindings * MS_MAX_DIMS, sizeof(bool));
  w->shared = ms_arena_take(w->arena, bindings, sizeof(bool));
  w->pointer_used = ms_arena_take(w->arena, bindings, sizeof(bool));
  w->touched_used = ms_arena_take(w->arena, bindings, sizeof(bool));
  w->counted_used = ms_arena_take(w->arena, bindings, sizeof(bool));
  w->stride_used = ms_arena_take(w->arena, bindings * MS_MAX_DIMS, sizeof(bool));
  w->extent_used = ms_arena_take(w->arena, bindings * MS_MAX_DIMS, sizeof(bool));
  if (w->local == NULL || w->rows_used == NULL || w->number_used == NULL || w->shared == NULL ||
      w->pointer_used == NULL || w->touched_used == NULL || w->counted_used == NULL ||
      w->stride_used == NULL || w->extent_used == NULL)
    return out_of_memory(err);
  for (ms_outside *code = w->typed->codes; code != NULL; code = code->next) {
    code->local = ms_arena_take(w->arena, (size_t)code->loop->tree->symbols + 1, sizeof *w->local);
    if (code->local == NULL) return out_of_memory(err);
  }
  find_shared(w);
  w->drawing = ms_c_draws_any(w);
  return 0;
}

/* ---- functions ---- */

static void write_function(ms_writer *w, const ms_c_parameters *all, const char *opening,
                           const char *name, const ms_text *body) {
  ms_text_format(w->out, "%s %s(const int64_t *bounds", opening, name);
  for (uint32_t p = 0; p < all->count; p++)
    ms_text_format(w->out, ",\n    %s%s", all->list[p].type, all->list[p].name);
  if (w->recursive != NULL) ms_text_add(w->out, ",\n    const ms_calls *const calls");
  ms_text_add(w->out, ",\n    ms_native_slot *results, ms_native_fault *fault) {\n");
  ms_text_append(w->out, body->bytes, body->length);
  ms_text_add(w->out, "}\n\n");
}

/* The constant that stands for a parameter in a specialised call, or NULL. */
static const char *constant_for(const ms_writer *w, const char *name) {
  for (const ms_special *special = w->special; special != NULL; special = special->next) {
    if (strcmp(name, special->name) == 0) return special->value;
  }
  return NULL;
}

static void write_call(ms_writer *w, const ms_c_parameters *all, const char *name, bool special) {
  const char *arguments = "bounds";
  for (uint32_t p = 0; p < all->count; p++) {
    const char *constant = special ? constant_for(w, all->list[p].name) : NULL;
    arguments = ms_c_text(w, "%s, %s", arguments, constant ? constant : all->list[p].name);
  }
  if (w->recursive != NULL) arguments = ms_c_text(w, "%s, &own", arguments);
  ms_c_line(w, "return %s(%s, results, fault);", name, arguments);
}

/* The answer to a call without results (native.h), as C. */
static const char *prospect_of(ms_writer *w, bool guarded) {
  const char *best = w->ends ? "MS_NATIVE_ENDS" : "MS_NATIVE_MAY_STOP";
  if (!w->counted || w->declines) return "MS_NATIVE_ENDLESS";
  if (!guarded) return best;
  return ms_c_text(w, "ms_holds ? %s : %s", best,
                   w->careful_counted ? "MS_NATIVE_MAY_STOP" : "MS_NATIVE_DOUBTFUL");
}

/* Recursive functions may call each other: all are declared before the first one is written. */
static void write_recursive_functions(ms_writer *w, const ms_c_parameters *all) {
  for (ms_c_recursive *each = w->recursive; each != NULL; each = each->next)
    ms_c_line(w, "%s;", ms_c_recursive_head(w, each));
  for (ms_c_recursive *each = w->recursive; each != NULL; each = each->next) {
    w->indent = 0;
    ms_c_line(w, "%s {", ms_c_recursive_head(w, each));
    ms_c_line(w, "const ms_native_slot *const slots = calls->slots;");
    ms_c_line(w, "ms_native_fault *const fault = calls->fault;");
    ms_c_parameters_unpack(w, all);
    ms_text_append(w->out, each->body.bytes, each->body.length);
    ms_c_line(w, "}");
  }
}

/* Whether the parameters are what ms_quick is written for, as C. */
static const char *special_test(ms_writer *w) {
  const char *test = "";
  for (const ms_special *special = w->special; special != NULL; special = special->next)
    test = ms_c_text(w, "%s%s%s == %s", test, *test ? " && " : "", special->name, special->value);
  return test;
}

/* Whether blocks of other lengths are left to ms_careful. In fast mode it has other roundings; what
 * a captured number will be is not known, and all that has no guards is short. */
static bool is_shaped(const ms_writer *w, const ms_text *careful) {
  return w->special != NULL && w->constants == 0 && careful->length > 0 && !w->fast;
}

static void write_entry(ms_writer *w, const ms_c_parameters *all, bool guarded) {
  ms_text_add(w->out,
              "__attribute__((visibility(\"default\")))\n"
              "int32_t " MS_NATIVE_ENTRY
              "(const int64_t *bounds, "
              "const ms_native_slot *slots,\n"
              "    ms_native_slot *results, ms_native_fault *fault) {\n");
  w->indent = 1;
  ms_c_parameters_unpack(w, all);
  if (w->recursive != NULL) ms_c_line(w, "const ms_calls own = {slots, fault, ms_stack};");
  if (guarded) {
    ms_c_block_bounds(w);
    ms_c_line(w, "const bool ms_holds = %s%s%s;", w->info->shaped ? special_test(w) : "",
              w->info->shaped ? " &&\n      " : "", w->scope[0].guards.bytes);
  }
  ms_c_line(w, "if (MS_UNLIKELY(results == 0)) return %s;", prospect_of(w, guarded));
  if (guarded) {
    ms_c_line(w, "if (MS_UNLIKELY(!ms_holds)) {");
    if (w->declines) {
      ms_c_line(w, "return MS_NATIVE_DECLINED;");
    } else {
      write_call(w, all, "ms_careful", false);
    }
    ms_c_line(w, "}");
  }
  if (w->fits.length > 0) {
    ms_c_line(w, "if (MS_UNLIKELY(!(%s))) {", w->fits.bytes);
    write_call(w, all, "ms_wide", false);
    ms_c_line(w, "}");
  }
  if (w->special != NULL && !w->info->shaped) {
    /* Else GCC takes the loops in it for cold. */
    ms_c_line(w, "if (MS_LIKELY(%s)) {", special_test(w));
    write_call(w, all, "ms_quick", true);
    ms_c_line(w, "}");
  }
  write_call(w, all, "ms_quick", w->info->shaped);
  ms_text_add(w->out, "}\n");
}

/* Declares in front of a function's inside what its loops know of rows (c_small_sum.h). */
static void declare_small_records(ms_writer *w, ms_text *body) {
  if (w->small_records == 0) return;
  ms_text whole = {0};
  ms_text_format(&whole, "  ms_small_rows ms_small[%" PRIu32 "] = {0};\n", w->small_records);
  ms_text_append(&whole, body->bytes, body->length);
  whole.failed = whole.failed || body->failed;
  ms_text_free(body);
  *body = whole;
}

/* Writes the inside of one of the functions. */
static bool write_body(ms_writer *w, ms_text *body, bool careful, bool wide) {
  w->out = body;
  w->careful = careful;
  w->wide = wide;
  w->scopes = careful ? 0 : 1;
  w->small_records = 0;
  ms_c_block_function(w);
  declare_small_records(w, body);
  w->failed = w->failed || body->failed;
  return w->why->line == 0 && !w->failed;
}

/* What is compiled for size: few blocks need it, and the compiler takes less time for it. */
static void write_cold(ms_writer *w, const ms_c_parameters *all, const char *name,
                       const ms_text *body) {
  if (body->length > 0)
    write_function(w, all, "static __attribute__((noinline, cold)) int32_t", name, body);
}

static void write_all(ms_writer *w, ms_kernel_info *info, const ms_text *quick,
                      const ms_text *careful, const ms_text *wide) {
  ms_c_parameters all = {0};
  if (ms_c_parameters_find(w, info, &all) != 0) {
    w->failed = true;
    return;
  }
  if (w->emitter->job->general) w->special = NULL;
  info->shaped = is_shaped(w, careful);
  for (uint32_t c = 0; c < w->constants && !w->emitter->job->general; c++) {
    const ms_constant *constant = &w->constant[c];
    ms_c_parameter_special(w, ms_c_variable_captured(w, constant->capture),
                           ms_c_text(w, "%" PRId64 ".0", constant->value));
  }
  char place[256];
  ms_tree_place(w->emitter->job->loop->tree, place, sizeof place);
  ms_text kernel = {0}, *out = w->out;
  w->out = &kernel;
  /* The keys of random numbers do not change, so GCC keeps all of them at hand; its other way to
   * give out registers then leaves more to inner loops (Gibbs sampling: a tenth faster). In fast
   * mode it would pack fields of ms_draws into vectors, which takes longer than what it saves
   * (estimating pi: a quarter). */
  if (w->drawing)
    ms_text_add(w->out,
                "#ifndef __clang__\n"
                "#pragma GCC optimize(\"ira-algorithm=priority,no-tree-slp-vectorize\")\n"
                "#endif\n");
  ms_text_add(w->out, "\n");
  write_recursive_functions(w, &all);
  const char *inlined = "static inline __attribute__((always_inline)) int32_t";
  write_function(w, &all, inlined, "ms_quick", quick);
  bool guarded = careful->length > 0;
  write_cold(w, &all, "ms_careful", careful);
  write_cold(w, &all, "ms_wide", wide);
  write_entry(w, &all, guarded || (w->declines && w->scope[0].guards.length > 0));
  w->out = out;
  ms_native_prelude_for(w->fast, kernel.bytes, kernel.length, out);
  ms_text_append(out, kernel.bytes, kernel.length);
  w->failed = w->failed || kernel.failed;
  ms_text_free(&kernel);
}

static int emit(ms_writer *w, ms_text *out, ms_kernel_info *info, ms_error *err) {
  ms_text quick = {0}, careful = {0}, wide = {0};
  w->positions = info->positions;
  bool written = write_body(w, &quick, false, false);
  w->counted = !w->uncounted;
  w->ends = !w->stops;
  if (written && w->fits.length > 0) {
    written = write_body(w, &wide, false, true);
    w->counted = w->counted && !w->uncounted;
    w->ends = w->ends && !w->stops;
  }
  bool guarded = w->scope[0].guards.length > 0;
  if (written && guarded && !w->declines) written = write_body(w, &careful, true, false);
  w->careful_counted = !w->uncounted;
  if (written) {
    ms_c_recursive_write(w);
    written = w->why->line == 0 && !w->failed;
  }
  info->declines = w->declines;
  w->out = out;
  if (written) {
    write_all(w, info, &quick, &careful, &wide);
    ms_variables_results(w->emitter, info);
  }
  ms_text_free(&quick);
  ms_text_free(&careful);
  ms_text_free(&wide);
  for (ms_c_recursive *each = w->recursive; each != NULL; each = each->next)
    ms_text_free(&each->body);
  ms_text_free(&w->fits);
  for (uint32_t f = 0; f < MS_SCOPES; f++) ms_text_free(&w->scope[f].guards);
  if (w->failed || out->failed) return out_of_memory(err);
  return w->why->line != 0;
}

/* Makes room behind the bindings for what only functions name. */
static int extend_bindings(ms_kernel_job *job, ms_arena *arena) {
  uint32_t count = job->binding_count;
  if (count < job->loop->capture_count) count = job->loop->capture_count;
  ms_binding *bindings = ms_arena_take(arena, (size_t)count + MS_INNER, sizeof *bindings);
  if (bindings == NULL) return -1;
  memcpy(bindings, job->bindings, count * sizeof *bindings);
  job->bindings = bindings;
  job->binding_count = count;
  return 0;
}

int ms_native_emit(const ms_kernel_job *job, bool fast, ms_text *out, ms_kernel_info *info,
                   ms_native_messages *messages, ms_native_refusal *why, ms_error *err) {
  *info = (ms_kernel_info){.arena = ms_arena_new(0)};
  *why = (ms_native_refusal){0};
  *messages = (ms_native_messages){0};
  if (info->arena == NULL) return out_of_memory(err);
  ms_kernel_job own = *job;
  if (extend_bindings(&own, info->arena) != 0) return out_of_memory(err);
  ms_emitter emitter = {.job = &own, .arena = info->arena, .err = err};
  ms_typed typed;
  if (ms_emitter_prepare(&emitter) != 0 || ms_emitter_info(&emitter, info) != 0) return -1;
  int result = ms_typed_find(&typed, &emitter) == 0 ? 0 : out_of_memory(err);
  ms_writer w = {.emitter = &emitter,
                 .typed = &typed,
                 .arena = info->arena,
                 .why = why,
                 .fast = fast,
                 .info = info};
  if (result == 0) result = prepare(&w, err);
  if (result == 0) result = emit(&w, out, info, err);
  messages->text = w.messages;
  messages->count = w.message_count;
  ms_typed_end(&typed);
  return result;
}
