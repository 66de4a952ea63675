/* SPDX-License-Identifier: MIT
 *
 * Writing C: methods that change rows, and arrays of rows. See c_row.h. */
#include <string.h>

#include "array/method.h"
#include "kernel/native/c_array.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_row.h"
#include "kernel/native/c_survey.h"
#include "kernel/native/c_value.h"

/* What a statement on rows was given. */
typedef struct row_arguments {
  ms_c_row y, x;
  const char *number; /* C text, or NULL */
  const ms_node *row; /* NULL: none */
} row_arguments;

/* Whether the other dimensions of two arrays of rows are the same, and one is no other view of what
 * the other one shows: these are copied first. */
static bool are_alike(ms_writer *w, const ms_node *node, const ms_c_row *a, const ms_c_row *b) {
  const ms_binding *bindings = w->emitter->job->bindings;
  bool alike = a->outer == b->outer;
  for (uint32_t d = 0; alike && d < a->outer; d++)
    alike = bindings[a->array].dims[a->given + d] == bindings[b->array].dims[b->given + d];
  if (alike && a->outer > 0 && bindings[a->array].array != bindings[b->array].array)
    alike = bindings[a->array].storage != bindings[b->array].storage;
  if (!alike)
    ms_c_refuse(w, node, "`%s` has arrays of different shapes, or that overlap",
                ms_c_source(w, node));
  return alike;
}

/* The row that is another operand. */
static bool other_row(ms_writer *w, const ms_node *node, row_arguments *given) {
  if (!ms_c_row_find(w, given->row, true, &given->x)) return false;
  if (!ms_c_row_is_same_length(w, node, &given->y, &given->x)) return false;
  return are_alike(w, node, &given->y, &given->x);
}

static bool number_argument(ms_writer *w, const ms_node *node, row_arguments *given) {
  ms_c_value value = ms_c_expression(w, node);
  if (value.form != MS_FORM_DOUBLE && value.form != MS_FORM_FLOAT) {
    ms_c_refuse(w, node, "`%s` is not known to be a number", ms_c_source(w, node));
    return false;
  }
  given->number = ms_c_value_as_double(w, value, node);
  return true;
}

/* y:add(a): the only statement without a function of its own. */
static const ms_method plain_add = {.name = "add", .effect = MS_METHOD_UPDATE, .number = true};

static void add_number(ms_writer *w, const row_arguments *given) {
  const char *at = ms_c_temp(w), *a = ms_c_temp(w), *stride = given->y.stride;
  ms_c_line(w, "const double %s = %s;", a, given->number);
  ms_c_line(w, "for (int64_t %s = 0; %s < %s; %s++)", at, at, given->y.extent, at);
  ms_c_line(w, "  %s[%s * %s] = (%s)((double)%s[%s * %s] + %s);", given->y.pointer, at, stride,
            given->y.type, given->y.pointer, at, stride, a);
}

/* y:add(x) and y:add(a, x) are y:axpy(1, x) and y:axpy(a, x). */
static const char *meaning(const ms_writer *w, const ms_node *node, uint32_t *count) {
  *count = node->kids - 1;
  if (strcmp(node->text, "add") != 0 || *count < 1 || *count > 2) return node->text;
  ms_kind_of first = ms_typed_expression(w->typed, node->kid[1]);
  if (*count == 1 && !ms_c_row_is(&first)) return node->text;
  *count = 2;
  return "axpy";
}

/* One of the rows where the variables of the loops around are. */
static void step(ms_writer *w, ms_c_row *row, const char *const *at) {
  const char *type = row->type, *pointer = row->pointer, *here = ms_c_temp(w);
  for (uint32_t d = 0; d < row->outer; d++)
    pointer = ms_c_text(w, "%s + %s * %s", pointer, at[d],
                        ms_c_array_stride(w, row->array, row->given + d));
  ms_c_line(w, "%s *const %s = %s;", type, here, pointer);
  row->pointer = here;
}

/* Loops over the rows of arrays of rows: opens them. */
static void go_through(ms_writer *w, row_arguments *given) {
  const char *at[MS_MAX_DIMS];
  const ms_c_row *rows = &given->y;
  if (rows->outer == 0) return;
  if (given->number != NULL && !ms_c_is_simple(given->number)) {
    const char *number = ms_c_temp(w);
    ms_c_line(w, "const double %s = %s;", number, given->number);
    given->number = number;
  }
  for (uint32_t d = 0; d < rows->outer; d++) {
    at[d] = ms_c_temp(w);
    ms_c_line(w, "for (int64_t %s = 0; %s < %s; %s++) {", at[d], at[d],
              ms_c_array_extent(w, rows->array, rows->given + d), at[d]);
  }
  step(w, &given->y, at);
  if (given->row != NULL) step(w, &given->x, at);
}

/* From the first element to the last, whose marks are free. */
static const char *span_of(ms_writer *w, const ms_c_row *row) {
  if (strcmp(row->stride, "1") == 0) return row->extent;
  return ms_c_text(w, "(%s - 1) * %s + 1", row->extent, row->stride);
}

/* What is done to a row. */
static void row_statement(ms_writer *w, const ms_node *node, const ms_method *method, bool scales,
                          const row_arguments *given) {
  ms_c_array_touch(w, ms_typed_expression(w->typed, node->kid[0]).array, given->y.pointer,
                   span_of(w, &given->y));
  if (method == &plain_add) {
    add_number(w, given);
    return;
  }
  bool floats = given->y.type[0] == 'f' && (given->row == NULL || given->x.type[0] == 'f');
  if (floats && scales && method->effect == MS_METHOD_UPDATE) ms_c_survey_note(w, node);
  const char *x = given->row != NULL ? ms_c_row_pair(w, &given->x) : "";
  ms_c_line(w, "ms_row_%s_%s%s%s(%s%s%s, %s%s%s);", method->name, given->y.type,
            method->other ? "_" : "", method->other ? given->x.type : "",
            ms_c_row_pair(w, &given->y), method->other ? ", " : "", x, given->y.extent,
            given->number != NULL ? ", " : "", given->number != NULL ? given->number : "");
}

static bool statement(ms_writer *w, const ms_node *node, const ms_method *method) {
  row_arguments given = {0};
  uint32_t last = node->kids - 1;
  if (!ms_c_row_find(w, node->kid[0], true, &given.y)) return true;
  bool scales = method->number && node->kids == 1u + method->other + method->number;
  if (scales) {
    if (!number_argument(w, node->kid[1], &given)) return true;
  } else if (method->number) {
    given.number = "1.0";
  }
  if (method->other) given.row = node->kid[last];
  if (given.row != NULL && !other_row(w, node, &given)) return true;
  go_through(w, &given);
  row_statement(w, node, method, scales, &given);
  for (uint32_t d = 0; d < given.y.outer; d++) ms_c_line(w, "}");
  return true;
}

/* Whether what a row shows may be what the array shows. */
static bool may_meet(const ms_writer *w, const ms_c_row *a, const ms_c_row *row) {
  const ms_binding *bindings = w->emitter->job->bindings;
  return bindings[a->array].storage == bindings[row->array].storage;
}

/* What A:ger(x, y), A:ger(beta, alpha, x, y), y:gemv(A, x) and y:gemv(beta, alpha, A, x) are given:
 * the matrix, the row along its rows and the one across them; false after a refusal. */
static bool take_product(ms_writer *w, const ms_node *node, ms_c_row *a, ms_c_row *x, ms_c_row *y,
                         const char **scale) {
  const ms_binding *bindings = w->emitter->job->bindings;
  bool ger = strcmp(node->text, "ger") == 0;
  if (!ms_c_row_find(w, node->kid[0], ger, ger ? a : x)) return false;
  for (uint32_t k = 1; k + 2 < node->kids; k++) {
    row_arguments given = {0};
    if (!number_argument(w, node->kid[k], &given)) return false;
    scale[k - 1] = ms_c_temp(w);
    ms_c_line(w, "const double %s = %s;", scale[k - 1], given.number);
  }
  if (!ms_c_row_find(w, node->kid[node->kids - 2], !ger, ger ? x : a)) return false;
  if (!ms_c_row_find(w, node->kid[node->kids - 1], false, y)) return false;
  bool whole = a->outer == 1 && x->length != MS_C_ROW_UNKNOWN && y->length != MS_C_ROW_UNKNOWN;
  whole = whole && bindings[a->array].dims[a->given] == x->length && a->length == y->length;
  if (whole && !may_meet(w, a, x) && (ger ? !may_meet(w, a, y) : !may_meet(w, x, y))) return true;
  ms_c_refuse(w, node, "the method `%s` has no C form with these arguments", node->text);
  return false;
}

/* An element anew, as csrc/array/product.c has it: it is not read where beta is 0. */
static void store_product(ms_writer *w, const char *element, const char *type, const char *product,
                          const char *const *scale) {
  const char *scaled = ms_c_temp(w);
  ms_c_line(w, "const double %s = %s * %s;", scaled, product, scale[1]);
  ms_c_line(w, "%s = (%s)(%s == 0 ? %s : %s * (double)%s + %s);", element, type, scale[0], scaled,
            scale[0], element, scaled);
}

/* Each row of A becomes beta row + alpha x[i] y. */
static void outer_product(ms_writer *w, ms_c_row *a, const ms_c_row *x, const ms_c_row *y,
                          const char *i, const char *const *scale) {
  const char *j = ms_c_temp(w), *left = ms_c_temp(w);
  ms_c_line(w, "const double %s = (double)%s[%s * %s];", left, x->pointer, i, x->stride);
  ms_c_array_touch(w, a->array, a->pointer, span_of(w, a));
  ms_c_line(w, "for (int64_t %s = 0; %s < %s; %s++) {", j, j, y->extent, j);
  const char *product = ms_c_text(w, "%s * (double)%s[%s * %s]", left, y->pointer, j, y->stride);
  store_product(w, ms_c_text(w, "%s[%s * %s]", a->pointer, j, a->stride), a->type, product, scale);
  ms_c_line(w, "}");
}

static bool product(ms_writer *w, const ms_node *node) {
  ms_c_row a, x, y;
  const char *scale[2] = {"0.0", "1.0"};
  bool ger = strcmp(node->text, "ger") == 0;
  if ((!ger && strcmp(node->text, "gemv") != 0) || (node->kids != 3 && node->kids != 5))
    return false;
  if (!take_product(w, node, &a, &x, &y, scale)) return true;
  const char *i = ms_c_temp(w);
  if (!ger) ms_c_array_touch(w, x.array, x.pointer, span_of(w, &x));
  ms_c_line(w, "for (int64_t %s = 0; %s < %s; %s++) {", i, i, x.extent, i);
  step(w, &a, &i);
  if (ger) {
    outer_product(w, &a, &x, &y, i, scale);
  } else {
    const char *sum = ms_c_text(w, "ms_row_dot_%s_%s(%s, %s, %s)", a.type, y.type,
                                ms_c_row_pair(w, &a), ms_c_row_pair(w, &y), y.extent);
    store_product(w, ms_c_text(w, "%s[%s * %s]", x.pointer, i, x.stride), x.type, sum, scale);
  }
  ms_c_line(w, "}");
  return true;
}

static const ms_method *statement_of(const char *name) {
  if (strcmp(name, plain_add.name) == 0) return &plain_add;
  const ms_method *method = ms_method_find(name);
  return method != NULL && method->rowwise && method->effect != MS_METHOD_READ ? method : NULL;
}

bool ms_c_row_statement(ms_writer *w, const ms_node *node) {
  uint32_t count;
  if (product(w, node)) return true;
  const ms_method *method = statement_of(meaning(w, node, &count));
  if (method == NULL || count != 0u + method->other + method->number) return false;
  return statement(w, node, method);
}
