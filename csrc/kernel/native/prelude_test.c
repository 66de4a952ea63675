/* SPDX-License-Identifier: MIT
 *
 * The items of the prelude that a kernel gets: whatever name of the prelude it has, that and all
 * behind it is declared, and the machine's compiler takes the text; what it has no need of is not
 * there. Names are found by strtok here. */
#include "kernel/native/prelude.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "kernel/compile/toolchain.h"

#define TEXTS 512

/* Whether the compiler takes a text whose functions must all be declared. */
static bool is_taken(const char *text, bool fast) {
  char command[2048] = "cc -fsyntax-only -Werror=implicit-function-declaration";
  for (const char *const *flag = ms_toolchain_flags(fast); *flag != NULL; flag++) {
    if (strcmp(*flag, "-shared") == 0) continue;
    size_t used = strlen(command);
    snprintf(command + used, sizeof command - used, " %s", *flag);
  }
  strcat(command, " -");
  FILE *compiler = popen(command, "w");
  if (compiler == NULL) return false;
  fputs(text, compiler);
  return pclose(compiler) == 0;
}

/* A text that was seen before is not compiled again: most names have the same parts. */
static void check_text(ms_text *text, bool fast) {
  static char *seen[TEXTS];
  static int count;
  for (int k = 0; k < count; k++) {
    if (strcmp(seen[k], text->bytes) == 0) {
      ms_text_free(text);
      return;
    }
  }
  CHECK(is_taken(text->bytes, fast));
  CHECK(count < TEXTS);
  if (count < TEXTS) seen[count++] = text->bytes;
}

/* The prelude with spaces for comments and strings. */
static char *code_of(bool fast) {
  char *copy = strdup(ms_native_prelude(fast)), *end = copy;
  for (char *at = strstr(copy, "/*"); at != NULL; at = strstr(end, "/*")) {
    end = strstr(at, "*/") + 2;
    memset(at, ' ', (size_t)(end - at));
  }
  for (char *at = strchr(copy, '"'); at != NULL; at = strchr(end, '"')) {
    end = strchr(at + 1, '"') + 1;
    memset(at, ' ', (size_t)(end - at));
  }
  return copy;
}

static void check_names(bool fast) {
  char *copy = code_of(fast), *rest = NULL;
  const char *others = " \n\t\f\"'+-*/%=<>!&|^~?:;,.()[]{}#\\`";
  int names = 0;
  for (char *name = strtok_r(copy, others, &rest); name != NULL;
       name = strtok_r(NULL, others, &rest)) {
    if (strncmp(name, "ms_", 3) != 0 && strncmp(name, "MS_", 3) != 0) continue;
    ms_text text = {0};
    char kernel[256];
    snprintf(kernel, sizeof kernel, "(%s)", name);
    ms_native_prelude_for(fast, kernel, strlen(kernel), &text);
    CHECK(!text.failed && strstr(text.bytes, name) != NULL);
    check_text(&text, fast);
    names++;
  }
  CHECK(names > 500);
  free(copy);
}

/* What a kernel of these words has, and has not. */
static void check_items(const char *kernel, const char *there, const char *absent) {
  for (int fast = 0; fast < 2; fast++) {
    ms_text text = {0};
    ms_native_prelude_for(fast, kernel, strlen(kernel), &text);
    CHECK(strstr(text.bytes, "#include <stdint.h>") != NULL);
    CHECK(there == NULL || strstr(text.bytes, there) != NULL);
    CHECK(absent == NULL || strstr(text.bytes, absent) == NULL);
    CHECK(text.bytes[text.length - 1] == '\f');
    ms_text_free(&text);
  }
}

int main(void) {
  ms_test_limit(120);
  check_names(false);
  check_names(true);
  check_items("x = 3;", NULL, "ms_");
  check_items("ms_draws *draws", "uint32_t draw;", "ms_draws_begin(");
  check_items("ms_more_get(1)", "ms_more_find(", "ms_more_set(");
  check_items("ms_row_axpy_float_double(v, 1)", "MS_ADDED(", "MS_UPDATE(");
  check_items("ms_row_axpy_float_double(v, 1)", "MS_COMBINE_MIXED(", "ms_row_axpy_float_float(");
  check_items("ms_draws_begin(draws)", "ms_draws_begin(", "ms_row_axpy_float_float(");
  check_items("ms_row_axpy_float_float(v, 1)", "ms_row_axpy_float_float(", "ms_draws_begin(");
  check_items("/* ms_draws */ \"ms_draws \\\" ms_draws\"", NULL, "ms_draws");
  check_items("#line 1 \"a/*b\"\nms_draws *draws", "ms_draws", NULL);
  check_items("/* ", NULL, "ms_draws");
  return ms_test_end();
}
