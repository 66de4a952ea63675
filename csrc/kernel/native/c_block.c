/* SPDX-License-Identifier: MIT
 *
 * Writing C: the function of a block. See c_block.h. Its loops are those of nest.h. */
#include "kernel/native/c_block.h"

#include <inttypes.h>

#include "kernel/emit/nest.h"
#include "kernel/native/c_array.h"
#include "kernel/native/c_cache_prefetch.h"
#include "kernel/native/c_draws.h"
#include "kernel/native/c_jam.h"
#include "kernel/native/c_local.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_statement.h"
#include "kernel/native/c_table.h"
#include "kernel/native/c_value.h"
#include "kernel/native/c_variable.h"

/* ---- loops ---- */

static const ms_extent *extent_of(const ms_writer *w, uint32_t d) {
  return &w->emitter->job->verdict->extent[d];
}

static int64_t row_at(const ms_writer *w, uint32_t d) {
  return ms_nest_has_row(w->emitter) ? w->emitter->job->verdict->row[d] : 0;
}

/* The row's part for the index in `name`. */
static const char *row_part(ms_writer *w, uint32_t d, const char *name) {
  const ms_extent *extent = extent_of(w, d);
  int64_t origin = extent->bounded ? 0 : extent->range.lo;
  return ms_c_text(w, " + (%" PRId64 ") * ((%s%u - (%" PRId64 ")) / %" PRId64 ")", row_at(w, d),
                   name, d + 1, origin, extent->range.step);
}

/* The least or greatest that the dimensions after d add to the row, or the sum of those before. */
static const char *row_sum(ms_writer *w, uint32_t from, uint32_t to, int most) {
  const char *text = "0";
  for (uint32_t d = from; d < to; d++) {
    int64_t factor = row_at(w, d);
    if (factor == 0) continue;
    const char *name = most < 0 ? "x" : (factor > 0) == (most == 1) ? "hi" : "lo";
    text = ms_c_text(w, "%s%s", text, row_part(w, d, name));
  }
  return text;
}

/* A bound that depends on outer indices. */
static const char *index_sum(ms_writer *w, const ms_index_sum *sum, uint32_t d) {
  const char *text = ms_c_text(w, "%" PRId64, sum->constant);
  for (uint32_t outer = 0; outer < d; outer++) {
    if (sum->at[outer] != 0)
      text = ms_c_text(w, "%s + (%" PRId64 ") * x%u", text, sum->at[outer], outer + 1);
  }
  return text;
}

/* The first or last index of dimension d that lies in the block's range of the row r.I. */
static const char *row_end(ms_writer *w, uint32_t d, bool first) {
  const ms_extent *extent = extent_of(w, d);
  int64_t factor = row_at(w, d), origin = extent->bounded ? 0 : extent->range.lo;
  bool low = first == (factor > 0);
  const char *rest = ms_c_text(w, "%s - (%s) - (%s)", low ? "rlo" : "rhi", row_sum(w, 0, d, -1),
                               row_sum(w, d + 1, w->emitter->dims, low));
  return ms_c_text(
      w, "%" PRId64 " + (%" PRId64 ") * (int64_t)__builtin_%s((double)(%s) / %" PRId64 ".0)",
      origin, extent->range.step, first ? "ceil" : "floor", rest, factor);
}

/* One end of a dimension's range, narrowed by outer indices and the row. */
static const char *end_of(ms_writer *w, uint32_t d, bool first) {
  const ms_extent *extent = extent_of(w, d);
  bool up = extent->range.step > 0;
  const char *text = ms_c_text(w, "%s%u", first ? "lo" : "hi", d + 1);
  const char *name = first == up ? "most" : "least";
  const ms_index_sum *sums = first == up ? extent->low : extent->high;
  uint32_t count = !extent->bounded ? 0 : first == up ? extent->low_count : extent->high_count;
  for (uint32_t s = 0; s < count; s++)
    text = ms_c_text(w, "ms_whole_%s(%s, %s)", name, text, index_sum(w, &sums[s], d));
  if (row_at(w, d) != 0)
    text = ms_c_text(w, "ms_whole_%s(%s, %s)", name, text, row_end(w, d, first));
  return text;
}

static void write_jammed(ms_writer *w, uint32_t d, const char *end);

/* Begins the loop of a dimension; of the innermost one tells how it begins. */
static void nest_loop(ms_writer *w, uint32_t d, ms_c_innermost *innermost) {
  int64_t step = extent_of(w, d)->range.step;
  const char *end = end_of(w, d, false);
  if (!ms_c_is_simple(end)) {
    ms_c_line(w, "const int64_t z%u = %s;", d + 1, end);
    end = ms_c_text(w, "z%u", d + 1);
  }
  ms_c_line(w, "x%u = %s;", d + 1, end_of(w, d, true));
  if (d + 1 == w->emitter->dims) {
    write_jammed(w, d, end);
    *innermost = (ms_c_innermost){.name = ms_c_text(w, "x%u", d + 1), .end = end, .step = step};
    return;
  }
  ms_c_line(w, "for (; x%u %s %s; x%u += %" PRId64 ") {", d + 1, step > 0 ? "<=" : ">=", end, d + 1,
            step);
}

/* ---- stretches ---- */

/* Whether iterations come in lists of ranges' indices, as those of replicas do, in which long
 * stretches go on by one in the innermost dimension: within one the body's index is not loaded from
 * the list, so that iterations depend on nothing but their number. */
static bool in_stretches(const ms_writer *w, bool entries) {
  const ms_kernel_job *job = w->emitter->job;
  return entries && job->space->shared && extent_of(w, w->emitter->dims - 1)->range.step == 1 &&
         !w->drawing && w->emitter->value == NULL;
}

/* Begins a stretch, to entry ms_to: as long as it is, its second half is looked at for more, of
 * what is in the loop's order its last entry. What is in no order has stretches of one. */
static void begin_stretch(ms_writer *w) {
  uint32_t inner = w->emitter->dims;
  ms_c_line(w, "while (x1 <= last) {");
  ms_c_line(w, "const int64_t ms_from = x1 - 1, ms_left = last - ms_from;");
  ms_c_line(w, "int64_t ms_to = 1;");
  ms_c_line(w, "while (ms_to < ms_left) {");
  ms_c_line(w, "const int64_t ms_end = 2 * ms_to < ms_left ? 2 * ms_to : ms_left;");
  ms_c_line(w, "uint32_t ms_apart = 0;");
  const char *from = w->emitter->job->space->in_order ? "ms_end - 1" : "ms_to";
  ms_c_line(w, "for (int64_t k = %s; k < ms_end; k++) {", from);
  ms_c_line(w,
            "ms_apart |= (uint32_t)ms_coord%u[ms_from + k] - (uint32_t)ms_coord%u[ms_from] - "
            "(uint32_t)k;",
            inner, inner);
  for (uint32_t d = 1; d < inner; d++)
    ms_c_line(w, "ms_apart |= (uint32_t)ms_coord%u[ms_from + k] - (uint32_t)ms_coord%u[ms_from];",
              d, d);
  ms_c_line(w, "}");
  ms_c_line(w, "if (ms_apart != 0) break;");
  ms_c_line(w, "ms_to = ms_end;");
  ms_c_line(w, "}");
  ms_c_line(w, "ms_to += ms_from;");
}

/* ---- loop variables ---- */

static bool small(const ms_range *range) {
  return range->lo >= INT32_MIN && range->lo <= INT32_MAX && range->hi >= INT32_MIN &&
         range->hi <= INT32_MAX;
}

static void declare_index(ms_writer *w, uint32_t d, bool entries) {
  const ms_symbol *symbol = w->emitter->indices[d];
  if (symbol == NULL) return;
  ms_c_local *local = ms_c_local_of(w, symbol);
  const char *name = ms_c_local_name(w, symbol);
  const char *from =
      entries ? ms_c_text(w, "ms_coord%u[x1 - 1]", d + 1) : ms_c_text(w, "x%u", d + 1);
  if (in_stretches(w, entries))
    from = d + 1 < w->emitter->dims
               ? ms_c_text(w, "ms_coord%u[ms_from]", d + 1)
               : ms_c_text(w, "(ms_coord%u[ms_from] + (x1 - 1 - ms_from))", d + 1);
  if (w->copy > 0 && d + 1 == w->emitter->dims)
    from = ms_c_text(w, "(%s + (%s))", from, ms_c_jam_distance(w, extent_of(w, d)->range.step));
  *local = (ms_c_local){.text = name, .form = MS_FORM_DOUBLE, .scopes = 1};
  const ms_range *range = &extent_of(w, d)->range;
  if (symbol->assigned || !small(range)) {
    ms_c_line(w, "%sdouble %s = (double)%s;", symbol->assigned ? "" : "const ", name, from);
    return;
  }
  ms_c_line(w, "const int64_t %s = %s;", name, from);
  local->whole = name;
  local->least = entries ? 1 : INT32_MIN;
  local->most = INT32_MAX;
  bool up = range->step > 0;
  local->lo = entries ? "1.0" : ms_c_text(w, "(double)%s%u", up ? "lo" : "hi", d + 1);
  local->hi = entries ? ms_c_text(w, "(double)%s", ms_c_array_limit(w, d))
                      : ms_c_text(w, "(double)%s%u", up ? "hi" : "lo", d + 1);
}

/* The entry's value. */
static void declare_entry(ms_writer *w, bool entries) {
  const ms_symbol *symbol = w->emitter->value;
  const ms_kernel_job *job = w->emitter->job;
  const char *at = "x1 - 1";
  if (!entries) {
    w->steps_used = true;
    at = "";
    for (uint32_t d = 0; d < job->space->dim_count; d++)
      at = ms_c_text(w, "%s%s(x%u - 1) * ms_step%u", at, d > 0 ? " + " : "", d + 1, d + 1);
  }
  w->entries_used = true;
  ms_kind_of kind = ms_kind_of_number(ms_type_precision(job->entry_type));
  ms_c_value value = {.form = ms_c_value_representation(w, &kind), .kind = kind};
  if (w->fast && job->entry_type == MS_FLOAT) value.form = MS_FORM_FLOAT;
  value.text = ms_c_text(w, "ms_entries[%s]", at);
  if (job->entry_type == MS_INT64) {
    ms_c_line(w, "if (MS_UNLIKELY(!ms_is_exact(%s))) {", value.text);
    ms_c_line(w, "ms_stop_wide(fault, %u, %" PRId32 ", %s);", job->loop->body->line,
              job->space->source, value.text);
    ms_c_leave(w, NULL);
    ms_c_line(w, "}");
  }
  if (job->entry_type == MS_INT32 || job->entry_type == MS_INT64) {
    ms_c_array_integer(w, &value, job->entry_type);
  } else if (job->entry_type != MS_DOUBLE && value.form == MS_FORM_DOUBLE) {
    value.text = ms_c_text(w, "(double)%s", value.text);
  }
  ms_c_local_declare(w, symbol, value, NULL);
}

static void declare_loop_variables(ms_writer *w, bool entries) {
  const ms_kernel_job *job = w->emitter->job;
  for (uint32_t d = 0; d < w->emitter->dims; d++) declare_index(w, d, entries);
  uint32_t beyond = job->space->dim_count;
  if (w->emitter->value != NULL && job->space->source != -1) {
    declare_entry(w, entries);
    beyond++;
  }
  for (uint32_t i = beyond; i < job->loop->index_count; i++)
    ms_c_local_declare(w, job->loop->indices[i], ms_c_value_nil(), NULL);
}

/* How many numbers tell an iteration of random numbers from others. */
static uint32_t draw_dims(const ms_writer *w, bool entries) {
  return entries && w->emitter->job->space->positions ? 1 : w->emitter->dims;
}

/* These numbers, as C. */
static const char *draw_index(ms_writer *w, bool entries) {
  const char *index = "(double)x1";
  if (entries && w->emitter->job->space->positions) return index;
  for (uint32_t d = 0; d < w->emitter->dims; d++) {
    const char *part = entries ? ms_c_text(w, "(double)ms_coord%u[x1 - 1]", d + 1)
                               : ms_c_text(w, "(double)x%u", d + 1);
    index = d == 0 ? part : ms_c_text(w, "%s, %s", index, part);
  }
  return index;
}

/* ---- an iteration ---- */

static void write_inside(ms_writer *w, const void *body) {
  ms_c_statements(w, body);
}

static void write_iteration(ms_writer *w, bool entries) {
  ms_c_variables_begin(w);
  if (w->drawing) ms_c_draws_begin(w, draw_index(w, entries));
  declare_loop_variables(w, entries);
  ms_c_line(w, "{");
  ms_c_region(w, w->emitter->body, write_inside, w->emitter->body);
  ms_c_line(w, "}");
  if (w->emitter->leaves) ms_c_line(w, "ms_next:;");
  ms_c_variables_end(w);
  ms_c_cache_prefetch(w);
}

/* ---- several iterations at once ---- */

static void declare_copy(ms_writer *w, const void *context) {
  (void)context;
  declare_loop_variables(w, false);
}

static void begin_tail(ms_writer *w, const void *context) {
  (void)context;
  ms_c_variables_begin(w);
}

static void end_tail(ms_writer *w, const void *context) {
  (void)context;
  ms_c_variables_end(w);
}

static void write_range_iteration(ms_writer *w, const void *context) {
  (void)context;
  write_iteration(w, false);
}

/* Goes over iterations of the innermost dimension, as long as several are left. */
static void write_jammed(ms_writer *w, uint32_t d, const char *end) {
  ms_c_outer outer = {.block = w->emitter->body,
                      .index = w->emitter->indices[d],
                      .declare = declare_copy,
                      .begin = begin_tail,
                      .end = end_tail,
                      .iteration = write_range_iteration,
                      .name = ms_c_text(w, "x%u", d + 1),
                      .last = end,
                      .step = extent_of(w, d)->range.step};
  if (w->drawing || w->emitter->value != NULL) return;
  ms_c_jam(w, &outer);
}

/* ---- the function ---- */

static void write_stopped(ms_writer *w, bool entries) {
  ms_c_line(w, "ms_stopped:");
  for (uint32_t d = 0; d < w->emitter->dims; d++) {
    if (entries) {
      ms_c_line(w, "fault->index[%u] = ms_coord%u[x1 - 1];", d, d + 1);
    } else {
      ms_c_line(w, "fault->index[%u] = (double)x%u;", d, d + 1);
    }
  }
  ms_c_tables_end(w);
  ms_c_variables_stop(w);
  ms_c_line(w, "return fault->stop;");
}

void ms_c_block_bounds(ms_writer *w) {
  if (ms_emitter_entries(w->emitter->job)) {
    ms_c_line(w, "const int64_t first = bounds[0], last = bounds[1];");
    return;
  }
  uint32_t dims = w->emitter->dims;
  for (uint32_t d = 0; d < dims; d++)
    ms_c_line(w, "const int64_t lo%u = bounds[%u], hi%u = bounds[%u];", d + 1, 2 * d, d + 1,
              2 * d + 1);
  if (ms_nest_has_row(w->emitter))
    ms_c_line(w, "const int64_t rlo = bounds[%u], rhi = bounds[%u];", 2 * dims, 2 * dims + 1);
}

/* The loops over a block: what draws are made at once is known once the inside is. */
static void write_loops(ms_writer *w, bool entries) {
  uint32_t outer = entries ? 0 : w->emitter->dims - 1;
  ms_c_innermost loop = {.name = "x1", .end = "last", .step = 1};
  for (uint32_t d = 0; d <= outer && !entries; d++) nest_loop(w, d, &loop);
  bool stretches = in_stretches(w, entries);
  if (stretches) {
    begin_stretch(w);
    loop.end = "ms_to";
  }
  ms_text inside = {0}, *out = w->out;
  w->out = &inside;
  write_iteration(w, entries);
  w->out = out;
  loop.index = draw_index(w, entries);
  uint32_t opened = outer + (stretches ? 1 : 0) + ms_c_draws_open(w, &loop);
  ms_text_append(w->out, inside.bytes, inside.length);
  w->failed = w->failed || inside.failed;
  ms_text_free(&inside);
  for (uint32_t l = 0; l < opened; l++) ms_c_line(w, "}");
}

void ms_c_block_function(ms_writer *w) {
  bool entries = ms_emitter_entries(w->emitter->job);
  uint32_t loops = entries ? 1 : w->emitter->dims;
  w->line = 0;
  w->indent = 1;
  w->emitter->leaves = w->stops = w->uncounted = false;
  ms_c_block_bounds(w);
  for (uint32_t l = 0; l < loops; l++)
    ms_c_line(w, "int64_t x%u = %s%s;", l + 1, entries ? "first" : "lo",
              entries ? "" : ms_c_text(w, "%u", l + 1));
  w->batches = false;
  if (w->drawing)
    ms_c_draws_declare(w, draw_dims(w, entries), entries && !w->emitter->job->space->positions);
  ms_c_tables_begin(w);
  ms_c_variables_declare(w);
  write_loops(w, entries);
  ms_c_variables_give(w);
  ms_c_tables_end(w);
  ms_c_line(w, "return MS_NATIVE_RAN;");
  if (w->stops) write_stopped(w, entries);
}
