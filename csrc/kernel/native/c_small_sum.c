/* SPDX-License-Identifier: MIT
 *
 * Writing C: sums of small integers. See c_small_sum.h. */
#include "kernel/native/c_small_sum.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/c_array.h"
#include "kernel/native/c_survey.h"
#include "kernel/native/small_rows.h"

/* Shorter loops are not worth looking through their rows. */
#define LEAST_TRIP 16

/* Constants beside a loop's variable, so that what a row's elements take fits into an int. */
#define MOST_OFFSET 1000

/* A factor that leaves room for sums of the products. */
#define MOST_FACTOR 64

/* ---- which elements ---- */

/* A local that has its value, and its C name, before the loop begins. */
static bool is_known_before(const ms_writer *w, const ms_symbol *symbol, const ms_node *loop) {
  if (symbol->assigned) return false;
  for (uint32_t d = 0; d < w->emitter->dims; d++) {
    if (w->emitter->indices[d] == symbol) return true;
  }
  const ms_node *from = symbol->declaration;
  return from != NULL && from != loop && ms_node_is_inside(loop, from->parent) &&
         !ms_node_is_inside(from, loop);
}

/* Whether a row, or a subscript, is the same in all iterations of the loop. */
static bool is_steady(const ms_writer *w, const ms_node *node, const ms_node *loop) {
  const ms_node *value;
  uint32_t at = MS_NO_CAPTURE;
  switch (node->kind) {
    case MS_NUMBER:
      return true;
    case MS_NAME:
    case MS_INDEX:
      at = ms_typed_binding(w->typed, node, &value);
      if (at != MS_NO_CAPTURE) return value == node && !ms_variable_is(w->emitter, at);
      if (node->kind == MS_NAME)
        return node->symbol != NULL && is_known_before(w, node->symbol, loop);
      return ms_typed_expression(w->typed, node).object == MS_OBJECT_VIEW &&
             is_steady(w, node->kid[0], loop) && is_steady(w, node->kid[1], loop);
    case MS_PAREN:
      return is_steady(w, node->kid[0], loop);
    case MS_BINARY:
      return node->op <= MS_OP_MUL && is_steady(w, node->kid[0], loop) &&
             is_steady(w, node->kid[1], loop);
    default:
      return false;
  }
}

static bool is_variable(const ms_node *node, const ms_symbol *symbol) {
  return node->kind == MS_NAME && node->symbol == symbol;
}

/* A subscript that is the loop's variable plus a constant. */
static bool find_offset(const ms_node *key, const ms_symbol *symbol, int64_t *offset) {
  *offset = 0;
  while (key->kind == MS_PAREN) key = key->kid[0];
  if (is_variable(key, symbol)) return true;
  if (key->kind != MS_BINARY || key->op > MS_OP_SUB) return false;
  bool turned = key->op == MS_OP_ADD && is_variable(key->kid[1], symbol);
  const ms_node *number = key->kid[turned ? 0 : 1];
  if (!turned && !is_variable(key->kid[0], symbol)) return false;
  if (number->kind != MS_NUMBER || number->boxed || floor(number->number) != number->number ||
      fabs(number->number) > MOST_OFFSET)
    return false;
  *offset = (key->op == MS_OP_SUB ? -1 : 1) * (int64_t)number->number;
  return true;
}

/* The row's record, a new one if it is not known yet; NULL if there are too many. */
static ms_c_small_row *row_of(ms_c_small_sums *sums, const ms_node *base) {
  for (uint32_t r = 0; r < sums->rows; r++) {
    if (ms_node_is_same(sums->row[r].base, base)) return &sums->row[r];
  }
  if (sums->rows == MS_C_SMALL_ROWS) return NULL;
  ms_c_small_row *row = &sums->row[sums->rows++];
  *row = (ms_c_small_row){.base = base, .low = INT64_MAX, .high = INT64_MIN};
  return row;
}

/* Notes that an element is added up; false if it is none of those. */
static bool note_element(ms_writer *w, const ms_node *node, const char *text) {
  ms_c_small_sums *sums = w->small_sums;
  const ms_node *value;
  int64_t offset;
  if (node->kind != MS_INDEX || ms_typed_binding(w->typed, node, &value) != MS_NO_CAPTURE ||
      !find_offset(node->kid[1], sums->loop->symbols[0], &offset) ||
      !is_steady(w, node->kid[0], sums->loop))
    return false;
  uint32_t array = ms_typed_expression(w->typed, node->kid[0]).array;
  if (!ms_emitter_row_major(w->emitter, ms_c_array(w, array)) ||
      ms_c_survey_writes(w, w->emitter->body, array))
    return false;
  ms_c_small_row *row = row_of(sums, node->kid[0]);
  if (row == NULL) return false;
  if (offset < row->low) {
    row->low = offset;
    row->first = text;
  }
  if (offset > row->high) row->high = offset;
  return true;
}

/* ---- sums ---- */

/* The same integer, which is small where that may be asked for. */
static ms_integer_value taken(ms_writer *w, const ms_integer_value *value) {
  ms_integer_value small = *value;
  if (value->element == NULL || !note_element(w, value->element, value->of_element)) return small;
  small.small = true;
  small.least = -(int64_t)MS_SMALL;
  small.most = MS_SMALL - 1;
  return small;
}

/* An integer between these bounds that is made of small ones; NULL if it may be no int32. */
static const ms_integer_value *made(ms_writer *w, const char *text, int64_t least, int64_t most) {
  if (least < INT32_MIN || most > INT32_MAX) return NULL;
  ms_integer_value *whole = ms_c_integer(w, text, least, most);
  if (whole != NULL) whole->small = true;
  return whole;
}

const ms_integer_value *ms_c_small_sum(ms_writer *w, const ms_integer_value *a,
                                       const ms_integer_value *b, bool minus) {
  if (w->small_sums == NULL) return NULL;
  ms_integer_value x = taken(w, a), y = taken(w, b);
  if (!x.small && !y.small) return NULL;
  const char *text = ms_c_text(w, "(%s %c %s)", x.text, minus ? '-' : '+', y.text);
  const ms_integer_value *sum =
      made(w, text, x.least + (minus ? -y.most : y.least), x.most + (minus ? -y.least : y.most));
  w->small_sums->found = w->small_sums->found || sum != NULL;
  return sum;
}

const ms_integer_value *ms_c_small_sum_product(ms_writer *w, const ms_integer_value *a,
                                               const ms_integer_value *b) {
  if (w->small_sums == NULL || a == NULL || b == NULL) return NULL;
  if (a->least == a->most) return b->least == b->most ? NULL : ms_c_small_sum_product(w, b, a);
  if (b->least != b->most || b->least < 1 || b->most > MOST_FACTOR) return NULL;
  ms_integer_value x = taken(w, a);
  if (!x.small) return NULL;
  return made(w, ms_c_text(w, "(%s * %s)", x.text, b->text), x.least * b->least, x.most * b->least);
}

const ms_integer_value *ms_c_small_sum_local(ms_writer *w, const ms_integer_value *value) {
  if (w->small_sums == NULL || value == NULL || value->element == NULL) return value;
  ms_integer_value x = taken(w, value);
  return x.small ? made(w, x.text, x.least, x.most) : value;
}

const char *ms_c_small_sum_text(ms_writer *w, const ms_integer_value *value) {
  return value->small ? ms_c_text(w, "(int32_t)%s", value->text) : value->text;
}

/* ---- loops ---- */

static bool visit_loop(ms_node *node, void *context) {
  bool *found = context;
  *found = *found || ms_node_is_loop(node);
  return !*found;
}

/* Whether the loop captures int32 arrays, whose elements could be added up in 32 bits. */
static bool has_int32(const ms_writer *w) {
  const ms_kernel_job *job = w->emitter->job;
  for (uint32_t c = 0; c < job->binding_count; c++) {
    bool dense = job->bindings[c].kind == MS_BIND_ARRAY && !job->bindings[c].sparse;
    if (dense && job->elements[c].type == MS_INT32) return true;
  }
  return false;
}

static bool is_innermost(const ms_node *loop) {
  bool found = false;
  ms_node_walk(loop->kid[3], visit_loop, &found);
  return !found;
}

static void write_apart(ms_writer *w, ms_c_write *write, const void *context, ms_text *text) {
  ms_text *out = w->out;
  w->out = text;
  w->indent++;
  write(w, context);
  w->indent--;
  w->out = out;
  w->line = 0;
}

/* Looks through the rows, of which the block's record number `record` knows some. */
static const char *write_test(ms_writer *w, const ms_c_small_sums *sums,
                              const char *const range[3]) {
  const char *test = ms_c_temp(w), *all = "";
  uint32_t record = w->small_records++;
  ms_c_line(w, "int %s = %s - %s >= %d && !ms_small[%u].large;", test, range[1], range[0],
            LEAST_TRIP - 1, record);
  for (uint32_t r = 0; r < sums->rows; r++) {
    const ms_c_small_row *row = &sums->row[r];
    all = ms_c_text(w, "%s%sms_are_small(&ms_small[%u], &%s, %s - %s + %" PRId64 ")", all,
                    *all ? " && " : "", record, row->first, range[1], range[0],
                    row->high - row->low + 1);
  }
  ms_c_line(w, "if (%s) {", test);
  ms_c_line(w, "const int64_t %s = %s;", range[2], range[0]);
  ms_c_line(w, "%s = %s;", test, all);
  ms_c_line(w, "}");
  return test;
}

void ms_c_small_sums_write(ms_writer *w, const ms_node *loop, const char *const range[3],
                           ms_c_write *write, const void *context) {
  ms_c_small_sums sums = {.loop = loop};
  ms_text small = {0};
  bool known = w->scopes > 0 && w->within == NULL && !loop->symbols[0]->assigned;
  if (known && has_int32(w) && is_innermost(loop)) {
    w->small_sums = &sums;
    write_apart(w, write, context, &small);
    w->small_sums = NULL;
  }
  if (sums.found) {
    ms_c_line(w, "if (%s) {", write_test(w, &sums, range));
    ms_text_append(w->out, small.bytes, small.length);
    ms_c_line(w, "} else {");
  }
  write(w, context);
  if (sums.found) ms_c_line(w, "}");
  w->failed = w->failed || small.failed;
  ms_text_free(&small);
}
