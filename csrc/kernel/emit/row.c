/* SPDX-License-Identifier: MIT
 *
 * Row builtins: see transform_row.h. */
#include "kernel/emit/row.h"

#include <string.h>

static const ms_row_call known[] = {
    {.name = "dot", .argument = MS_ROW_ROW},
    {.name = "sum", .argument = MS_ROW_NONE},
    {.name = "norm", .argument = MS_ROW_NONE},
    {.name = "fill", .argument = MS_ROW_SCALAR, .statement = true},
    {.name = "scal", .argument = MS_ROW_SCALAR, .statement = true},
    {.name = "copy", .argument = MS_ROW_ROW, .statement = true},
    {.name = "cmul", .argument = MS_ROW_ROW, .statement = true},
    {.name = "axpy", .argument = MS_ROW_SCALED, .statement = true},
};

static const ms_row_call *find(const char *name, bool statement) {
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (known[k].statement == statement && strcmp(known[k].name, name) == 0) return &known[k];
  }
  return NULL;
}

static uint32_t arity(ms_row_argument argument) {
  return argument == MS_ROW_NONE ? 0 : argument == MS_ROW_SCALED ? 2 : 1;
}

static int64_t length(const ms_emitter *draft, const ms_index_path *row) {
  const ms_binding *binding = &draft->job->bindings[row->array];
  return binding->dims[binding->dim_count - 1];
}

static int32_t type_of(const ms_emitter *draft, const ms_index_path *row) {
  return draft->job->elements[row->array].type;
}

static bool add_row(const ms_emitter *draft, const ms_node *node, ms_row_call *call) {
  ms_index_path *row = &call->row[call->rows++];
  return ms_index_path_of(draft, node, row) && ms_index_path_row(draft, row);
}

/* A value that is a number whatever happens: others keep the face's argument checks. */
static bool number(const ms_emitter *draft, const ms_node *node) {
  if (node->kind == MS_PAREN || node->kind == MS_UNARY)
    return (node->kind == MS_PAREN || node->op == MS_OP_NEG) && number(draft, node->kid[0]);
  if (node->kind == MS_NUMBER) return !node->boxed;
  if (node->kind == MS_BINARY) return node->op <= MS_OP_POW;
  const ms_node *value;
  uint32_t at = ms_emitter_capture(draft, node, &value);
  return at != MS_NO_CAPTURE && value == node && draft->job->bindings[at].kind == MS_BIND_NUMBER &&
         !draft->job->loop->captures[at].assigned;
}

bool ms_row_call_of(const ms_emitter *draft, const ms_node *node, ms_row_call *call) {
  bool statement = node->kind == MS_EXPRESSION;
  if (statement) node = node->kid[0];
  if (node->kind != MS_METHOD) return false;
  const ms_row_call *found = find(node->text, statement);
  if (found == NULL || node->kids != 1 + arity(found->argument)) return false;
  *call = *found;
  call->node = node;
  if (!add_row(draft, node->kid[0], call)) return false;
  if (found->argument == MS_ROW_ROW && !add_row(draft, node->kid[1], call)) return false;
  if (found->argument == MS_ROW_SCALED && !add_row(draft, node->kid[2], call)) return false;
  if (found->argument >= MS_ROW_SCALAR) {
    call->scalar = node->kid[1];
    if (!number(draft, call->scalar)) return false;
  }
  for (uint32_t r = 0; r < call->rows; r++) {
    if (type_of(draft, &call->row[r]) > MS_DOUBLE) return false;
    if (length(draft, &call->row[r]) != length(draft, &call->row[0])) return false;
  }
  return true;
}

/* Remembers that the chunk needs a row helper. */
static void use(ms_emitter *draft, const char *name) {
  for (uint32_t r = 0; r < draft->row_count; r++) {
    if (strcmp(draft->rows[r], name) == 0) return;
  }
  if (draft->row_count < MS_ROW_HELPERS) draft->rows[draft->row_count++] = name;
}

void ms_row_call_text(ms_emitter *draft, const ms_row_call *call) {
  static const char *const types[] = {[MS_FLOAT] = "float", [MS_DOUBLE] = "double"};
  const char *first = types[type_of(draft, &call->row[0])];
  const char *second = call->rows > 1 ? types[type_of(draft, &call->row[1])] : "";
  char *name = ms_arena_format(draft->arena, "%s_%s%s%s", call->name, first,
                               call->rows > 1 ? "_" : "", second);
  if (name == NULL) {
    draft->out->failed = true;
    return;
  }
  use(draft, name);
  ms_text_format(draft->out, "%s%s(", draft->prefix, name);
  for (uint32_t r = 0; r < call->rows; r++) {
    const ms_index_path *row = &call->row[r];
    ms_emitter_pointer(draft, row->array);
    ms_text_add(draft->out, ",");
    ms_index_path_offset(draft, row, true);
    ms_text_add(draft->out, ",");
    ms_emitter_stride(draft, row->array, draft->job->bindings[row->array].dim_count - 1);
    ms_text_add(draft->out, ",");
    if (r > 0 || call->scalar == NULL) continue;
    ms_emitter_node(draft, call->scalar);
    ms_text_add(draft->out, ",");
  }
  uint32_t array = call->row[0].array;
  ms_emitter_extent(draft, array, draft->job->bindings[array].dim_count - 1);
  ms_text_add(draft->out, ")");
}
