/* SPDX-License-Identifier: MIT
 *
 * Writing C: what is rounded. See c_rounded.h. */
#include "kernel/native/c_rounded.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Doubles below 2^63 are so far below it. */
#define MOST_MORE 1023

static bool rounds(const char *function) {
  return strcmp(function, "math.floor") == 0 || strcmp(function, "math.ceil") == 0;
}

/* Most nodes that are looked at for one key. */
#define MOST_STEPS 64

static bool is_rounded(const ms_writer *w, const ms_node *node, uint32_t *left) {
  if (*left == 0) return false;
  --*left;
  const ms_c_local *local;
  switch (node->kind) {
    case MS_NUMBER:
      return !node->boxed && floor(node->number) == node->number;
    case MS_PAREN:
      return is_rounded(w, node->kid[0], left);
    case MS_UNARY:
      return node->op == MS_OP_NEG && is_rounded(w, node->kid[0], left);
    case MS_BINARY:
      if (node->op > MS_OP_MUL) return false;
      return is_rounded(w, node->kid[0], left) && is_rounded(w, node->kid[1], left);
    case MS_CALL: {
      ms_kind_of called = ms_typed_expression(w->typed, node->kid[0]);
      return called.object == MS_OBJECT_BUILTIN && rounds(called.name);
    }
    case MS_NAME:
      if (node->symbol == NULL || node->symbol->assigned) return false;
      local = ms_c_local_of(w, node->symbol);
      return local->from != NULL && !ms_node_is_multiple(local->from) &&
             is_rounded(w, local->from, left);
    default:
      return false;
  }
}

bool ms_c_is_rounded(const ms_writer *w, const ms_node *node) {
  uint32_t most = MOST_STEPS;
  return is_rounded(w, node, &most);
}

void ms_c_rounded_note(ms_c_value *value, const char *function) {
  if (value->form == MS_FORM_DOUBLE && rounds(function)) value->rounded = value->text;
}

/* A whole number that no int64_t of ms_whole_of is too large for to be added; 0: it is none. */
static int32_t small(const ms_node *node) {
  double number = node->kind == MS_NUMBER && !node->boxed ? node->number : 0;
  return number > 0 && number <= MOST_MORE && floor(number) == number ? (int32_t)number : 0;
}

void ms_c_rounded_sum(ms_c_value *sum, const ms_c_value *left, const ms_c_value *right,
                      const ms_node *node) {
  int32_t before = small(node->kid[0]), after = small(node->kid[1]);
  if (sum->form != MS_FORM_DOUBLE || node->op != MS_OP_ADD) return;
  const ms_c_value *rounded = after != 0 ? left : right;
  sum->more = after != 0 ? after : before;
  if (sum->more != 0 && rounded->more == 0) sum->rounded = rounded->rounded;
}

void ms_c_rounded_cut(ms_writer *w, ms_c_value *value) {
  if (value->rounded == NULL || value->more == 0) return;
  const char *rounded = ms_c_temp(w), *whole = ms_c_temp(w);
  ms_c_line(w, "const double %s = %s;", rounded, value->rounded);
  ms_c_line(w, "const int64_t %s = ms_whole_of(%s);", whole, rounded);
  value->text = ms_c_text(w, "(%s + %s)", rounded, ms_c_number(w, value->more));
  value->rounded = NULL;
  value->cut = ms_c_text(w, "(%s + %" PRId32 ")", whole, value->more);
}

void ms_c_rounded_local(ms_writer *w, ms_c_value *value, ms_c_local *local) {
  if (local->form != MS_FORM_DOUBLE) return;
  ms_c_rounded_cut(w, value);
  local->rounded = value->rounded != NULL;
  local->cut = value->cut;
}

void ms_c_rounded_again(ms_c_value *value, const ms_c_local *local) {
  value->rounded = local->rounded ? local->text : NULL;
  value->cut = local->cut;
}
