/* SPDX-License-Identifier: MIT
 *
 * Writing C: numeric loops. See c_loop.h.
 *
 * A loop is quick if its ends are integers under guards; then its variable is one too, and what its
 * body needs is guarded where the loop begins, or further out. Where guards had to be put at the
 * loop itself, the careful loop stands beside it. */
#include "kernel/native/c_loop.h"

#include <inttypes.h>

#include "kernel/native/c_expression.h"
#include "kernel/native/c_fours.h"
#include "kernel/native/c_guard.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_jam.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_small_sum.h"
#include "kernel/native/c_statement.h"
#include "kernel/native/c_sum.h"
#include "kernel/native/c_trip.h"
#include "kernel/native/c_value.h"

/* One end of a loop, or its step. */
typedef struct loop_end {
  const ms_node *node;
  const char *what; /* for messages */
  ms_integer_value whole;
  ms_c_value value;   /* evaluated, where it is not a whole number in an outer scope */
  const char *number; /* its double text, evaluated once; NULL: `whole` */
} loop_end;

static void evaluate_end(ms_writer *w, loop_end *end) {
  w->exact++;
  end->value = ms_c_expression(w, end->node);
  w->exact--;
  if (end->value.form == MS_FORM_OBJECT || end->value.form == MS_FORM_BOOL) {
    ms_c_refuse(w, end->node, "`%s` bounds a loop, but is no number", ms_c_source(w, end->node));
    return;
  }
  bool literal = ms_c_is_simple(end->value.text) && end->node->kind == MS_NUMBER;
  if (literal && end->value.form == MS_FORM_DOUBLE) return;
  /* What is evaluated later may assign to what this names. */
  const char *held = ms_c_temp(w);
  ms_c_line(w, "const %s %s = %s;", ms_c_value_type(end->value.form), held, end->value.text);
  end->value.text = held;
}

/* Called for all ends of a loop in the order in which Lua looks at them, once they are evaluated.
 */
static void check_end(ms_writer *w, loop_end *end) {
  if (end->whole.known || w->why->line != 0) return;
  const char *words = ms_c_text(w, "'for' %s must be a number", end->what);
  end->number = ms_c_value_as_number(w, end->value, end->node, (ms_complaint){words, words});
  if (end->value.form == MS_FORM_DOUBLE) return;
  const char *held = ms_c_temp(w);
  ms_c_line(w, "const double %s = %s;", held, end->number);
  end->number = held;
}

/* An end as an integer; otherwise as a number that the loop's own scope may guard. The first value,
 * which the variable takes as it is, is none if it is -0. */
static void find_end(ms_writer *w, loop_end *end) {
  end->whole = ms_c_integer_value(w, end->node);
  end->whole.known = end->whole.known && end->whole.unsigned_zero;
  if (!end->whole.known) {
    evaluate_end(w, end);
  } else if (end->whole.lo == NULL) { /* made of counters, which may go on before the loop ends */
    const char *held = ms_c_temp(w);
    ms_c_line(w, "const int64_t %s = %s;", held, end->whole.text);
    end->whole.text = held;
  }
}

static void guard_end(ms_writer *w, loop_end *end, bool start) {
  if (end->number == NULL) return;
  const char *text = end->number;
  end->whole = (ms_integer_value){.known = true,
                                  .unsigned_zero = true,
                                  .text = ms_c_text(w, "(int64_t)%s", text),
                                  .lo = text,
                                  .hi = text,
                                  .least = INT32_MIN,
                                  .most = INT32_MAX};
  const char *test =
      start ? "ms_is_whole(%s) && !(%s == 0 && __builtin_signbit(%s))" : "ms_is_whole(%s)";
  ms_c_guard(w, w->scopes - 1, ms_c_text(w, test, text, text, text));
}

/* The step of a loop if it is a constant; 0 otherwise. */
static int64_t constant_step(ms_writer *w, const ms_node *loop) {
  if (loop->kid[2] == NULL) return 1;
  ms_integer_value step = ms_c_integer_value_static(w, loop->kid[2]);
  bool small = step.known && step.least == step.most && step.most < INT32_MAX;
  return small && step.least > INT32_MIN ? step.least : 0;
}

/* The variable as the body sees it. `index` is the loop's own counter. */
static void declare_variable(ms_writer *w, const ms_node *loop, const char *index, bool whole) {
  const ms_symbol *symbol = loop->symbols[0];
  ms_c_local *local = ms_c_local_of(w, symbol);
  local->form = MS_FORM_DOUBLE;
  if (!symbol->assigned) {
    local->text = index;
    return;
  }
  local->text = ms_c_local_name(w, symbol);
  ms_c_line(w, "double %s = %s%s;", local->text, whole ? "(double)" : "", index);
}

/* The loop over pieces of sums, of which each is one of terms: first .. last. */
static void open_pieces(ms_writer *w, int64_t step, const char **first, const char **last) {
  const char *piece = ms_c_temp(w), *end = ms_c_temp(w);
  ms_c_line(w, "for (int64_t %s = %s; %s %s %s; %s += %" PRId64 ") {", piece, *first, piece,
            step > 0 ? "<=" : ">=", *last, piece, MS_C_PIECE * step);
  ms_c_line(w, "const int64_t %s = ms_whole_%s(%s + (%" PRId64 "), %s);", end,
            step > 0 ? "least" : "most", piece, (MS_C_PIECE - 1) * step, *last);
  *first = piece;
  *last = end;
}

/* What is known of the variable of a loop over whole numbers, whose name is `index`. */
static void know_variable(ms_writer *w, const ms_node *loop, const loop_end *start,
                          const loop_end *limit, int64_t step, const char *index) {
  const ms_symbol *symbol = loop->symbols[0];
  ms_c_local *local = ms_c_local_of(w, symbol);
  *local = (ms_c_local){.region = w->region, .scopes = w->scopes, .loop = loop, .down = step < 0};
  local->start = start->number;
  local->limit = limit->number;
  local->least = step > 0 ? start->whole.least : limit->whole.least;
  local->most = step > 0 ? limit->whole.most : start->whole.most;
  if (!symbol->assigned) local->whole = index;
}

static const char *next_of(ms_writer *w, const char *index, int64_t step) {
  return step == 1 ? ms_c_text(w, "%s++", index) : ms_c_text(w, "%s += %" PRId64, index, step);
}

/* A loop of which copies may be made. */
typedef struct copied_loop {
  const ms_node *loop;
  const char *index;
  int64_t step;
  ms_c_local variable;
} copied_loop;

static void declare_copy(ms_writer *w, const void *context) {
  const copied_loop *copied = context;
  ms_c_local *local = ms_c_local_of(w, copied->loop->symbols[0]);
  *local = copied->variable;
  if (w->copy == 0) return;
  local->text = local->whole = ms_c_text(w, "%s_%u", copied->index, w->copy);
  ms_c_line(w, "const int64_t %s = %s + (%s);", local->text, copied->index,
            ms_c_jam_distance(w, copied->step));
}

static void write_iteration(ms_writer *w, const void *context) {
  const copied_loop *copied = context;
  declare_copy(w, copied);
  w->loops++;
  ms_c_statements(w, copied->loop->kid[3]);
  w->loops--;
}

/* Several iterations at once, as long as there are so many: the loop's variable, which is declared
 * here, has gone over them then. */
static bool write_jammed(ms_writer *w, const ms_node *loop, const char *index, const char *first,
                         const char *last, int64_t step) {
  copied_loop copied = {loop, index, step, *ms_c_local_of(w, loop->symbols[0])};
  copied.variable.text = index;
  copied.variable.form = MS_FORM_DOUBLE;
  ms_c_outer outer = {.block = loop->kid[3],
                      .index = loop->symbols[0],
                      .context = &copied,
                      .declare = declare_copy,
                      .iteration = write_iteration,
                      .name = index,
                      .first = first,
                      .last = last,
                      .step = step};
  return !loop->symbols[0]->assigned && ms_c_jam(w, &outer);
}

/* A loop over whole numbers. */
typedef struct counted_loop {
  const ms_node *loop;
  const loop_end *start, *limit;
  int64_t step;
  const char *index, *head;
  bool rolled; /* not to be unrolled before it is vectorised */
} counted_loop;

static void write_counted(ms_writer *w, const void *context) {
  const counted_loop *counted = context;
  if (counted->rolled) ms_c_line(w, "#pragma GCC unroll 1");
  ms_c_line(w, "%s", counted->head);
  know_variable(w, counted->loop, counted->start, counted->limit, counted->step, counted->index);
  declare_variable(w, counted->loop, counted->index, true);
  w->loops++;
  ms_c_statements(w, counted->loop->kid[3]);
  w->loops--;
  ms_c_line(w, "}");
}

/* Whether gcc had better make vectors of a loop that runs so often, before it unrolls it. */
static bool is_rolled(const ms_writer *w, const ms_node *loop, int64_t trip) {
  if (trip <= 0) return false;
  if (w->loops > 0) return trip <= MS_NEST_UNROLLED_TOO_EARLY && ms_c_trip_is_elementwise(loop);
  return trip <= MS_UNROLLED_TOO_EARLY && !ms_c_trip_is_scan(loop) && !ms_c_trip_is_scatter(loop);
}

static void write_whole_loop(ms_writer *w, const ms_node *loop, const loop_end *start,
                             const loop_end *limit, int64_t step) {
  const ms_symbol *symbol = loop->symbols[0];
  const char *index = ms_c_local_name(w, symbol), *first = start->whole.text;
  const char *last = limit->whole.text;
  if (symbol->assigned) index = ms_c_temp(w);
  int64_t trip = step == 1 ? ms_c_trip(w, loop, &limit->whole) : 0;
  bool resumed = ms_c_fours_resume(w, loop, &first);
  ms_c_sums sums;
  ms_c_sums_find(w, loop->kid[3], &sums);
  if (sums.count > 0) open_pieces(w, step, &first, &last);
  ms_c_sums_begin(w, &sums);
  know_variable(w, loop, start, limit, step, index);
  bool jammed = write_jammed(w, loop, index, first, last, step);
  counted_loop counted = {loop, start, limit, step, index, NULL, is_rolled(w, loop, trip)};
  counted.head = ms_c_text(w, "for (%s; %s %s %s; %s) {",
                           jammed ? "" : ms_c_text(w, "int64_t %s = %s", index, first), index,
                           step > 0 ? "<=" : ">=", last, next_of(w, index, step));
  if (jammed || resumed || step != 1) {
    write_counted(w, &counted);
  } else {
    const char *const range[] = {first, last, index};
    ms_c_small_sums_write(w, loop, range, write_counted, &counted);
  }
  ms_c_sums_end(w, &sums);
  if (sums.count > 0) ms_c_line(w, "}");
}

/* The loop as Lua has it: its index is a double. */
static void write_number_loop(ms_writer *w, const ms_node *loop, const char *start,
                              const char *limit, const char *step) {
  const ms_symbol *symbol = loop->symbols[0];
  const char *index = ms_c_local_name(w, symbol);
  if (symbol->assigned) index = ms_c_temp(w);
  const char *goes_on;
  if (step == NULL) {
    goes_on = ms_c_text(w, "%s <= %s", index, limit);
  } else {
    goes_on = ms_c_text(w, "%s >= 0 ? %s <= %s : %s >= %s", step, index, limit, index, limit);
  }
  ms_c_line(w, "for (double %s = %s; %s; %s += %s) {", index, start, goes_on, index,
            step != NULL ? step : "1.0");
  *ms_c_local_of(w, symbol) = (ms_c_local){.region = w->region, .scopes = w->scopes};
  declare_variable(w, loop, index, false);
  ms_c_statements(w, loop->kid[3]);
  ms_c_line(w, "}");
}

static const char *end_number(ms_writer *w, const loop_end *end) {
  return end->number != NULL ? end->number : ms_c_text(w, "(double)%s", end->whole.text);
}

/* Whether the end of a loop is a number that one can count to. */
static bool is_near(const loop_end *end) {
  const int64_t far = (int64_t)1 << 33;
  const ms_integer_value *whole = end->number == NULL ? &end->whole : end->value.whole;
  return whole != NULL && whole->known && whole->least >= -far && whole->most <= far;
}

/* The careful loop: no scopes, so that nothing is guarded. */
static void write_careful(ms_writer *w, const ms_node *loop, const loop_end *start,
                          const loop_end *limit, int64_t step) {
  uint32_t scopes = w->scopes;
  w->scopes = 0;
  w->careful++;
  const char *by = step == 1 ? NULL : ms_c_number(w, (double)step);
  w->uncounted = w->uncounted || !is_near(start) || !is_near(limit);
  write_number_loop(w, loop, end_number(w, start), end_number(w, limit), by);
  w->careful--;
  w->scopes = scopes;
}

/* The quick loop in a scope of its own. */
static void write_quick(ms_writer *w, const ms_node *loop, loop_end *start, loop_end *limit,
                        int64_t step) {
  ms_text body = {0}, *out = w->out;
  ms_guard_scope *scope = &w->scope[w->scopes++];
  *scope = (ms_guard_scope){0};
  guard_end(w, start, true);
  guard_end(w, limit, false);
  w->out = &body;
  w->line = loop->line;
  w->indent++;
  write_whole_loop(w, loop, start, limit, step);
  w->indent--;
  w->out = out;
  w->scopes--;
  bool guarded = scope->guards.length > 0;
  if (guarded) ms_c_line(w, "if (%s) {", scope->guards.bytes);
  ms_text_append(w->out, body.bytes, body.length);
  w->failed = w->failed || body.failed || scope->guards.failed;
  ms_text_free(&body);
  ms_text_free(&scope->guards);
  if (!guarded) return;
  ms_c_line(w, "} else {");
  w->line = loop->line;
  write_careful(w, loop, start, limit, step);
  ms_c_line(w, "}");
}

/* A loop whose ends have been evaluated. */
typedef struct ended_loop {
  const ms_node *loop;
  loop_end *start, *limit, *by;
  int64_t step;
  bool quick;
} ended_loop;

static void write_ended(ms_writer *w, const void *context) {
  const ended_loop *ended = context;
  if (ended->quick) {
    write_quick(w, ended->loop, ended->start, ended->limit, ended->step);
  } else {
    w->uncounted = true;
    write_number_loop(w, ended->loop, ended->start->number, ended->limit->number,
                      ended->by->number);
  }
}

void ms_c_loop(ms_writer *w, const ms_node *loop) {
  int64_t step = constant_step(w, loop);
  bool quick = w->scopes > 0 && w->scopes < MS_SCOPES && step != 0;
  loop_end start = {.node = loop->kid[0], .what = "initial value"};
  loop_end limit = {.node = loop->kid[1], .what = "limit"};
  loop_end by = {.node = loop->kid[2], .what = "step"};
  loop_end *const ends[] = {&start, &limit, &by};
  uint32_t count = quick || by.node == NULL ? 2 : 3;
  ms_c_line(w, "{");
  for (uint32_t e = 0; e < count; e++) {
    if (quick) {
      find_end(w, ends[e]);
    } else {
      evaluate_end(w, ends[e]);
    }
  }
  for (uint32_t e = 0; e < count; e++) check_end(w, ends[e]);
  ended_loop ended = {loop, &start, &limit, &by, step, quick};
  if (w->why->line == 0) ms_c_region(w, loop, write_ended, &ended);
  ms_c_line(w, "}");
}

/* The ends of a loop that guards of scopes that are open vouch for. */
static bool know_ends(ms_writer *w, const ms_node *loop, loop_end *start, loop_end *limit) {
  *start = (loop_end){.whole = ms_c_integer_value(w, loop->kid[0])};
  *limit = (loop_end){.whole = ms_c_integer_value(w, loop->kid[1])};
  return start->whole.known && start->whole.unsigned_zero && limit->whole.known;
}

const char *ms_c_loop_length(ms_writer *w, const ms_node *loop) {
  loop_end start, limit;
  if (constant_step(w, loop) != 1 || !know_ends(w, loop, &start, &limit)) return NULL;
  return ms_c_text(w, "%s - (%s) + 1", limit.whole.text, start.whole.text);
}

bool ms_c_loop_jammed(ms_writer *w, const ms_node *loop, const char *strips, uint32_t by,
                      ms_c_write *write, const void *context) {
  int64_t step = constant_step(w, loop);
  loop_end start, limit;
  if (step == 0 || !know_ends(w, loop, &start, &limit)) return false;
  const char *index = strips != NULL ? strips : ms_c_local_name(w, loop->symbols[0]);
  ms_c_line(w, "#pragma GCC unroll 1");
  ms_c_line(w, "for (%s%s = %s; %s + (%" PRId64 ") %s %s; %s) {", strips != NULL ? "" : "int64_t ",
            index, start.whole.text, index, ((int64_t)by - 1) * step,
            step > 0 ? "<=" : ">=", limit.whole.text, next_of(w, index, by * step));
  know_variable(w, loop, &start, &limit, step, index);
  declare_variable(w, loop, index, true);
  w->loops++;
  write(w, context);
  w->loops--;
  ms_c_line(w, "}");
  return true;
}
