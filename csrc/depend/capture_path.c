/* SPDX-License-Identifier: MIT
 *
 * Paths of captures: nodes as captures of the loop. See capture_path.h. */
#include "depend/capture_path.h"

#include <string.h>

static bool same_root(const ms_capture *capture, const ms_node *name) {
  if (capture->symbol != NULL || name->symbol != NULL) return capture->symbol == name->symbol;
  return strcmp(capture->root, name->text) == 0;
}

int64_t ms_capture_path_of(const ms_loop *loop, const ms_node *node) {
  enum { MOST = 64 };
  const char *field[MOST];
  uint32_t count = 0;
  while (node->kind == MS_INDEX && node->kid[1]->kind == MS_STRING && count < MOST) {
    field[count++] = node->kid[1]->text;
    node = node->kid[0];
  }
  if (node->kind != MS_NAME) return -1;
  for (uint32_t c = 0; c < loop->capture_count; c++) {
    const ms_capture *capture = &loop->captures[c];
    if (capture->field_count != count || !same_root(capture, node)) continue;
    uint32_t equal = 0;
    while (equal < count && strcmp(capture->fields[equal], field[count - 1 - equal]) == 0) equal++;
    if (equal == count) return (int64_t)c;
  }
  return -1;
}

bool ms_capture_path_starts(const ms_loop *loop, const ms_node *name) {
  for (uint32_t c = 0; c < loop->capture_count; c++) {
    if (same_root(&loop->captures[c], name)) return true;
  }
  return false;
}

bool ms_capture_path_is(const ms_capture *capture, const ms_node *node) {
  for (uint32_t f = capture->field_count; f > 0; f--, node = node->kid[0]) {
    if (node->kind != MS_INDEX || node->kid[1]->kind != MS_STRING) return false;
    if (strcmp(node->kid[1]->text, capture->fields[f - 1]) != 0) return false;
  }
  return node->kind == MS_NAME && same_root(capture, node);
}
