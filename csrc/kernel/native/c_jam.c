/* SPDX-License-Identifier: MIT
 *
 * Writing C in strict mode: unroll-and-jam. See c_jam.h. */
#include "kernel/native/c_jam.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/c_fours.h"
#include "kernel/native/c_loop.h"
#include "kernel/native/c_statement.h"
#include "kernel/native/c_survey.h"
#include "kernel/native/c_trip.h"

/* Most variables of a text that copies are kept of. */
#define MOST_SYMBOLS 1000

typedef struct loop_nest {
  ms_writer *w;
  const ms_node *block, *inner; /* of the outer loop; the inner loop in it */
  const ms_symbol *index;       /* of the outer loop */
  uint32_t sums;
  bool fits;
} loop_nest;

static bool is_declared_in(const ms_symbol *symbol, const ms_node *block) {
  return symbol->declaration != NULL && ms_node_is_inside(symbol->declaration, block);
}

/* ---- what may be taken ahead ---- */

/* A name that is read: nothing in the outer loop may change it but what is taken ahead. */
static bool is_steady(const loop_nest *nest, const ms_node *node) {
  const ms_node *value;
  uint32_t at = ms_typed_binding(nest->w->typed, node, &value);
  if (at != MS_NO_CAPTURE) return !ms_variable_is(nest->w->emitter, at);
  const ms_symbol *symbol = node->symbol;
  if (symbol == NULL) return false;
  if (!symbol->assigned) return true;
  return !symbol->upvalue &&
         (is_declared_in(symbol, nest->block) || !ms_c_survey_assigns(nest->block, symbol, NULL));
}

/* What an element is read of: the tail must not write it. */
static bool is_readable(const loop_nest *nest, const ms_node *node) {
  ms_kind_of base = ms_typed_expression(nest->w->typed, node->kid[0]);
  if (base.object == MS_OBJECT_OUTER) return true;
  if (base.object != MS_OBJECT_VIEW) return false;
  uint32_t dims = nest->w->emitter->job->bindings[base.array].dim_count;
  bool vectors = nest->index != NULL && base.given + 1 == dims &&
                 ms_node_is_inside(node, nest->inner) &&
                 ms_c_trip_uses(node->kid[1], nest->index) > 0;
  return !vectors && !ms_c_survey_writes(nest->w, nest->block, base.array);
}

static bool is_pure_call(const loop_nest *nest, const ms_node *node) {
  ms_kind_of called = ms_typed_expression(nest->w->typed, node->kid[0]);
  if (called.object != MS_OBJECT_BUILTIN) return false;
  const ms_library *entry = ms_library_find(called.name, node->kids - 1);
  return entry != NULL && entry->shape < MS_LIBRARY_RANDOM;
}

/* An assignment in the inner loop: of numbers to locals of the outer loop's block. */
static bool is_sum(loop_nest *nest, const ms_node *node) {
  for (uint32_t t = 0; t < node->targets; t++) {
    const ms_symbol *symbol = node->kid[t]->kind == MS_NAME ? node->kid[t]->symbol : NULL;
    if (symbol == NULL || symbol->upvalue || !is_declared_in(symbol, nest->block)) return false;
    if (ms_typed_symbol(nest->w->typed, symbol)->can != MS_CAN_NUMBER) return false;
    nest->sums += !is_declared_in(symbol, nest->inner);
  }
  return ms_node_is_inside(node, nest->inner);
}

static bool visit_ahead(ms_node *node, void *context) {
  loop_nest *nest = context;
  switch (node->kind) {
    case MS_NAME:
      nest->fits = nest->fits && is_steady(nest, node);
      return false;
    case MS_INDEX: {
      const ms_node *value;
      if (ms_typed_binding(nest->w->typed, node, &value) != MS_NO_CAPTURE) {
        nest->fits = nest->fits && value == node && is_steady(nest, node);
        return false;
      }
      nest->fits = nest->fits && is_readable(nest, node);
      return nest->fits;
    }
    case MS_CALL:
      nest->fits = nest->fits && is_pure_call(nest, node);
      for (uint32_t k = 1; k < node->kids && nest->fits; k++)
        ms_node_walk(node->kid[k], visit_ahead, nest);
      return false;
    case MS_ASSIGN:
      nest->fits = nest->fits && is_sum(nest, node);
      return nest->fits;
    case MS_FOR_NUMERIC:
      nest->fits = nest->fits && node == nest->inner;
      return nest->fits;
    case MS_NUMBER:
    case MS_BINARY:
    case MS_UNARY:
    case MS_PAREN:
    case MS_LOCAL:
    case MS_BLOCK:
      return nest->fits;
    default:
      nest->fits = false;
      return false;
  }
}

/* Whether the inner loop's ends are the same in all iterations of the outer one. */
static bool visit_end(ms_node *node, void *context) {
  loop_nest *nest = context;
  if (node->kind == MS_NAME && node->symbol != NULL) {
    const ms_node *from = node->symbol->declaration;
    const ms_node *outer = nest->block->parent;
    bool own = node->symbol->assigned ||
               (from != NULL && (from == outer || ms_node_is_inside(from, outer)));
    for (uint32_t d = 0; d < nest->w->emitter->dims; d++)
      own = own || nest->w->emitter->indices[d] == node->symbol;
    nest->fits = nest->fits && !own;
  }
  return nest->fits;
}

static bool visit_leaving(ms_node *node, void *context) {
  bool *leaves = context;
  *leaves = *leaves || node->kind == MS_BREAK || node->kind == MS_GOTO || node->kind == MS_RETURN ||
            node->kind == MS_LABEL || node->kind == MS_FUNCTION;
  return !*leaves;
}

/* Finds the inner loop of an outer loop that can be jammed; how many statements stand before it. */
static bool find_nest(loop_nest *nest, uint32_t *before) {
  const ms_node *block = nest->block;
  bool leaves = false;
  for (*before = 0; *before < block->kids && block->kid[*before]->kind == MS_LOCAL; ++*before) {
  }
  if (*before == block->kids || block->kid[*before]->kind != MS_FOR_NUMERIC) return false;
  nest->inner = block->kid[*before];
  ms_node_walk((ms_node *)(uintptr_t)block, visit_leaving, &leaves);
  if (leaves || nest->inner->symbols[0]->assigned) return false;
  nest->fits = true;
  for (uint32_t k = 0; k <= *before && nest->fits; k++)
    ms_node_walk(block->kid[k], visit_ahead, nest);
  for (uint32_t k = 0; k < 3 && nest->fits; k++) {
    if (nest->inner->kid[k] != NULL) ms_node_walk(nest->inner->kid[k], visit_end, nest);
  }
  return nest->fits && nest->sums > 0 && nest->sums <= MS_C_FOURS_SUMS;
}

/* ---- the text ---- */

typedef struct loop_copies {
  ms_c_local *locals; /* those of the text, as the writer knows them */
  size_t size;
  ms_c_local *of[MS_C_FOURS_COPIES];
  const loop_nest *nest;
  uint32_t before;
  uint32_t count; /* of copies that are written */
  ms_c_fours fours;
} loop_copies;

static bool find_copies(ms_writer *w, const loop_nest *nest, loop_copies *copies) {
  const ms_outside *code = ms_typed_outside(w->typed, nest->block);
  uint32_t symbols =
      code != NULL ? code->loop->tree->symbols : w->emitter->job->loop->tree->symbols;
  copies->locals = code != NULL ? code->local : w->local;
  copies->size = symbols * sizeof(ms_c_local);
  if (symbols > MOST_SYMBOLS) return false;
  for (uint32_t c = 0; c < MS_C_FOURS_COPIES; c++) {
    copies->of[c] = ms_arena_take(w->arena, symbols + 1, sizeof(ms_c_local));
    if (copies->of[c] == NULL) {
      w->failed = true;
      return false;
    }
    memcpy(copies->of[c], copies->locals, copies->size);
  }
  return true;
}

static void enter(ms_writer *w, const loop_copies *copies, uint32_t copy) {
  memcpy(copies->locals, copies->of[copy], copies->size);
  w->copy = copy;
}

static void leave(ms_writer *w, const loop_copies *copies) {
  memcpy(copies->of[w->copy], copies->locals, copies->size);
  w->copy = 0;
}

const char *ms_c_jam_distance(ms_writer *w, int64_t step) {
  if (w->copies_left == NULL) return ms_c_text(w, "%" PRId64, w->copy * step);
  return ms_c_text(w, "(%u < %s ? %u : %s - 1) * %" PRId64, w->copy, w->copies_left, w->copy,
                   w->copies_left, step);
}

static void write_beginnings(ms_writer *w, const ms_c_outer *outer, loop_copies *copies,
                             uint32_t count) {
  const ms_node *block = outer->block;
  copies->count = count;
  for (uint32_t c = 0; c < count; c++) {
    enter(w, copies, c);
    outer->declare(w, outer->context);
    for (uint32_t k = 0; k < copies->before; k++) ms_c_statement(w, block->kid[k]);
    leave(w, copies);
  }
}

/* ---- copies beside each other ---- */

/* The inner loop's statements, of each copy. */
static void write_inner(ms_writer *w, const void *context) {
  const loop_copies *copies = context;
  const ms_symbol *symbol = copies->nest->inner->symbols[0];
  const ms_c_local index = *ms_c_local_of(w, symbol);
  for (uint32_t c = 0; c < copies->count; c++) {
    enter(w, copies, c);
    *ms_c_local_of(w, symbol) = index;
    ms_c_line(w, "{");
    ms_c_statements(w, copies->nest->inner->kid[3]);
    ms_c_line(w, "}");
    leave(w, copies);
  }
}

static const char *next_of(ms_writer *w, const ms_c_outer *outer) {
  return ms_c_text(w, "%s += %" PRId64, outer->name, outer->step);
}

static void write_tails(ms_writer *w, const ms_c_outer *outer, const loop_copies *copies) {
  const ms_node *block = outer->block;
  for (uint32_t c = 0; c < copies->count; c++) {
    enter(w, copies, c);
    ms_c_line(w, "{");
    if (outer->begin != NULL) outer->begin(w, outer->context);
    for (uint32_t k = copies->before + 1; k < block->kids; k++) ms_c_statement(w, block->kid[k]);
    if (outer->end != NULL) outer->end(w, outer->context);
    ms_c_line(w, "}");
    if (c + 1 < copies->count) ms_c_line(w, "%s;", next_of(w, outer));
    leave(w, copies);
  }
}

/* False: what is taken ahead of earlier iterations' tails may stop. */
static bool write_copies(ms_writer *w, const ms_c_outer *outer, loop_copies *copies) {
  bool stopped = w->stops;
  ms_c_line(w, "for (; %s + (%" PRId64 ") %s %s; %s) {", outer->name,
            (MS_C_COPIES - 1) * outer->step, outer->step > 0 ? "<=" : ">=", outer->last,
            next_of(w, outer));
  w->stops = false;
  write_beginnings(w, outer, copies, MS_C_COPIES);
  if (!ms_c_loop_jammed(w, copies->nest->inner, NULL, 1, write_inner, copies)) w->stops = true;
  bool ahead = !w->stops;
  w->stops = stopped;
  if (ahead) write_tails(w, outer, copies);
  ms_c_line(w, "}");
  return ahead;
}

/* ---- sums in vectors ---- */

static void write_strip(ms_writer *w, const void *context) {
  loop_copies *copies = (loop_copies *)(uintptr_t)context;
  const ms_symbol *symbol = copies->nest->inner->symbols[0];
  const ms_c_local index = *ms_c_local_of(w, symbol);
  for (uint32_t c = 0; c < copies->count; c++) {
    enter(w, copies, c);
    *ms_c_local_of(w, symbol) = index;
    ms_c_fours_strip(w, &copies->fours, copies->fours.rest);
    leave(w, copies);
  }
}

static bool write_strips(ms_writer *w, const ms_c_outer *outer, loop_copies *copies,
                         uint32_t count) {
  bool fits = true;
  write_beginnings(w, outer, copies, count);
  for (uint32_t c = 0; c < count && fits; c++) {
    enter(w, copies, c);
    fits = ms_c_fours_begin(w, &copies->fours);
    leave(w, copies);
  }
  fits = fits && ms_c_loop_jammed(w, copies->nest->inner, copies->fours.rest, copies->fours.strip,
                                  write_strip, copies);
  ms_c_fours_keep(w, &copies->fours, count);
  return fits;
}

/* Groups of iterations, as long as there are two. */
static bool write_groups(ms_writer *w, const ms_c_outer *outer, loop_copies *copies) {
  ms_c_fours *fours = &copies->fours;
  const char *left = ms_c_temp(w);
  ms_c_line(w, "#ifdef __AVX__");
  ms_c_line(w, "for (int64_t %s; %s >= %u && (%s = (%s - %s) / %" PRId64 " + 1) > 1;) {", left,
            fours->length, fours->strip, left, outer->last, outer->name, outer->step);
  ms_c_line(w, "int64_t %s;", fours->rest);
  for (uint32_t s = 0; s < fours->sums; s++)
    ms_c_line(w, "double %s[%d];", fours->sum[s].kept, MS_C_FOURS_COPIES);
  w->copies_left = left;
  ms_c_line(w, "if (%s > %d) {", left, MS_C_FOURS_COPIES / 2);
  bool fits = write_strips(w, outer, copies, MS_C_FOURS_COPIES);
  ms_c_line(w, "} else {");
  fits = fits && write_strips(w, outer, copies, MS_C_FOURS_COPIES / 2);
  ms_c_line(w, "}");
  w->copies_left = NULL;
  const ms_c_fours *around = w->fours;
  w->fours = fours;
  ms_c_line(w, "for (int64_t %s = 0; %s < %d && %s < %s; %s++, %s) {", fours->copy, fours->copy,
            MS_C_FOURS_COPIES, fours->copy, left, fours->copy, next_of(w, outer));
  if (fits) outer->iteration(w, outer->context);
  ms_c_line(w, "}");
  ms_c_line(w, "}");
  ms_c_line(w, "#endif");
  w->fours = around;
  return fits;
}

/* ---- both ---- */

/* Appends what `write` does, if that succeeds. */
static bool try(ms_writer *w, const ms_c_outer *outer, loop_copies *copies,
                bool (*write)(ms_writer *w, const ms_c_outer *outer, loop_copies *copies)) {
  ms_text text = {0}, *out = w->out;
  w->out = &text;
  bool done = write(w, outer, copies);
  w->out = out;
  if (done) ms_text_append(w->out, text.bytes, text.length);
  w->failed = w->failed || text.failed;
  ms_text_free(&text);
  w->line = 0;
  return done;
}

static bool write_both(ms_writer *w, const ms_c_outer *outer, loop_copies *copies) {
  if (outer->first != NULL) ms_c_line(w, "int64_t %s = %s;", outer->name, outer->first);
  if (ms_c_fours_find(w, copies->nest->inner, &copies->fours)) try(w, outer, copies, write_groups);
  return write_copies(w, outer, copies);
}

bool ms_c_jam(ms_writer *w, const ms_c_outer *outer) {
  loop_nest nest = {.w = w, .block = outer->block, .index = outer->index};
  loop_copies copies = {.nest = &nest};
  if (w->fast || w->careful > 0 || w->scopes == 0 || w->copy > 0) return false;
  if (!find_nest(&nest, &copies.before) || !find_copies(w, &nest, &copies)) return false;
  return try(w, outer, &copies, write_both);
}
