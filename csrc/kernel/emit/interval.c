/* SPDX-License-Identifier: MIT
 *
 * Intervals: see interval.h. */
#include "kernel/emit/interval.h"

#include <math.h>
#include <string.h>

/* Beyond this doubles skip integers; also keeps the arithmetic below from overflowing. */
#define LIMIT ((int64_t)1 << 53)

/* Deep enough for subscripts that people write; locals used twice double the work a level. */
#define MAX_DEPTH 16

static const ms_interval unknown = {false, 0, 0};

static ms_interval span(int64_t lo, int64_t hi) {
  if (lo > hi || lo < -LIMIT || hi > LIMIT) return unknown;
  return (ms_interval){true, lo, hi};
}

static ms_interval point(double number) {
  if (!(fabs(number) <= (double)LIMIT) || floor(number) != number) return unknown;
  return span((int64_t)number, (int64_t)number);
}

static ms_interval product(ms_interval a, ms_interval b) {
  int64_t corner[4];
  if (__builtin_mul_overflow(a.lo, b.lo, &corner[0]) ||
      __builtin_mul_overflow(a.lo, b.hi, &corner[1]) ||
      __builtin_mul_overflow(a.hi, b.lo, &corner[2]) ||
      __builtin_mul_overflow(a.hi, b.hi, &corner[3])) {
    return unknown;
  }
  int64_t lo = corner[0], hi = corner[0];
  for (int c = 1; c < 4; c++) {
    if (corner[c] < lo) lo = corner[c];
    if (corner[c] > hi) hi = corner[c];
  }
  return span(lo, hi);
}

static ms_interval of(const ms_emitter *emitter, const ms_node *node, uint32_t depth);

static ms_interval of_binary(const ms_emitter *emitter, const ms_node *node, uint32_t depth) {
  ms_interval a = of(emitter, node->kid[0], depth), b = of(emitter, node->kid[1], depth);
  if (!a.known || !b.known) return unknown;
  switch (node->op) {
    case MS_OP_ADD:
      return span(a.lo + b.lo, a.hi + b.hi);
    case MS_OP_SUB:
      return span(a.lo - b.hi, a.hi - b.lo);
    case MS_OP_MUL:
      return product(a, b);
    case MS_OP_MOD: /* Lua's remainder has the sign of the divisor */
      return b.lo == b.hi && b.lo > 0 ? span(0, b.lo - 1) : unknown;
    default:
      return unknown;
  }
}

/* The variable of `for v = start, limit, step`, where the step's sign is known. */
static ms_interval of_loop(const ms_emitter *emitter, const ms_node *loop, uint32_t depth) {
  ms_interval start = of(emitter, loop->kid[0], depth), limit = of(emitter, loop->kid[1], depth);
  if (!start.known || !limit.known) return unknown;
  ms_interval step = span(1, 1);
  if (loop->kid[2] != NULL) step = of(emitter, loop->kid[2], depth);
  if (!step.known) return unknown;
  if (step.lo > 0) return span(start.lo, limit.hi);
  if (step.hi < 0) return span(limit.lo, start.hi);
  return unknown;
}

/* An index of the space; the range may run downwards. */
static ms_interval of_index(const ms_emitter *emitter, uint32_t dim) {
  const ms_range *range = &emitter->job->space->range[dim];
  if (emitter->job->general) return unknown;
  return range->step > 0 ? span(range->lo, range->hi) : span(range->hi, range->lo);
}

static ms_interval of_local(const ms_emitter *emitter, const ms_symbol *symbol, uint32_t depth) {
  for (uint32_t d = 0; d < emitter->dims && d < emitter->job->space->dim_count; d++) {
    if (emitter->indices[d] == symbol) return of_index(emitter, d);
  }
  const ms_node *from = symbol->declaration;
  if (from == NULL) return unknown;
  if (from->kind == MS_FOR_NUMERIC) return of_loop(emitter, from, depth);
  if (from->kind != MS_LOCAL) return unknown;
  for (uint32_t v = 0; v < from->symbol_count && v < from->kids; v++) {
    if (from->symbols[v] == symbol) return of(emitter, from->kid[v], depth);
  }
  return unknown;
}

static ms_interval of_name(const ms_emitter *emitter, const ms_node *node, uint32_t depth) {
  const ms_node *value;
  uint32_t at = ms_emitter_capture(emitter, node, &value);
  if (at != MS_NO_CAPTURE) {
    const ms_binding *binding = &emitter->job->bindings[at];
    bool constant = !emitter->job->general && value == node && emitter->parameter[at] &&
                    !emitter->job->loop->captures[at].assigned;
    return constant && binding->kind == MS_BIND_NUMBER ? point(binding->number) : unknown;
  }
  if (node->kind != MS_NAME || node->symbol == NULL || node->symbol->assigned) return unknown;
  return of_local(emitter, node->symbol, depth);
}

static ms_interval of(const ms_emitter *emitter, const ms_node *node, uint32_t depth) {
  if (depth >= MAX_DEPTH) return unknown;
  switch (node->kind) {
    case MS_NUMBER:
      return node->boxed ? unknown : point(node->number);
    case MS_NAME:
    case MS_INDEX:
      return of_name(emitter, node, depth + 1);
    case MS_PAREN:
      return of(emitter, node->kid[0], depth + 1);
    case MS_BINARY:
      return of_binary(emitter, node, depth + 1);
    case MS_UNARY: {
      ms_interval a = of(emitter, node->kid[0], depth + 1);
      return a.known && node->op == MS_OP_NEG ? span(-a.hi, -a.lo) : unknown;
    }
    default:
      return unknown;
  }
}

ms_interval ms_interval_of(const ms_emitter *emitter, const ms_node *node) {
  return of(emitter, node, 0);
}
