/* SPDX-License-Identifier: MIT
 *
 * Writing C: numeric loops. See c_loop.h.
 *
 * A loop is quick if its ends are integers under guards; then its variable is one too, and what its
 * body needs is guarded where the loop begins, or further out. Where guards had to be put at the
 * loop itself, the careful loop stands beside it. */
#include "kernel/native/c_loop.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_statement.h"
#include "kernel/native/c_sum.h"
#include "kernel/native/c_value.h"

/* One end of a loop, or its step. */
typedef struct ms_end {
  const ms_node *node;
  const char *what; /* for messages */
  ms_integer_value whole;
  ms_c_value value;   /* evaluated, where it is not a whole number in an outer frame */
  const char *number; /* its double text, evaluated once; NULL: `whole` */
} ms_end;

static void evaluate_end(ms_writer *w, ms_end *end) {
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
  ms_c_line(w, "const %s %s = %s;", ms_c_type(end->value.form), held, end->value.text);
  end->value.text = held;
}

/* Called for all ends of a loop in the order in which Lua looks at them, once they are evaluated.
 */
static void check_end(ms_writer *w, ms_end *end) {
  if (end->whole.known || w->why->line != 0) return;
  const char *words = ms_c_text(w, "'for' %s must be a number", end->what);
  end->number = ms_c_as_number(w, end->value, end->node, (ms_complaint){words, words});
  if (end->value.form == MS_FORM_DOUBLE) return;
  const char *held = ms_c_temp(w);
  ms_c_line(w, "const double %s = %s;", held, end->number);
  end->number = held;
}

/* An end as an integer; otherwise as a number that the loop's own frame may guard. The first value,
 * which the variable takes as it is, is none if it is -0. */
static void find_end(ms_writer *w, ms_end *end) {
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

static void guard_end(ms_writer *w, ms_end *end, bool start) {
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
  ms_c_guard(w, w->frames - 1, ms_c_text(w, test, text, text, text));
}

/* The step of a loop if it is a constant; 0 otherwise. */
static int64_t constant_step(ms_writer *w, const ms_node *loop) {
  if (loop->kid[2] == NULL) return 1;
  ms_integer_value step = ms_c_integer_value_static(w, loop->kid[2]);
  bool small = step.known && step.least == step.most && step.most < INT32_MAX;
  return small && step.least > INT32_MIN ? step.least : 0;
}

typedef struct ms_row_search {
  ms_writer *w;
  const ms_symbol *symbol;
  int64_t extent; /* 0: none found */
  bool loops;
} ms_row_search;

static bool visit_row(ms_node *node, void *context) {
  ms_row_search *search = context;
  search->loops = search->loops || node->kind == MS_FOR_NUMERIC || node->kind == MS_WHILE ||
                  node->kind == MS_REPEAT;
  if (node->kind != MS_INDEX || search->extent != 0) return true;
  const ms_node *key = node->kid[1];
  ms_kind_of base = ms_typed_expression(search->w->typed, node->kid[0]);
  if (key->kind == MS_NAME && key->symbol == search->symbol && base.object == MS_OBJECT_VIEW)
    search->extent = search->w->emitter->job->bindings[base.array].dims[base.given];
  return true;
}

/* A loop `for k = 1, K` over rows: K is likely to be the rows' length. Returns the number of
 * iterations of an innermost loop if it is known or will be tried as a constant, else 0. */
static int64_t note_constant(ms_writer *w, const ms_node *loop, const ms_end *limit) {
  ms_row_search search = {.w = w, .symbol = loop->symbols[0]};
  ms_node_walk(loop->kid[3], visit_row, &search);
  const ms_node *value, *first = loop->kid[0], *last = loop->kid[1];
  if (first->kind != MS_NUMBER || first->number != 1) return 0;
  if (limit->whole.least == limit->whole.most) return search.loops ? 0 : limit->whole.most;
  if (limit->whole.likely > 0) return search.loops ? 0 : limit->whole.likely;
  uint32_t at = ms_typed_binding(w->typed, last, &value);
  if (search.extent == 0 || at == MS_NO_CAPTURE || value != last || ms_variable_is(w->emitter, at))
    return 0;
  for (uint32_t c = 0; c < w->constants; c++) {
    if (w->constant[c].capture == at) return search.loops ? 0 : w->constant[c].value;
  }
  if (w->constants >= MS_CONSTANTS) return 0;
  w->constant[w->constants++] = (ms_constant){at, search.extent};
  return search.loops ? 0 : search.extent;
}

static uint32_t uses(const ms_node *node, const ms_symbol *symbol) {
  uint32_t count = node->kind == MS_NAME && node->symbol == symbol ? 1 : 0;
  for (uint32_t k = 0; k < node->kids; k++) {
    if (node->kid[k] != NULL) count += uses(node->kid[k], symbol);
  }
  return count;
}

typedef struct ms_scan_search {
  const ms_node *loop;
  bool found;
} ms_scan_search;

static bool visit_scan(ms_node *node, void *context) {
  ms_scan_search *search = context;
  if (node->kind != MS_ASSIGN || node->targets != 1 || node->kid[0]->kind != MS_NAME) return true;
  const ms_symbol *symbol = node->kid[0]->symbol;
  if (symbol == NULL || symbol->declaration == NULL) return true;
  bool carried = symbol->declaration->begin < search->loop->begin;
  if (carried && uses(search->loop->kid[3], symbol) > uses(node, symbol)) search->found = true;
  return !search->found;
}

/* Whether a loop uses what it sums up before it ends, so that no vectors can be made of it. */
static bool is_scan(const ms_node *loop) {
  ms_scan_search search = {.loop = loop};
  ms_node_walk(loop->kid[3], visit_scan, &search);
  return search.found;
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

static void write_whole_loop(ms_writer *w, const ms_node *loop, const ms_end *start,
                             const ms_end *limit, int64_t step) {
  const ms_symbol *symbol = loop->symbols[0];
  const char *index = ms_c_local_name(w, symbol), *first = start->whole.text;
  const char *last = limit->whole.text;
  if (symbol->assigned) index = ms_c_temp(w);
  int64_t trip = step == 1 ? note_constant(w, loop, limit) : 0;
  ms_c_sums sums;
  ms_c_sums_find(w, loop->kid[3], &sums);
  if (sums.count > 0) open_pieces(w, step, &first, &last);
  ms_c_sums_begin(w, &sums);
  if (w->loops == 0 && trip > 0 && trip <= MS_UNROLLED_TOO_EARLY && !is_scan(loop))
    ms_c_line(w, "#pragma GCC unroll 1");
  const char *next =
      step == 1 ? ms_c_text(w, "%s++", index) : ms_c_text(w, "%s += %" PRId64, index, step);
  ms_c_line(w, "for (int64_t %s = %s; %s %s %s; %s) {", index, first, index,
            step > 0 ? "<=" : ">=", last, next);
  ms_c_local *local = ms_c_local_of(w, symbol);
  *local = (ms_c_local){.frames = w->frames, .loop = loop, .down = step < 0};
  local->start = start->number;
  local->limit = limit->number;
  local->least = step > 0 ? start->whole.least : limit->whole.least;
  local->most = step > 0 ? limit->whole.most : start->whole.most;
  if (!symbol->assigned) local->whole = index;
  declare_variable(w, loop, index, true);
  w->loops++;
  ms_c_block(w, loop->kid[3]);
  w->loops--;
  ms_c_line(w, "}");
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
  *ms_c_local_of(w, symbol) = (ms_c_local){.frames = w->frames};
  declare_variable(w, loop, index, false);
  ms_c_block(w, loop->kid[3]);
  ms_c_line(w, "}");
}

static const char *end_number(ms_writer *w, const ms_end *end) {
  return end->number != NULL ? end->number : ms_c_text(w, "(double)%s", end->whole.text);
}

/* Whether the end of a loop is a number that one can count to. */
static bool is_near(const ms_end *end) {
  const int64_t far = (int64_t)1 << 33;
  const ms_integer_value *whole = end->number == NULL ? &end->whole : end->value.whole;
  return whole != NULL && whole->known && whole->least >= -far && whole->most <= far;
}

/* The careful loop: no frames, so that nothing is guarded. */
static void write_careful(ms_writer *w, const ms_node *loop, const ms_end *start,
                          const ms_end *limit, int64_t step) {
  uint32_t frames = w->frames;
  w->frames = 0;
  w->careful++;
  const char *by = step == 1 ? NULL : ms_c_number(w, (double)step);
  w->uncounted = w->uncounted || !is_near(start) || !is_near(limit);
  write_number_loop(w, loop, end_number(w, start), end_number(w, limit), by);
  w->careful--;
  w->frames = frames;
}

/* The quick loop in a frame of its own. */
static void write_quick(ms_writer *w, const ms_node *loop, ms_end *start, ms_end *limit,
                        int64_t step) {
  ms_text body = {0}, *out = w->out;
  ms_guard_frame *frame = &w->frame[w->frames++];
  *frame = (ms_guard_frame){0};
  guard_end(w, start, true);
  guard_end(w, limit, false);
  w->out = &body;
  w->line = loop->line;
  w->indent++;
  write_whole_loop(w, loop, start, limit, step);
  w->indent--;
  w->out = out;
  w->frames--;
  bool guarded = frame->guards.length > 0;
  if (guarded) ms_c_line(w, "if (%s) {", frame->guards.bytes);
  ms_text_append(w->out, body.bytes, body.length);
  w->failed = w->failed || body.failed || frame->guards.failed;
  ms_text_free(&body);
  ms_text_free(&frame->guards);
  if (!guarded) return;
  ms_c_line(w, "} else {");
  w->line = loop->line;
  write_careful(w, loop, start, limit, step);
  ms_c_line(w, "}");
}

/* A loop whose ends have been evaluated. */
typedef struct ms_ended {
  const ms_node *loop;
  ms_end *start, *limit, *by;
  int64_t step;
  bool quick;
} ms_ended;

static void write_ended(ms_writer *w, const void *context) {
  const ms_ended *ended = context;
  if (ended->quick) {
    write_quick(w, ended->loop, ended->start, ended->limit, ended->step);
  } else {
    w->uncounted = true;
    write_number_loop(w, ended->loop, ended->start->number, ended->limit->number,
                      ended->by->number);
  }
}

void ms_c_for(ms_writer *w, const ms_node *loop) {
  int64_t step = constant_step(w, loop);
  bool quick = w->frames > 0 && w->frames < MS_FRAMES && step != 0;
  ms_end start = {.node = loop->kid[0], .what = "initial value"};
  ms_end limit = {.node = loop->kid[1], .what = "limit"};
  ms_end by = {.node = loop->kid[2], .what = "step"};
  ms_end *const ends[] = {&start, &limit, &by};
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
  ms_ended ended = {loop, &start, &limit, &by, step, quick};
  if (w->why->line == 0) ms_c_region(w, loop, write_ended, &ended);
  ms_c_line(w, "}");
}
