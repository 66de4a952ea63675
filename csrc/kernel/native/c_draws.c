/* SPDX-License-Identifier: MIT
 *
 * Writing C: random numbers. See c_draws.h. */
#include "kernel/native/c_draws.h"

#include <inttypes.h>

/* Deepest chain of functions that is followed. */
#define DEEPEST 16

/* The draws of a text, in whatever order. */
typedef struct draw_search {
  const ms_typed *typed;
  uint32_t count, depth;
  bool perhaps; /* what is looked at may be left out, or be repeated */
  bool fixed;   /* no draw may be */
} draw_search;

static void look(draw_search *drawn, const ms_node *node);

static void look_perhaps(draw_search *drawn, const ms_node *node) {
  bool before = drawn->perhaps;
  drawn->perhaps = true;
  look(drawn, node);
  drawn->perhaps = before;
}

/* Which of a node's children are always evaluated once: those up to here. */
static uint32_t sure_kids(const ms_node *node) {
  switch (node->kind) {
    case MS_IF:
      return 1;
    case MS_BINARY:
      return node->op == MS_OP_AND || node->op == MS_OP_OR ? 1 : 2;
    case MS_WHILE:
    case MS_REPEAT:
      return 0;
    case MS_FOR_NUMERIC:
      return 3;
    case MS_FOR_GENERIC:
      return node->kids - 1;
    default:
      return node->kids;
  }
}

static bool is_last(const ms_node *statement) {
  const ms_node *block = statement->parent;
  return block->kid[block->kids - 1] == statement &&
         (block->parent == NULL || block->parent->kind == MS_FUNCTION);
}

/* Whether a node calls what gives random numbers. */
static bool is_draw(const ms_typed *typed, const ms_node *node) {
  if (node->kind != MS_CALL) return false;
  ms_kind_of called = ms_typed_expression(typed, node->kid[0]);
  if (called.object != MS_OBJECT_BUILTIN) return false;
  const ms_library *entry = ms_library_find(called.name, node->kids - 1);
  return entry != NULL && entry->shape >= MS_LIBRARY_RANDOM;
}

static bool visit_draw(ms_node *node, void *context) {
  draw_search *drawn = context;
  drawn->count += is_draw(drawn->typed, node);
  return drawn->count == 0;
}

bool ms_c_draws_any(const ms_writer *w) {
  draw_search drawn = {.typed = w->typed};
  ms_node_walk(w->emitter->body, visit_draw, &drawn);
  for (const ms_callee *each = w->typed->callees; each != NULL; each = each->next)
    ms_node_walk(each->node->function->body, visit_draw, &drawn);
  return drawn.count > 0;
}

static void look_at_call(draw_search *drawn, const ms_node *call) {
  const ms_node *function = ms_typed_called(drawn->typed, call);
  if (function != NULL && ms_typed_cycle(drawn->typed, function) == 0) {
    drawn->fixed = drawn->fixed && ++drawn->depth <= DEEPEST;
    if (drawn->fixed) look(drawn, function->function->body);
    drawn->depth--;
  }
  if (function != NULL || !is_draw(drawn->typed, call)) return;
  drawn->count++;
  drawn->fixed = drawn->fixed && !drawn->perhaps;
}

static void look(draw_search *drawn, const ms_node *node) {
  if (node->kind == MS_FUNCTION) return; /* where it is called */
  if (node->kind == MS_GOTO || node->kind == MS_LABEL) drawn->fixed = false;
  if (node->kind == MS_RETURN) drawn->fixed = drawn->fixed && is_last(node);
  uint32_t sure = sure_kids(node);
  for (uint32_t k = 0; k < node->kids && drawn->fixed; k++) {
    if (node->kid[k] == NULL) continue;
    if (k < sure) {
      look(drawn, node->kid[k]);
    } else {
      look_perhaps(drawn, node->kid[k]);
    }
  }
  if (node->kind == MS_CALL || node->kind == MS_METHOD) look_at_call(drawn, node);
}

/* Whether the body draws as often in each iteration. */
static bool is_fixed(const ms_writer *w) {
  draw_search drawn = {.typed = w->typed, .fixed = true};
  look(&drawn, w->emitter->body);
  return drawn.fixed && drawn.count <= MS_C_DRAWS;
}

void ms_c_draws_declare(ms_writer *w, uint32_t dims, bool again) {
  w->draws = 0;
  w->batches = !again && is_fixed(w);
  ms_c_line(w, "enum { ms_dims = %" PRIu32 " };", dims);
  if (w->batches) {
    ms_c_line(w, "ms_batch batch = ms_batch_new(ms_place);");
  } else {
    ms_c_line(w, "ms_ahead ahead;");
    ms_c_line(w, "ms_drawing drawing = ms_ahead_new(&ahead, ms_place, ms_dims);");
  }
}

void ms_c_draws_begin(ms_writer *w, const char *index) {
  if (w->batches) return;
  ms_c_line(w, "ms_ahead_begin(&ahead, &drawing, ms_dims, (const double[]){%s});", index);
}

/* The loop over batches, what is drawn for one, and the loop over its iterations. */
static uint32_t open_batches(ms_writer *w, const ms_c_innermost *loop) {
  const char *name = loop->name;
  int64_t step = loop->step;
  ms_c_line(w, "ms_batch_begin(&batch, ms_dims, (const double[]){%s}, %" PRId64 ");", loop->index,
            step);
  for (uint32_t d = 0; d < w->draws; d++)
    ms_c_line(w, "%s ms_draw%" PRIu32 "[MS_BATCH];", w->draws_unit[d] ? "double" : "uint64_t", d);
  ms_c_line(w, "while (%s %s %s) {", name, step > 0 ? "<=" : ">=", loop->end);
  ms_c_line(w, "const int64_t ms_many = ms_whole_least((%s - %s) / (%" PRId64 ") + 1, MS_BATCH);",
            loop->end, name, step);
  for (uint32_t d = 0; d < w->draws; d++)
    ms_c_line(w, "ms_batch_draw(&batch, %" PRIu32 ", ms_many, %d, ms_draw%" PRIu32 ");", d,
              w->draws_unit[d], d);
  ms_c_line(w, "ms_batch_advance(&batch, ms_many);");
  ms_c_line(w, "for (int64_t ms_at = 0; ms_at < ms_many; ms_at++, %s += %" PRId64 ") {", name,
            step);
  return 2;
}

uint32_t ms_c_draws_open(ms_writer *w, const ms_c_innermost *loop) {
  if (w->batches) return open_batches(w, loop);
  ms_c_line(w, "for (; %s %s %s; %s += %" PRId64 ") {", loop->name,
            loop->step > 0 ? "<=" : ">=", loop->end, loop->name, loop->step);
  return 1;
}

const char *ms_c_draw(ms_writer *w, bool unit) {
  static const char bits[] = "ms_ahead_next(&ahead, &drawing, ms_dims)";
  if (!w->batches) return unit ? ms_c_text(w, "ms_draw_unit(%s)", bits) : bits;
  if (w->draws == MS_C_DRAWS) { /* more than were counted */
    w->failed = true;
    return "0";
  }
  w->draws_unit[w->draws] = unit;
  return ms_c_text(w, "ms_draw%" PRIu32 "[ms_at]", w->draws++);
}
