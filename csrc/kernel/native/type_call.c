/* SPDX-License-Identifier: MIT
 *
 * Typed form, calls: the builtins and methods that have a C form, and what they give. See
 * typed.h. */
#include <string.h>

#include "array/method.h"
#include "kernel/native/typed.h"

#define MANY 250 /* arguments: LuaJIT's own limit */

static const ms_library library[] = {
    {"math.floor", MS_LIBRARY_CALL, 1, 1, "ms_math_floor", "__builtin_floorf"},
    {"math.ceil", MS_LIBRARY_CALL, 1, 1, "ms_math_ceil", "__builtin_ceilf"},
    {"math.abs", MS_LIBRARY_CALL, 1, 1, "ms_math_abs", "__builtin_fabsf"},
    {"math.sqrt", MS_LIBRARY_CALL, 1, 1, "ms_math_sqrt", "__builtin_sqrtf"},
    {"math.exp", MS_LIBRARY_CALL, 1, 1, "ms_math_exp", "__builtin_expf"},
    {"math.log", MS_LIBRARY_CALL, 1, 1, "ms_math_log", "__builtin_logf"},
    {"math.log10", MS_LIBRARY_CALL, 1, 1, "ms_math_log10", "__builtin_log10f"},
    {"math.sin", MS_LIBRARY_CALL, 1, 1, "ms_math_sin", "__builtin_sinf"},
    {"math.cos", MS_LIBRARY_CALL, 1, 1, "ms_math_cos", "__builtin_cosf"},
    {"math.tan", MS_LIBRARY_CALL, 1, 1, "ms_math_tan", "__builtin_tanf"},
    {"math.asin", MS_LIBRARY_CALL, 1, 1, "ms_math_asin", "__builtin_asinf"},
    {"math.acos", MS_LIBRARY_CALL, 1, 1, "ms_math_acos", "__builtin_acosf"},
    {"math.atan", MS_LIBRARY_CALL, 1, 1, "ms_math_atan", "__builtin_atanf"},
    {"math.sinh", MS_LIBRARY_CALL, 1, 1, "ms_math_sinh", "__builtin_sinhf"},
    {"math.cosh", MS_LIBRARY_CALL, 1, 1, "ms_math_cosh", "__builtin_coshf"},
    {"math.tanh", MS_LIBRARY_CALL, 1, 1, "ms_math_tanh", "__builtin_tanhf"},
    {"math.deg", MS_LIBRARY_CALL, 1, 1, "ms_math_deg", "ms_float_deg"},
    {"math.rad", MS_LIBRARY_CALL, 1, 1, "ms_math_rad", "ms_float_rad"},
    {"math.atan2", MS_LIBRARY_CALL, 2, 2, "ms_math_atan2", "__builtin_atan2f"},
    {"math.fmod", MS_LIBRARY_CALL, 2, 2, "ms_math_fmod", "__builtin_fmodf"},
    {"math.pow", MS_LIBRARY_CALL, 2, 2, "ms_math_pow", "ms_float_pow"},
    {"math.ldexp", MS_LIBRARY_CALL, 2, 2, "ms_math_ldexp", NULL},
    {"math.log", MS_LIBRARY_CALL, 2, 2, "ms_math_log_base", NULL},
    {"math.max", MS_LIBRARY_FOLD, 1, MANY, "ms_math_max", "ms_float_max"},
    {"math.min", MS_LIBRARY_FOLD, 1, MANY, "ms_math_min", "ms_float_min"},
    {"meissa.random", MS_LIBRARY_RANDOM, 0, 2, "ms_draw_whole", NULL},
    {"meissa.normal", MS_LIBRARY_NORMAL, 0, 0, "ms_draw_normal", NULL},
    {"tonumber", MS_LIBRARY_SELF, 1, 1, "", ""},
    {"bit.tobit", MS_LIBRARY_BITS, 1, 1, "ms_bit_tobit", NULL},
    {"bit.bnot", MS_LIBRARY_BITS, 1, 1, "ms_bit_bnot", NULL},
    {"bit.bswap", MS_LIBRARY_BITS, 1, 1, "ms_bit_bswap", NULL},
    {"bit.lshift", MS_LIBRARY_BITS, 2, 2, "ms_bit_lshift", NULL},
    {"bit.rshift", MS_LIBRARY_BITS, 2, 2, "ms_bit_rshift", NULL},
    {"bit.arshift", MS_LIBRARY_BITS, 2, 2, "ms_bit_arshift", NULL},
    {"bit.rol", MS_LIBRARY_BITS, 2, 2, "ms_bit_rol", NULL},
    {"bit.ror", MS_LIBRARY_BITS, 2, 2, "ms_bit_ror", NULL},
    {"bit.band", MS_LIBRARY_BITS, 1, MANY, "ms_bit_band", NULL},
    {"bit.bor", MS_LIBRARY_BITS, 1, MANY, "ms_bit_bor", NULL},
    {"bit.bxor", MS_LIBRARY_BITS, 1, MANY, "ms_bit_bxor", NULL},
};

const ms_library *ms_library_find(const char *name, uint32_t arguments) {
  const ms_library *found = NULL;
  for (size_t k = 0; k < sizeof library / sizeof *library; k++) {
    const ms_library *entry = &library[k];
    if (strcmp(entry->name, name) != 0) continue;
    found = entry;
    if (arguments >= entry->least && arguments <= entry->most) return entry;
  }
  return found;
}

ms_measure ms_measure_find(const char *method) {
  static const char *const names[] = {
      [MS_MEASURE_DOT] = "dot",       [MS_MEASURE_SUM] = "sum",       [MS_MEASURE_NORM] = "norm",
      [MS_MEASURE_MEAN] = "mean",     [MS_MEASURE_MAX] = "max",       [MS_MEASURE_MIN] = "min",
      [MS_MEASURE_ARGMAX] = "argmax", [MS_MEASURE_ARGMIN] = "argmin", [MS_MEASURE_SIZE] = "size",
      [MS_MEASURE_DIM] = "dim"};
  for (size_t m = 1; m < sizeof names / sizeof *names; m++) {
    if (names[m] != NULL && strcmp(names[m], method) == 0) return (ms_measure)m;
  }
  const ms_method *known = ms_method_find(method);
  bool rowwise = known != NULL && known->rowwise && known->effect == MS_METHOD_READ;
  return rowwise ? MS_MEASURE_ROWWISE : MS_MEASURE_NONE;
}

static ms_kind_of called_builtin(const ms_typed *typed, const ms_node *node, const char *name) {
  if (strcmp(name, "assert") == 0 && node->kids > 1)
    return ms_typed_expression(typed, node->kid[1]);
  const ms_library *entry = ms_library_find(name, node->kids - 1);
  if (entry == NULL) return ms_kind_of_other();
  ms_kind_of kind = ms_kind_of_number(MS_ANY_PRECISION);
  if (entry->shape == MS_LIBRARY_BITS || entry->shape >= MS_LIBRARY_RANDOM) return kind;
  for (uint32_t k = 1; k < node->kids; k++) {
    ms_precision precision = ms_typed_expression(typed, node->kid[k]).precision;
    if (precision > kind.precision) kind.precision = precision;
  }
  return kind;
}

/* row:narrow(1, first, length), and A:select(d, i) of a matrix. */
static bool gives_part(const ms_typed *typed, const ms_node *node, const ms_kind_of *object) {
  bool narrow = strcmp(node->text, "narrow") == 0, select = strcmp(node->text, "select") == 0;
  if (object->object != MS_OBJECT_VIEW || node->kids != (narrow ? 4U : 3U)) return false;
  const ms_kernel_job *job = typed->emitter->job;
  uint32_t dims = job->bindings[object->array].dim_count - object->given;
  const ms_node *dim = node->kid[1];
  return (narrow || select) && dims == (narrow ? 1U : 2U) && dim->kind == MS_NUMBER &&
         !dim->boxed && (dim->number == 1 || (select && dim->number == 2));
}

static ms_kind_of called_method(const ms_typed *typed, const ms_node *node) {
  ms_kind_of object = ms_typed_expression(typed, node->kid[0]);
  if (object.can == 0) return object;
  if (gives_part(typed, node, &object)) {
    object.object = MS_OBJECT_PART;
    object.given = typed->emitter->job->bindings[object.array].dim_count - 1;
    return object;
  }
  ms_measure measure = ms_measure_find(node->text);
  if (object.object == MS_OBJECT_SPARSE && measure >= MS_MEASURE_SIZE)
    return ms_kind_of_number(MS_ANY_PRECISION);
  bool array = object.object == MS_OBJECT_VIEW || object.object == MS_OBJECT_PART;
  if (!array || measure == MS_MEASURE_NONE) return ms_kind_of_other();
  return ms_kind_of_number(MS_ANY_PRECISION);
}

ms_kind_of ms_typed_call(const ms_typed *typed, const ms_node *node, uint32_t at) {
  const ms_node *function = ms_typed_called(typed, node);
  if (function != NULL) {
    const ms_callee *callee = ms_typed_callee(typed, function);
    if (callee == NULL || at >= MS_RETURNS) return (ms_kind_of){0};
    return callee->result[at];
  }
  if (node->kind == MS_METHOD && at == 0) return called_method(typed, node);
  if (node->kind != MS_CALL) return ms_kind_of_other();
  ms_kind_of called = ms_typed_expression(typed, node->kid[0]);
  if (called.can == 0) return called;
  if (called.object != MS_OBJECT_BUILTIN) return ms_kind_of_other();
  if (at == 0) return called_builtin(typed, node, called.name);
  bool one = ms_library_find(called.name, node->kids - 1) != NULL;
  return one ? ms_kind_of_scalar(MS_CAN_NIL) : ms_kind_of_other();
}

bool ms_typed_single(const ms_typed *typed, const ms_node *node) {
  if (!ms_node_is_multiple(node)) return true;
  const ms_node *function = ms_typed_called(typed, node);
  if (function != NULL) {
    const ms_callee *callee = ms_typed_callee(typed, function);
    return callee != NULL && callee->results == 1;
  }
  if (node->kind == MS_METHOD)
    return ms_measure_find(node->text) != MS_MEASURE_NONE ||
           called_method(typed, node).object == MS_OBJECT_PART;
  if (node->kind != MS_CALL) return false;
  ms_kind_of called = ms_typed_expression(typed, node->kid[0]);
  return called.object == MS_OBJECT_BUILTIN && ms_library_find(called.name, node->kids - 1) != NULL;
}
