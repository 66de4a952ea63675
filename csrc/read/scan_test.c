/* SPDX-License-Identifier: MIT
 *
 * Tests of scanning: whatever the ranges, the threads and the number of files, the result and the
 * error are those of one thread that reads all at once. The formats are tested in spec/. */
#include "read/scan.h"

#include <string.h>

#include "base/philox.h"
#include "base/test.h"
#include "read/docword.h"
#include "read/libsvm.h"
#include "read/table.h"

#define MOST 20000

static char directory[] = "/tmp/meissa-scan-XXXXXX";

static uint32_t draw(uint64_t *state, uint32_t below) {
  ms_philox block = ms_philox_at(23, (*state)++, 0);
  return (uint32_t)(ms_philox_unit(ms_philox_half(&block, 0)) * below);
}

static const char *put(const char *name, const char *text) {
  static char paths[4][64];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
  return path;
}

static size_t libsvm_line(char *at, uint64_t *state) {
  int length = sprintf(at, "%d", (int)draw(state, 5) - 2);
  for (uint32_t id = 1 + draw(state, 3); id < 20; id += 1 + draw(state, 9)) {
    length += sprintf(at + length, " %u:%u.5", id, draw(state, 100));
  }
  return (size_t)length + (size_t)sprintf(at + length, draw(state, 7) == 0 ? "\r\n\n" : "\n");
}

static size_t table_line(char *at, uint64_t *state) {
  return (size_t)sprintf(at, "%u,%u.25,\"%u\"\n", draw(state, 9), draw(state, 9999),
                         draw(state, 9));
}

static void make_text(char *text, size_t (*line)(char *, uint64_t *), uint64_t *state) {
  size_t used = 0, room = 1 + draw(state, MOST - 300);
  while (used < room) used += line(text + used, state);
}

static bool same(const ms_array *a, const ms_array *b) {
  if (a->count != b->count || a->dims[0] != b->dims[0] || a->dims[1] != b->dims[1]) return false;
  for (int d = 0; a->sparse && d < 2; d++) {
    if (memcmp(a->coords[d], b->coords[d], (size_t)a->count * sizeof(int32_t)) != 0) return false;
  }
  return memcmp(a->data, b->data, (size_t)a->count * sizeof(double)) == 0;
}

static ms_array *read_libsvm(const ms_files *files, ms_error *err) {
  const ms_libsvm options = {.type = MS_DOUBLE};
  ms_array *labels = NULL, *examples = ms_libsvm_read(files, &options, &labels, err);
  CHECK((labels != NULL) == (examples != NULL));
  if (labels != NULL) {
    CHECK(labels->dims[0] == examples->dims[0]);
    ms_array_release(labels);
  }
  return examples;
}

static ms_array *read_table(const ms_files *files, ms_error *err) {
  const ms_table_options options = {.type = MS_DOUBLE};
  ms_column_names names;
  ms_array *array = ms_table_read(files, &options, &names, err);
  CHECK(names.count == 0);
  return array;
}

typedef ms_array *read_function(const ms_files *files, ms_error *err);

/* The same in many ranges and threads. */
static void check_alike(read_function *read, const char *const *paths, int64_t count,
                        uint64_t *state) {
  ms_error err = {0}, other = {0};
  ms_files files = {.paths = paths, .count = count, .threads = 1, .range_bytes = 1 << 20};
  ms_array *whole = read(&files, &err);
  files.threads = 1 + (int32_t)draw(state, 6);
  files.range_bytes = 1 + draw(state, 200);
  ms_array *ranges = read(&files, &other);
  CHECK((whole != NULL) == (ranges != NULL));
  if (whole != NULL && ranges != NULL) CHECK(same(whole, ranges));
  CHECK(err.code == other.code && err.line == other.line && strcmp(err.file, other.file) == 0 &&
        strcmp(err.message, other.message) == 0);
  ms_array_release(whole);
  ms_array_release(ranges);
}

static void test_alike(read_function *read, size_t (*line)(char *, uint64_t *), uint64_t state) {
  static char text[2][MOST];
  for (int round = 0; round < 60; round++) {
    make_text(text[0], line, &state);
    make_text(text[1], line, &state);
    const char *paths[] = {put("a", text[0]), put("b", text[1]), NULL};
    paths[2] = paths[0];
    check_alike(read, paths, 1 + draw(&state, 3), &state);
    for (int k = 0; k < 2; k++) { /* one fault or two: the first one is told */
      char *fault = text[k] + draw(&state, (uint32_t)strlen(text[k]));
      if (*fault != '\n') *fault = 'x';
      put(k == 0 ? "a" : "b", text[k]);
      check_alike(read, paths, 1 + draw(&state, 3), &state);
    }
  }
}

static void test_docword(void) {
  ms_error err = {0};
  char text[4096];
  size_t used = (size_t)sprintf(text, "10\n10\n200\n");
  for (int k = 0; k < 200; k++) {
    used += (size_t)sprintf(text + used, "%d %d %d\n", k % 10 + 1, k / 10 % 10 + 1, k + 1);
  }
  const char *path = put("docword", text);
  const ms_files files = {.paths = &path, .count = 1, .threads = 3, .range_bytes = 10};
  const ms_docword options = {.type = MS_DOUBLE};
  ms_array *counts = ms_docword_read(&files, &options, &err);
  CHECK(counts != NULL && counts->count == 200);
  for (int k = 0; counts != NULL && k < 200; k++) CHECK(((double *)counts->data)[k] == k + 1);
  ms_array_release(counts);
  sprintf(text + used, "1 1 1\n");
  put("docword", text);
  CHECK(ms_docword_read(&files, &options, &err) == NULL && err.line == 204);
}

static void test_missing_file(void) {
  ms_error err = {0};
  const char *paths[] = {put("a", "1 1:1\n"), "/nowhere/at/all", put("b", "1 1:x\n")};
  const ms_files files = {.paths = paths, .count = 3, .threads = 3};
  CHECK(read_libsvm(&files, &err) == NULL && strcmp(err.file, "/nowhere/at/all") == 0);
}

int main(void) {
  ms_test_limit(60);
  CHECK(mkdtemp(directory) != NULL);
  test_alike(read_libsvm, libsvm_line, 1);
  test_alike(read_table, table_line, 1000000);
  test_docword();
  test_missing_file();
  CHECK(ms_segment_bytes() == 0);
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", directory);
  CHECK(system(command) == 0);
  return ms_test_end();
}
