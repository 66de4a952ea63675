/* SPDX-License-Identifier: MIT
 *
 * Emitter: the names in a kernel's text, and which capture a path belongs to. See emitter.h. */
#include "kernel/emit/emitter.h"

#include <inttypes.h>
#include <string.h>

static const char *const helper_key[] = {
#define MS_HELPER_KEY(name, key) [MS_HELPER_##name] = key,
    MS_KERNEL_HELPERS(MS_HELPER_KEY)
#undef MS_HELPER_KEY
};

static bool constant_key(const ms_node *node) {
  return node->kind == MS_INDEX && node->kid[1]->kind == MS_STRING;
}

static bool same_root(const ms_capture *capture, const ms_node *name) {
  if (capture->symbol != NULL || name->symbol != NULL) return capture->symbol == name->symbol;
  return strcmp(capture->root, name->text) == 0;
}

static bool prefix_of(const ms_capture *capture, const char **fields, uint32_t count) {
  if (capture->field_count > count) return false;
  for (uint32_t f = 0; f < capture->field_count; f++) {
    if (strcmp(capture->fields[f], fields[f]) != 0) return false;
  }
  return true;
}

/* The capture with the longest path that begins the path root.fields. */
static uint32_t longest(const ms_loop *loop, const ms_node *root, const char **fields,
                        uint32_t count) {
  uint32_t best = MS_NO_CAPTURE;
  for (uint32_t c = 0; c < loop->capture_count; c++) {
    const ms_capture *capture = &loop->captures[c];
    if (!same_root(capture, root) || !prefix_of(capture, fields, count)) continue;
    if (best == MS_NO_CAPTURE || capture->field_count > loop->captures[best].field_count) best = c;
  }
  return best;
}

uint32_t ms_emitter_find_capture(const ms_loop *loop, const ms_node *node,
                                 const ms_node *step[MS_PATH_FIELDS + 1], uint32_t *count) {
  *count = 0;
  while (constant_key(node) && *count < MS_PATH_FIELDS) {
    step[(*count)++] = node;
    node = node->kid[0];
  }
  if (node->kind != MS_NAME) return MS_NO_CAPTURE;
  step[*count] = node;
  const char *fields[MS_PATH_FIELDS];
  for (uint32_t f = 0; f < *count; f++) fields[f] = step[*count - 1 - f]->kid[1]->text;
  return longest(loop, node, fields, *count);
}

uint32_t ms_emitter_capture(const ms_emitter *emitter, const ms_node *node, const ms_node **value) {
  const ms_node *step[MS_PATH_FIELDS + 1];
  uint32_t count, at = ms_emitter_find_capture(emitter->job->loop, node, step, &count);
  if (at == MS_NO_CAPTURE) return at;
  uint32_t depth = emitter->job->bindings[at].depth;
  if (depth > count) return MS_NO_CAPTURE;
  *value = step[count - depth];
  return at;
}

void ms_emitter_helper(ms_emitter *emitter, ms_helper helper) {
  emitter->helper_used[helper] = true;
  ms_text_format(emitter->out, "%s%s", emitter->prefix, helper_key[helper]);
}

void ms_emitter_value(ms_emitter *emitter, uint32_t at) {
  if (emitter->spilled[at]) {
    ms_text_format(emitter->out, "%sk[%u]", emitter->prefix, at + 1);
  } else {
    ms_text_format(emitter->out, "%sc%u", emitter->prefix, at + 1);
  }
}

void ms_emitter_pointer(ms_emitter *emitter, uint32_t at) {
  emitter->pointer_used[at] = true;
  ms_text_format(emitter->out, "%sp%u", emitter->prefix, at + 1);
}

void ms_emitter_touched(ms_emitter *emitter, uint32_t at) {
  emitter->touched_used[at] = true;
  ms_text_format(emitter->out, "%sd%u", emitter->prefix, at + 1);
}

bool ms_emitter_row_major(const ms_emitter *emitter, uint32_t at) {
  const ms_binding *binding = &emitter->job->bindings[at];
  int64_t stride = 1;
  for (uint32_t d = binding->dim_count; d-- > 0;) {
    if (emitter->job->elements[at].strides[d] != stride) return false;
    stride *= binding->dims[d];
  }
  return true;
}

void ms_emitter_stride(ms_emitter *emitter, uint32_t at, uint32_t dim) {
  bool last = dim + 1 == emitter->job->bindings[at].dim_count;
  if (ms_emitter_row_major(emitter, at) && (last || !emitter->job->general)) {
    ms_text_format(emitter->out, "%" PRId64, emitter->job->elements[at].strides[dim]);
    return;
  }
  emitter->stride_used[at * MS_MAX_DIMS + dim] = true;
  ms_text_format(emitter->out, "%ss%u_%u", emitter->prefix, at + 1, dim + 1);
}

void ms_emitter_extent(ms_emitter *emitter, uint32_t at, uint32_t dim) {
  if (!emitter->job->general) {
    ms_text_format(emitter->out, "%" PRId64, emitter->job->bindings[at].dims[dim]);
    return;
  }
  emitter->extent_used[at * MS_MAX_DIMS + dim] = true;
  ms_text_format(emitter->out, "%se%u_%u", emitter->prefix, at + 1, dim + 1);
}

bool ms_emitter_is_reread(const ms_emitter *emitter, const ms_node *node) {
  if (!emitter->rereads) return false;
  for (; node != NULL && node != emitter->body; node = node->parent) {
    const ms_node *around = node->parent;
    if (node->kind == MS_FUNCTION) return true;
    if (around != NULL && around->kind == MS_FOR_GENERIC && around->kid[0]->kind == MS_CALL &&
        node == around->kid[around->kids - 1])
      return true;
  }
  return false;
}
