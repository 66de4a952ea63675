/* SPDX-License-Identifier: MIT
 *
 * Writing C in strict mode: sums in vectors. See c_fours.h. */
#include "kernel/native/c_fours.h"

#include "kernel/native/c_expression.h"
#include "kernel/native/c_loop.h"
#include "kernel/native/c_statement.h"
#include "kernel/native/c_trip.h"
#include "kernel/native/c_value.h"

/* ---- which loops ---- */

/* Whether a subscript goes on by one with the loop's variable. */
static bool goes_on(const ms_node *key, const ms_symbol *index) {
  if (key->kind == MS_NAME) return key->symbol == index;
  if (key->kind != MS_BINARY || (key->op != MS_OP_ADD && key->op != MS_OP_SUB)) return false;
  uint32_t before = ms_c_trip_uses(key->kid[0], index), after = ms_c_trip_uses(key->kid[1], index);
  if (before == 0) return key->op == MS_OP_ADD && goes_on(key->kid[1], index);
  return after == 0 && goes_on(key->kid[0], index);
}

/* Whether elements are one, or lie side by side, in all iterations. */
static bool is_row_element(const ms_writer *w, const ms_node *node, ms_c_fours *fours) {
  const ms_symbol *index = fours->inner->symbols[0];
  ms_kind_of base = ms_typed_expression(w->typed, node->kid[0]);
  if (base.object != MS_OBJECT_VIEW || ms_c_trip_uses(node->kid[0], index) > 0) return false;
  const ms_kernel_job *job = w->emitter->job;
  const ms_binding *binding = &job->bindings[base.array];
  const ms_element *elements = &job->elements[base.array];
  if (binding->sparse || base.given + 1 != binding->dim_count || elements->type == MS_INT64)
    return false;
  bool still = ms_c_trip_uses(node->kid[1], index) == 0;
  if (!still && elements->type != MS_DOUBLE) fours->strip = MS_C_NARROW_STRIP;
  return still || (elements->strides[base.given] == 1 && goes_on(node->kid[1], index));
}

/* Whether vectors can be made of an expression. */
static bool is_vector(const ms_writer *w, const ms_node *node, ms_c_fours *fours) {
  const ms_node *value;
  switch (node->kind) {
    case MS_NUMBER:
      return !node->boxed;
    case MS_NAME:
      return node->symbol != fours->inner->symbols[0] &&
             ms_typed_expression(w->typed, node).can == MS_CAN_NUMBER;
    case MS_INDEX:
      if (ms_typed_binding(w->typed, node, &value) != MS_NO_CAPTURE)
        return ms_typed_expression(w->typed, node).can == MS_CAN_NUMBER;
      return is_row_element(w, node, fours);
    case MS_BINARY:
      return node->op <= MS_OP_DIV && is_vector(w, node->kid[0], fours) &&
             is_vector(w, node->kid[1], fours);
    case MS_UNARY:
      return node->op == MS_OP_NEG && is_vector(w, node->kid[0], fours);
    case MS_PAREN:
      return is_vector(w, node->kid[0], fours);
    default:
      return false;
  }
}

static bool is_named(const ms_node *node, const ms_symbol *symbol) {
  return node->kind == MS_NAME && node->symbol == symbol;
}

/* Finds the sum of `s = s + term`, which nothing else in the loop names. */
static bool find_sum(ms_writer *w, const ms_node *assign, ms_c_fours *fours) {
  const ms_node *target = assign->kid[0], *value = assign->kid[1];
  if (assign->kind != MS_ASSIGN || assign->targets != 1 || assign->kids != 2 ||
      fours->sums == MS_C_FOURS_SUMS || value->kind != MS_BINARY || value->op > MS_OP_SUB)
    return false;
  const ms_symbol *symbol = target->symbol;
  bool minus = value->op == MS_OP_SUB, first = is_named(value->kid[0], symbol);
  const ms_node *term = value->kid[first ? 1 : 0];
  if (!first && (minus || !is_named(value->kid[1], symbol))) return false;
  fours->sum[fours->sums++] = (ms_c_four_sum){.symbol = symbol, .term = term, .minus = minus};
  return ms_c_trip_uses(fours->inner->kid[3], symbol) == 2 && is_vector(w, term, fours);
}

bool ms_c_fours_find(ms_writer *w, const ms_node *inner, ms_c_fours *fours) {
  const ms_node *block = inner->kid[3];
  *fours = (ms_c_fours){.inner = inner, .length = ms_c_loop_length(w, inner), .strip = MS_C_STRIP};
  bool fits = fours->length != NULL;
  for (uint32_t k = 0; k < block->kids && fits; k++) {
    const ms_node *node = block->kid[k];
    fits = node->kind == MS_LOCAL ? node->kids == node->symbol_count : find_sum(w, node, fours);
    for (uint32_t v = 0; node->kind == MS_LOCAL && v < node->kids && fits; v++)
      fits = !node->symbols[v]->assigned && is_vector(w, node->kid[v], fours);
  }
  if (!fits || fours->sums == 0) return false;
  fours->rest = ms_c_temp(w);
  fours->copy = ms_c_temp(w);
  for (uint32_t s = 0; s < fours->sums; s++) fours->sum[s].kept = ms_c_temp(w);
  return true;
}

/* ---- the text ---- */

bool ms_c_fours_begin(ms_writer *w, ms_c_fours *fours) {
  uint32_t at = w->copy % 4;
  for (uint32_t s = 0; s < fours->sums; s++) {
    ms_c_four_sum *sum = &fours->sum[s];
    const ms_c_local *local = ms_c_local_of(w, sum->symbol);
    if (local->form != MS_FORM_DOUBLE || local->counter) return false;
    sum->terms[at] = local->text;
    if (at < 3) continue;
    sum->fours[w->copy / 4] = ms_c_temp(w);
    ms_c_line(w, "ms_four %s = {%s, %s, %s, %s};", sum->fours[w->copy / 4], sum->terms[0],
              sum->terms[1], sum->terms[2], sum->terms[3]);
  }
  return true;
}

/* The inner loop's statements for one of its iterations, with the term at its place in the strip
 * where a sum would be. */
static void write_terms(ms_writer *w, const ms_c_fours *fours, const char *lane) {
  const ms_node *block = fours->inner->kid[3];
  uint32_t s = 0;
  for (uint32_t k = 0; k < block->kids; k++) {
    const ms_node *node = block->kid[k];
    if (node->kind == MS_LOCAL) {
      ms_c_statement(w, node);
      continue;
    }
    ms_c_place(w, node);
    const ms_c_four_sum *sum = &fours->sum[s++];
    ms_c_value term = ms_c_expression(w, sum->term);
    ms_c_line(w, "%s[%s] = %s;", sum->terms[w->copy % 4], lane,
              ms_c_value_as_double(w, term, sum->term));
  }
}

void ms_c_fours_strip(ms_writer *w, ms_c_fours *fours, const char *strip) {
  const char *lane = ms_c_temp(w), *at = ms_c_temp(w);
  ms_c_local *index = ms_c_local_of(w, fours->inner->symbols[0]);
  for (uint32_t s = 0; s < fours->sums; s++) {
    fours->sum[s].terms[w->copy % 4] = ms_c_temp(w);
    ms_c_line(w, "double %s[%u];", fours->sum[s].terms[w->copy % 4], fours->strip);
  }
  /* Unrolled, it would not be made a vector any more. */
  ms_c_line(w, "#pragma GCC unroll 1");
  ms_c_line(w, "for (int64_t %s = 0; %s < %u; %s++) {", lane, lane, fours->strip, lane);
  ms_c_line(w, "const int64_t %s = %s + %s;", at, strip, lane);
  index->text = index->whole = at;
  write_terms(w, fours, lane);
  ms_c_line(w, "}");
  for (uint32_t s = 0; s < fours->sums && w->copy % 4 == 3; s++) {
    const ms_c_four_sum *sum = &fours->sum[s];
    const char *sums = sum->fours[w->copy / 4];
    for (uint32_t t = 0; t < fours->strip; t += 4)
      ms_c_line(w, "%s = ms_four_sums(%s, %s + %u, %s + %u, %s + %u, %s + %u, %d);", sums, sums,
                sum->terms[0], t, sum->terms[1], t, sum->terms[2], t, sum->terms[3], t, sum->minus);
  }
}

void ms_c_fours_keep(ms_writer *w, const ms_c_fours *fours, uint32_t copies) {
  for (uint32_t s = 0; s < fours->sums; s++) {
    const ms_c_four_sum *sum = &fours->sum[s];
    for (uint32_t c = 0; c < copies; c += 4)
      ms_c_line(w, "__builtin_memcpy(%s + %u, &%s, sizeof %s);", sum->kept, c, sum->fours[c / 4],
                sum->fours[c / 4]);
  }
}

bool ms_c_fours_resume(ms_writer *w, const ms_node *loop, const char **first) {
  const ms_c_fours *fours = w->fours;
  if (fours == NULL || fours->inner != loop) return false;
  for (uint32_t s = 0; s < fours->sums; s++)
    ms_c_line(w, "%s = %s[%s];", ms_c_local_of(w, fours->sum[s].symbol)->text, fours->sum[s].kept,
              fours->copy);
  *first = fours->rest;
  return true;
}
