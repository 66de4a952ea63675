/* SPDX-License-Identifier: MIT
 *
 * accept: the parser's verdict on many texts, for comparison with loadstring.
 *
 *   accept FILE [spans | values | calls]
 *
 * FILE holds records: a decimal length, a newline, that many bytes, a newline. For each, one line
 * is printed: "ok", or "error LINE MESSAGE" with line breaks in the message made spaces. With
 * `spans`, the first and last line of every function follow the "ok", in the order of their ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syntax/tree.h"

static void print_spans(const ms_function *function) {
  for (const ms_function *each = function->first_child; each != NULL; each = each->next_sibling) {
    print_spans(each);
    printf(" %u-%u", each->first_line, each->last_line);
  }
}

static bool print_value(ms_node *node, void *context) {
  (void)context;
  if (node->kind == MS_NUMBER) printf(" %.17g%s", node->number, node->boxed ? "i" : "");
  if (node->kind != MS_STRING) return true;
  printf(" s");
  for (size_t i = 0; i < node->length; i++) printf("%02x", (unsigned char)node->text[i]);
  return true;
}

static bool print_call(ms_node *node, void *context) {
  (void)context;
  if (node->kind == MS_CALL || node->kind == MS_METHOD) printf(" %u", node->open_line);
  return true;
}

static void judge(const char *text, size_t length, const char *more) {
  ms_error err;
  ms_error_clear(&err);
  ms_tree *tree = ms_tree_parse(text, length, "=text", &err);
  if (tree != NULL) {
    printf("ok");
    if (strcmp(more, "spans") == 0) print_spans(tree->main);
    if (strcmp(more, "values") == 0) ms_node_walk(tree->main->body, print_value, NULL);
    if (strcmp(more, "calls") == 0) ms_node_walk(tree->main->body, print_call, NULL);
    printf("\n");
  } else {
    for (char *c = err.message; *c != '\0'; c++) {
      if (*c == '\n' || *c == '\r') *c = ' ';
    }
    printf("error %d %s\n", err.line, err.message);
  }
  ms_tree_destroy(&tree);
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) {
    fprintf(stderr, "usage: accept FILE [spans | values | calls]\n");
    return 2;
  }
  const char *more = argc > 2 ? argv[2] : "";
  size_t length;
  while (fscanf(file, "%zu", &length) == 1 && fgetc(file) == '\n') {
    char *text = malloc(length + 1);
    if (text == NULL || fread(text, 1, length, file) != length) return 2;
    text[length] = '\0';
    judge(text, length, more);
    free(text);
  }
  fclose(file);
  return 0;
}
