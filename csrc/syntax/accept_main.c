/* SPDX-License-Identifier: MIT
 *
 * accept: the parser's verdict on many texts, for comparison with loadstring.
 *
 *   accept FILE [spans]
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

static void judge(const char *text, size_t length, bool spans) {
  ms_error err;
  ms_error_clear(&err);
  ms_tree *tree = ms_tree_parse(text, length, "=text", &err);
  if (tree != NULL) {
    printf("ok");
    if (spans) print_spans(tree->main);
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
    fprintf(stderr, "usage: accept FILE [spans]\n");
    return 2;
  }
  bool spans = argc > 2 && strcmp(argv[2], "spans") == 0;
  size_t length;
  while (fscanf(file, "%zu", &length) == 1 && fgetc(file) == '\n') {
    char *text = malloc(length + 1);
    if (text == NULL || fread(text, 1, length, file) != length) return 2;
    text[length] = '\0';
    judge(text, length, spans);
    free(text);
  }
  fclose(file);
  return 0;
}
