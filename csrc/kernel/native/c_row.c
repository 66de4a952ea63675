/* SPDX-License-Identifier: MIT
 *
 * Writing C: methods of rows, which the prelude has (array/rowwise.h). See c_row.h. */
#include "kernel/native/c_row.h"

#include <string.h>

#include "array/method.h"
#include "kernel/native/c_array.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_loop.h"
#include "kernel/native/c_part.h"
#include "kernel/native/c_sum.h"
#include "kernel/native/c_survey.h"
#include "kernel/native/c_value.h"

bool ms_c_row_is(const ms_kind_of *kind) {
  return kind->object == MS_OBJECT_VIEW || kind->object == MS_OBJECT_PART;
}

static void take_part(ms_writer *w, const ms_node *node, ms_c_row *row) {
  const char *part = ms_c_expression(w, node).text;
  row->pointer = ms_c_text(w, "%s.at", part);
  row->stride = ms_c_text(w, "%s.stride", part);
  row->extent = ms_c_text(w, "%s.extent", part);
  row->length = MS_C_ROW_UNKNOWN;
}

bool ms_c_row_find(ms_writer *w, const ms_node *node, bool several, ms_c_row *row) {
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  if (!ms_c_row_is(&kind)) {
    ms_c_refuse(w, node, "`%s` is no row of a dense array", ms_c_source(w, node));
    return false;
  }
  const ms_binding *binding = &w->emitter->job->bindings[kind.array];
  int32_t type = w->emitter->job->elements[kind.array].type;
  bool fits = several && kind.object == MS_OBJECT_VIEW ? kind.given < binding->dim_count
                                                       : kind.given + 1 == binding->dim_count;
  if (!fits || binding->sparse || type > MS_DOUBLE) {
    ms_c_refuse(w, node, "`%s` is no row of float or double elements", ms_c_source(w, node));
    return false;
  }
  *row = (ms_c_row){.type = type == MS_FLOAT ? "float" : "double"};
  if (kind.object == MS_OBJECT_PART) {
    take_part(w, node, row);
    return true;
  }
  ms_c_location location;
  if (!ms_c_location_find(w, node, &location)) return false;
  row->pointer =
      ms_c_is_simple(location.text) ? location.text : ms_c_text(w, "(%s)", location.text);
  uint32_t last = binding->dim_count - 1;
  row->stride = ms_c_array_stride(w, kind.array, last);
  row->extent = ms_c_array_extent(w, kind.array, last);
  row->length = binding->dims[last];
  row->array = kind.array;
  row->given = kind.given;
  row->outer = last - kind.given;
  return true;
}

static bool row_of(ms_writer *w, const ms_node *node, ms_c_row *row) {
  return ms_c_row_find(w, node, false, row);
}

const char *ms_c_row_pair(ms_writer *w, const ms_c_row *row) {
  return ms_c_text(w, "%s, %s", row->pointer, row->stride);
}

bool ms_c_row_is_same_length(ms_writer *w, const ms_node *node, const ms_c_row *a,
                             const ms_c_row *b) {
  if (a->length == MS_C_ROW_UNKNOWN || b->length == MS_C_ROW_UNKNOWN) {
    const char *words = ms_c_text(w, "ARR: %s: DistArray<%s>[\1] does not match DistArray<%s>[\2]",
                                  node->text, b->type, a->type);
    ms_c_line(w, "if (MS_UNLIKELY(%s != %s)) {", a->extent, b->extent);
    ms_c_line(w, "ms_stop(fault, MS_NATIVE_LENGTHS, %u, (int32_t)%s, (int32_t)%s, %u);", node->line,
              b->extent, a->extent, ms_c_message(w, words));
    ms_c_leave(w, node);
    ms_c_line(w, "}");
    return true;
  }
  if (a->length == b->length) return true;
  ms_c_refuse(w, node, "`%s` has rows of different lengths", ms_c_source(w, node));
  return false;
}

/* The reductions of fast mode: plain loops, which the compiler may add up in any order. */
static ms_c_value loop_over(ms_writer *w, ms_kind_of kind, ms_measure measure, const ms_c_row *x,
                            const ms_c_row *y) {
  bool single = x->type[0] == 'f' && y->type[0] == 'f';
  const char *type = single ? "float" : "double", *at = ms_c_temp(w);
  const char *total = ms_c_temp(w), *sum = total, *from = "0", *to = x->extent;
  ms_c_line(w, "double %s = 0;", total);
  if (single) {
    from = ms_c_temp(w);
    to = ms_c_temp(w);
    sum = ms_c_temp(w);
    ms_c_line(w, "for (int64_t %s = 0; %s < %s; %s += %d) {", from, from, x->extent, from,
              MS_C_PIECE);
    ms_c_line(w, "const int64_t %s = ms_whole_least(%s + %d, %s);", to, from, MS_C_PIECE,
              x->extent);
    ms_c_line(w, "float %s = 0;", sum);
  }
  if (x->length <= MS_UNROLLED_TOO_EARLY) ms_c_line(w, "#pragma GCC unroll 1");
  ms_c_line(w, "for (int64_t %s = %s; %s < %s; %s++)", at, from, at, to, at);
  const char *a = ms_c_text(w, "(%s)%s[%s * %s]", type, x->pointer, at, x->stride);
  const char *b = ms_c_text(w, "(%s)%s[%s * %s]", type, y->pointer, at, y->stride);
  if (measure == MS_MEASURE_SUM) {
    ms_c_line(w, "  %s += %s;", sum, a);
  } else {
    ms_c_line(w, "  %s += %s * %s;", sum, a, b);
  }
  if (single) {
    ms_c_line(w, "%s += (double)%s;", total, sum);
    ms_c_line(w, "}");
  }
  if (measure == MS_MEASURE_NORM) total = ms_c_text(w, "__builtin_sqrt(%s)", total);
  return ms_c_value_hold(w, (ms_c_value){.form = MS_FORM_DOUBLE, .kind = kind, .text = total});
}

/* Rows without elements, in the words of csrc/array/reduce.c and lua/meissa/array/arith.lua. */
static void refuse_empty(ms_writer *w, const ms_node *node, const ms_c_row *x, const char *words) {
  ms_c_error(w, node, ms_c_text(w, "%s == 0", x->extent), ms_c_text(w, "ARR: %s", words));
}

/* The largest or least element, or where it stands first; a nan comes before all. */
static ms_c_value extreme(ms_writer *w, ms_kind_of kind, const ms_node *node, const ms_c_row *x,
                          ms_measure measure) {
  refuse_empty(w, node, x, "an empty array has no least and no greatest element");
  const char *best = ms_c_temp(w), *at = ms_c_temp(w), *place = NULL;
  bool most = measure == MS_MEASURE_MAX || measure == MS_MEASURE_ARGMAX;
  if (measure == MS_MEASURE_ARGMAX || measure == MS_MEASURE_ARGMIN) place = ms_c_temp(w);
  const char *element = ms_c_text(w, "(double)%s[%s * %s]", x->pointer, at, x->stride);
  ms_c_line(w, "double %s = %s__builtin_inf();", best, most ? "-" : "");
  if (place != NULL) ms_c_line(w, "int64_t %s = 0;", place);
  ms_c_line(w, "for (int64_t %s = 0; %s < %s && %s == %s; %s++)", at, at, x->extent, best, best,
            at);
  const char *taken = place != NULL ? ms_c_text(w, ", %s = %s", place, at) : "";
  ms_c_line(w, "  if (!(%s %s %s)) %s = %s%s;", element, most ? "<=" : ">=", best, best, element,
            taken);
  const char *value = place != NULL ? ms_c_text(w, "(double)(%s + 1)", place) : best;
  return (ms_c_value){.form = MS_FORM_DOUBLE, .kind = kind, .text = value};
}

/* The value of row:norm(2), or norm(1), as C text. */
static const char *plain_norm(ms_writer *w, ms_kind_of kind, const ms_c_row *x, bool magnitudes) {
  if (w->fast && !magnitudes) return loop_over(w, kind, MS_MEASURE_NORM, x, x).text;
  return ms_c_text(w, "ms_row_%s_%s(%s, %s)", magnitudes ? "magnitudes" : "norm", x->type,
                   ms_c_row_pair(w, x), x->extent);
}

/* row:norm(p) for a number p that the text does not have: 1, 2, or infinite. */
static ms_c_value norm_of(ms_writer *w, ms_kind_of kind, const ms_node *node, const ms_c_row *x) {
  ms_kind_of object = ms_typed_expression(w->typed, node->kid[0]);
  ms_c_value p = ms_c_value_hold(w, ms_c_expression(w, node->kid[1]));
  ms_c_value norm = {.form = MS_FORM_DOUBLE, .kind = kind, .text = ms_c_temp(w)};
  if (p.form != MS_FORM_DOUBLE && p.form != MS_FORM_FLOAT) {
    ms_c_refuse(w, node, "`%s` is not known to be a number", ms_c_source(w, node->kid[1]));
    return norm;
  }
  const char *order = ms_c_value_as_double(w, p, node->kid[1]);
  ms_c_line(w, "double %s;", norm.text);
  ms_c_line(w, "if (%s == 2) {", order);
  ms_c_line(w, "%s = %s;", norm.text, plain_norm(w, kind, x, false));
  ms_c_line(w, "} else if (%s == 1) {", order);
  ms_c_line(w, "%s = %s;", norm.text, plain_norm(w, kind, x, true));
  ms_c_line(w, "} else {");
  ms_c_stop(w, node, ms_c_text(w, "%s != __builtin_inf()", order), "MS_NATIVE_NORM", object.array,
            object.given, order);
  const char *least = extreme(w, kind, node, x, MS_MEASURE_MIN).text;
  const char *most = extreme(w, kind, node, x, MS_MEASURE_MAX).text;
  ms_c_line(w, "%s = ms_math_max(__builtin_fabs(%s), __builtin_fabs(%s));", norm.text, least, most);
  ms_c_line(w, "}");
  return norm;
}

/* Evaluates what is an array or a part of one, for the errors of its subscripts. */
static void evaluate(ms_writer *w, const ms_node *object) {
  if (!ms_c_integer_value_is_part(w, object)) return;
  const char *text = ms_c_expression(w, object).text;
  if (!ms_c_is_simple(text)) ms_c_line(w, "(void)(%s);", text);
}

const char *ms_c_row_extent(ms_writer *w, const ms_node *object, const ms_node *dim) {
  uint32_t array, at;
  if (ms_typed_expression(w->typed, object).object == MS_OBJECT_PART) {
    bool first = dim == NULL || (dim->kind == MS_NUMBER && dim->number == 1);
    return first ? ms_c_text(w, "(double)%s.extent", ms_c_expression(w, object).text) : NULL;
  }
  if (!ms_c_integer_value_extent(w, object, dim, &array, &at)) return NULL;
  evaluate(w, object);
  return ms_c_text(w, "(double)%s", ms_c_array_extent(w, array, at));
}

static ms_c_value of_size(ms_writer *w, const ms_node *node, ms_measure measure) {
  ms_kind_of kind = ms_typed_expression(w->typed, node->kid[0]);
  ms_c_value none = {
      .form = MS_FORM_DOUBLE, .kind = ms_kind_of_number(MS_ANY_PRECISION), .text = "0.0"};
  if (measure == MS_MEASURE_DIM && node->kids == 1) {
    uint32_t dims = w->emitter->job->bindings[kind.array].dim_count - kind.given;
    none.text = ms_c_number(w, (double)dims);
    evaluate(w, node->kid[0]);
    return none;
  }
  const char *extent = node->kids == 2 ? ms_c_row_extent(w, node->kid[0], node->kid[1]) : NULL;
  if (extent == NULL)
    ms_c_refuse(w, node, "`%s` is not known beforehand", ms_c_source(w, node));
  else
    none.text = extent;
  return none;
}

/* Says why a method has no C form: only calls with other arguments have one, or its object is what
 * another call gives, which has none. */
static void refuse(ms_writer *w, const ms_node *node, bool known) {
  const ms_node *value, *object = node->kid[0];
  while (object->kind == MS_PAREN) object = object->kid[0];
  uint32_t at = ms_typed_binding(w->typed, object, &value);
  if (known) {
    ms_c_refuse(w, node, "the method `%s` has no C form with these arguments", node->text);
  } else if (at != MS_NO_CAPTURE && w->emitter->job->bindings[at].kind == MS_BIND_TABLE) {
    ms_c_refuse(w, node, "`%s` is a method of a plain table, which only LuaJIT calls", node->text);
  } else if (object->kind == MS_METHOD || object->kind == MS_INDEX) {
    ms_c_expression(w, object); /* which may have none by itself */
    ms_c_refuse(w, node, "the method `%s` has no C form here", node->text);
  } else if (ms_typed_expression(w->typed, object).object == MS_OBJECT_OTHER) {
    ms_c_refuse(w, node,
                "`%s`, whose method `%s` is called, is no row of an array that is known here",
                ms_c_source(w, object), node->text);
  } else {
    ms_c_refuse(w, node, "the method `%s` has no C form", node->text);
  }
}

/* Whether the text has p of row:norm(p) as this number. */
static bool is_order(const ms_node *node, double p) {
  const ms_node *order = node->kid[1];
  return order->kind == MS_NUMBER && !order->boxed && order->number == p;
}

ms_c_value ms_c_row_measure(ms_writer *w, const ms_node *node) {
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  ms_c_value none = {
      .form = MS_FORM_DOUBLE, .kind = ms_kind_of_number(MS_ANY_PRECISION), .text = "0.0"};
  if (kind.object == MS_OBJECT_PART) return ms_c_part(w, node);
  ms_measure measure = ms_measure_find(node->text);
  ms_kind_of object = ms_typed_expression(w->typed, node->kid[0]);
  bool array = ms_c_row_is(&object) || object.object == MS_OBJECT_SPARSE;
  if (array && measure >= MS_MEASURE_SIZE) return of_size(w, node, measure);
  bool known = measure != MS_MEASURE_NONE && measure < MS_MEASURE_SIZE;
  bool other = known && ms_method_find(node->text)->other;
  bool row = ms_c_row_is(&object);
  bool order = known && measure == MS_MEASURE_NORM && node->kids == 2;
  if (!row || !known || (node->kids != 1u + other && !order)) {
    refuse(w, node, row && known);
    return none;
  }
  ms_c_row x, y;
  if (!row_of(w, node->kid[0], &x)) return none;
  if (other && (!row_of(w, node->kid[1], &y) || !ms_c_row_is_same_length(w, node, &x, &y)))
    return none;
  if (measure >= MS_MEASURE_MAX && measure <= MS_MEASURE_ARGMIN)
    return extreme(w, kind, node, &x, measure);
  bool one = order && is_order(node, 1);
  if (order && !one && !is_order(node, 2)) return norm_of(w, kind, node, &x);
  const char *name = one ? "magnitudes" : measure == MS_MEASURE_MEAN ? "sum" : node->text;
  bool loop = measure == MS_MEASURE_DOT || measure == MS_MEASURE_SUM ||
              (measure == MS_MEASURE_NORM && !one);
  if (w->fast && loop) return loop_over(w, kind, measure, &x, other ? &y : &x);
  bool mean = measure == MS_MEASURE_MEAN;
  if (mean) refuse_empty(w, node, &x, "an empty array has no mean");
  if (ms_method_find(node->text)->filled)
    refuse_empty(w, node, &x, ms_c_text(w, "%s: an empty array has none", node->text));
  const char *text = ms_c_text(w, "ms_row_%s_%s%s%s(%s%s%s, %s)", name, x.type, other ? "_" : "",
                               other ? y.type : "", ms_c_row_pair(w, &x), other ? ", " : "",
                               other ? ms_c_row_pair(w, &y) : "", x.extent);
  if (mean) text = ms_c_text(w, "%s / (double)%s", text, x.extent);
  return ms_c_value_hold(w, (ms_c_value){.form = MS_FORM_DOUBLE, .kind = kind, .text = text});
}
