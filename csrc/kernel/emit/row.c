/* SPDX-License-Identifier: MIT
 *
 * Row builtins: see row.h. */
#include "kernel/emit/row.h"

#include <string.h>

/* One with a value is known where it is asked for, others as statements. */
static const ms_method *find(const char *name, bool statement) {
  const ms_method *method = ms_method_find(name);
  if (method == NULL || !method->rowwise) return NULL;
  return (method->effect == MS_METHOD_READ) == !statement ? method : NULL;
}

static int64_t length(const ms_emitter *emitter, const ms_index_path *row) {
  const ms_binding *binding = &emitter->job->bindings[row->array];
  return binding->dims[binding->dim_count - 1];
}

static int32_t type_of(const ms_emitter *emitter, const ms_index_path *row) {
  return emitter->job->elements[row->array].type;
}

static bool add_row(const ms_emitter *emitter, const ms_node *node, ms_row_call *call) {
  ms_index_path *row = &call->row[call->rows++];
  return ms_index_path_of(emitter, node, row) && ms_index_path_row(emitter, row) && !row->doubtful;
}

/* A value that is a number whatever happens: others keep the face's argument checks. */
static bool number(const ms_emitter *emitter, const ms_node *node) {
  if (node->kind == MS_PAREN || node->kind == MS_UNARY)
    return (node->kind == MS_PAREN || node->op == MS_OP_NEG) && number(emitter, node->kid[0]);
  if (node->kind == MS_NUMBER) return !node->boxed;
  if (node->kind == MS_BINARY) return node->op <= MS_OP_POW;
  const ms_node *value;
  uint32_t at = ms_emitter_capture(emitter, node, &value);
  return at != MS_NO_CAPTURE && value == node &&
         emitter->job->bindings[at].kind == MS_BIND_NUMBER &&
         !emitter->job->loop->captures[at].assigned;
}

bool ms_row_call_of(const ms_emitter *emitter, const ms_node *node, ms_row_call *call) {
  bool statement = node->kind == MS_EXPRESSION;
  if (statement) node = node->kid[0];
  if (node->kind != MS_METHOD) return false;
  const ms_method *method = find(node->text, statement);
  if (method == NULL || node->kids != 1u + method->number + method->other) return false;
  *call = (ms_row_call){.method = method, .node = node};
  if (!add_row(emitter, node->kid[0], call)) return false;
  if (method->other && !add_row(emitter, node->kid[node->kids - 1], call)) return false;
  if (method->number) {
    call->scalar = node->kid[1];
    if (!number(emitter, call->scalar)) return false;
  }
  for (uint32_t r = 0; r < call->rows; r++) {
    if (type_of(emitter, &call->row[r]) > MS_DOUBLE) return false;
    if (length(emitter, &call->row[r]) != length(emitter, &call->row[0])) return false;
  }
  return true;
}

/* Remembers that the chunk needs a row helper. */
static void use(ms_emitter *emitter, const char *name) {
  for (uint32_t r = 0; r < emitter->row_count; r++) {
    if (strcmp(emitter->rows[r], name) == 0) return;
  }
  if (emitter->row_count < MS_ROW_HELPERS) emitter->rows[emitter->row_count++] = name;
}

/* Where a row begins; marked where its array's elements are, and the call stores into it. */
static void begin_row(ms_emitter *emitter, const ms_index_path *row, bool stores) {
  bool marked = stores && emitter->job->elements[row->array].touched;
  if (marked) {
    ms_emitter_helper(emitter, MS_HELPER_TOUCH_ROW);
    ms_text_add(emitter->out, "(");
    ms_emitter_touched(emitter, row->array);
    ms_text_add(emitter->out, ",");
  }
  ms_index_path_offset(emitter, row, true);
  if (!marked) return;
  ms_text_add(emitter->out, ",");
  ms_emitter_extent(emitter, row->array, emitter->job->bindings[row->array].dim_count - 1);
  ms_text_add(emitter->out, ")");
}

void ms_row_call_text(ms_emitter *emitter, const ms_row_call *call) {
  static const char *const types[] = {[MS_FLOAT] = "float", [MS_DOUBLE] = "double"};
  const char *first = types[type_of(emitter, &call->row[0])];
  const char *second = call->rows > 1 ? types[type_of(emitter, &call->row[1])] : "";
  char *name = ms_arena_format(emitter->arena, "%s_%s%s%s", call->method->name, first,
                               call->rows > 1 ? "_" : "", second);
  if (name == NULL) {
    emitter->out->failed = true;
    return;
  }
  use(emitter, name);
  ms_text_format(emitter->out, "%s%s(", emitter->prefix, name);
  for (uint32_t r = 0; r < call->rows; r++) {
    const ms_index_path *row = &call->row[r];
    ms_emitter_pointer(emitter, row->array);
    ms_text_add(emitter->out, ",");
    begin_row(emitter, row, r == 0 && call->method->effect != MS_METHOD_READ);
    ms_text_add(emitter->out, ",");
    ms_emitter_stride(emitter, row->array, emitter->job->bindings[row->array].dim_count - 1);
    ms_text_add(emitter->out, ",");
    if (r > 0 || call->scalar == NULL) continue;
    ms_emitter_node(emitter, call->scalar);
    ms_text_add(emitter->out, ",");
  }
  uint32_t array = call->row[0].array;
  ms_emitter_extent(emitter, array, emitter->job->bindings[array].dim_count - 1);
  ms_text_add(emitter->out, ")");
}
