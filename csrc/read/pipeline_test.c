/* SPDX-License-Identifier: MIT
 *
 * Reading by several threads, a range at a time, against reading all by one: the same array, bit
 * for bit, or the same error, over random files of every kind of line that a reader accepts or
 * refuses. MEISSA_TEST_SEED replays. */
#include "read/pipeline.h"

#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "array/labels.h"
#include "base/philox.h"
#include "base/test.h"
#include "base/text.h"
#include "read/triples.h"

#define FILES 3000

static char path[] = "/tmp/meissa-pipeline-XXXXXX";
static uint64_t seed, file_number, draws;

static ms_array *read_triples(const char *file, const ms_triples *options, ms_error *err) {
  return ms_triples_read_files(&file, 1, options, err);
}

/* Uniform in 0..n-1. */
static uint64_t draw(uint64_t n) {
  ms_philox block = ms_philox_at(seed, file_number, draws++);
  return ms_philox_half(&block, 0) % n;
}

static bool one_in(uint64_t n) {
  return draw(n) == 0;
}

/* How a random file is made. */
typedef struct style {
  const char *separator, *end;
  int columns;
  uint64_t ids;     /* how many different ones */
  uint64_t strings; /* 1 in so many ids is no integer; 0: none */
  uint64_t faults;  /* 1 in so many lines is wrong; 0: none */
} style;

static void add_id(ms_text *text, const style *s) {
  uint64_t id = draw(s->ids);
  bool string = s->strings > 0 && one_in(s->strings);
  ms_text_format(text, string ? "x%llu" : "%llu", (unsigned long long)id);
}

static void add_good_line(ms_text *text, const style *s) {
  if (one_in(12)) ms_text_add(text, one_in(2) ? "# a comment, with, commas" : "  ");
  if (text->length > 0 && text->bytes[text->length - 1] != '\n') {
    ms_text_add(text, s->end);
    return;
  }
  add_id(text, s);
  ms_text_add(text, s->separator);
  add_id(text, s);
  if (s->columns == 3) {
    ms_text_add(text, s->separator);
    static const char *const forms[] = {"%.0f", "%.2f", "%.17g", "%g", "%.12e"};
    ms_text_format(text, forms[draw(5)], ((double)draw(2000001) - 1e6) / 7.0);
  }
  if (s->columns == 3 && one_in(3)) ms_text_format(text, "%s99", s->separator);
  ms_text_add(text, s->end);
}

static void add_bad_line(ms_text *text, const style *s) {
  static const char nul[] = "1\0002\n", garbage[] = "\x01\xff\x02,\x1b[31m,\x03\n";
  switch (draw(6)) {
    case 0:
      ms_text_add(text, "1");
      break;
    case 1:
      ms_text_format(text, "1%s2%snine", s->separator, s->separator);
      break;
    case 2:
      ms_text_format(text, "1%s%s3", s->separator, s->separator);
      break;
    case 3:
      ms_text_append(text, nul, sizeof nul - 1);
      return;
    case 4:
      ms_text_append(text, garbage, sizeof garbage - 1);
      return;
    default:
      ms_text_format(text, "1%s2%s1e999", s->separator, s->separator);
      break;
  }
  ms_text_add(text, s->end);
}

static ms_text random_text(const style *s) {
  ms_text text = {0};
  if (one_in(10)) ms_text_add(&text, "\xEF\xBB\xBF");
  if (one_in(6)) ms_text_format(&text, "user%sitem%srating\n", s->separator, s->separator);
  uint64_t lines = one_in(20) ? draw(3) : draw(200);
  for (uint64_t l = 0; l < lines; l++) {
    if (s->faults > 0 && one_in(s->faults)) {
      add_bad_line(&text, s);
    } else {
      add_good_line(&text, s);
    }
  }
  if (text.length > 0 && one_in(3)) text.length--;
  return text;
}

static style random_style(void) {
  static const char *const separators[] = {",", "\t", " ", "::", ";"};
  style s = {.separator = separators[draw(5)],
             .end = one_in(4) ? "\r\n" : "\n",
             .columns = 2 + (int)draw(2),
             .ids = 1 + draw(one_in(2) ? 5 : 300)};
  if (one_in(2)) s.strings = 1 + draw(100);
  if (one_in(3)) s.faults = 5 + draw(200);
  return s;
}

/* Writes the text plain, or as a gzip file of some members that may be cut short, be followed by
 * other bytes, or have a wrong byte. */
static void put(const ms_text *text, bool gzip) {
  FILE *file = fopen(path, "wb");
  if (!gzip) {
    size_t length = text->length;
    CHECK(file != NULL && (length == 0 || fwrite(text->bytes, 1, length, file) == length));
    fclose(file);
    return;
  }
  fclose(file);
  size_t half = draw(text->length + 1);
  gzFile out = gzopen(path, "wb");
  if (half > 0) gzwrite(out, text->bytes, (unsigned)half);
  gzclose(out);
  out = gzopen(path, "ab");
  if (text->length > half) gzwrite(out, text->bytes + half, (unsigned)(text->length - half));
  gzclose(out);
  file = fopen(path, "r+b");
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  uint64_t fate = draw(8);
  if (fate == 0) fputs("more", file);
  if (fate == 1) {
    fseek(file, (long)draw((uint64_t)size), SEEK_SET);
    fputc((int)draw(256), file);
  }
  fclose(file);
  if (fate == 2) CHECK(truncate(path, (long)draw((uint64_t)size)) == 0);
}

static bool same_labels(const ms_labels *a, const ms_labels *b) {
  if (a == NULL || b == NULL) return a == b;
  if (a->count != b->count || (a->numbers == NULL) != (b->numbers == NULL)) return false;
  size_t count = (size_t)a->count;
  if (a->numbers != NULL) return memcmp(a->numbers, b->numbers, count * sizeof *a->numbers) == 0;
  return memcmp(a->offsets, b->offsets, (count + 1) * sizeof *a->offsets) == 0 &&
         memcmp(a->bytes, b->bytes, (size_t)a->offsets[count]) == 0;
}

static bool same_array(const ms_array *a, const ms_array *b) {
  if (a->count != b->count || a->type != b->type) return false;
  for (int d = 0; d < 2; d++) {
    if (a->dims[d] != b->dims[d] || !same_labels(a->labels[d], b->labels[d])) return false;
    if (memcmp(a->coords[d], b->coords[d], (size_t)a->count * sizeof(int32_t)) != 0) return false;
  }
  return memcmp(a->data, b->data, (size_t)a->count * ms_type_of(a->type)->size) == 0;
}

static bool same_error(const ms_error *a, const ms_error *b) {
  return a->code == b->code && a->line == b->line && strcmp(a->file, b->file) == 0 &&
         strcmp(a->message, b->message) == 0;
}

static int arrays_seen, errors_seen;

static void compare(ms_triples options) {
  ms_error one_error = {0}, other_error = {0};
  options.threads = 1;
  options.range_bytes = 1 << 24;
  ms_array *one = read_triples(path, &options, &one_error);
  options.threads = 1 + (int)draw(4);
  options.range_bytes = 1 + (int64_t)draw(one_in(2) ? 50 : 2000);
  ms_array *other = read_triples(path, &options, &other_error);
  bool same = (one == NULL) == (other == NULL) &&
              (one != NULL ? same_array(one, other) : same_error(&one_error, &other_error));
  CHECK(same);
  if (!same) {
    fprintf(stderr, "file %llu, range %lld, %d threads:\n  %s:%d: %s\n  %s:%d: %s\n",
            (unsigned long long)file_number, (long long)options.range_bytes, options.threads,
            one_error.file, one_error.line, one_error.message, other_error.file, other_error.line,
            other_error.message);
  }
  arrays_seen += one != NULL;
  errors_seen += one == NULL;
  if (one != NULL) ms_array_release(one);
  if (other != NULL) ms_array_release(other);
}

static void test_random(ms_array *like) {
  for (file_number = 0; file_number < FILES; file_number++) {
    draws = 0;
    style s = random_style();
    ms_text text = random_text(&s);
    CHECK(!text.failed);
    put(&text, one_in(4));
    ms_text_free(&text);
    ms_triples options = {.comment = one_in(5) ? NULL : "#",
                          .separator = one_in(3) ? s.separator : NULL,
                          .skip = one_in(2) ? 0 : (int64_t)draw(4),
                          .square = one_in(4),
                          .type = one_in(4) ? MS_INT32 : (int32_t)draw(2),
                          .duplicates = one_in(2) ? 0 : (int32_t)draw(4),
                          .like = one_in(12) ? like : NULL};
    compare(options);
  }
  /* Both kinds of result were met often. */
  CHECK(arrays_seen > FILES / 10 && errors_seen > FILES / 10);
  printf("%d arrays, %d errors\n", arrays_seen, errors_seen);
}

/* Large enough for the usual ranges and threads. */
static void test_large(void) {
  ms_text text = {0};
  file_number = FILES;
  draws = 0;
  style s = {.separator = ",", .end = "\n", .columns = 3, .ids = 5000};
  while (text.length < (size_t)4 << 20) add_good_line(&text, &s);
  put(&text, false);
  ms_error one_error = {0}, other_error = {0};
  ms_triples options = {.comment = "#", .type = MS_FLOAT, .threads = 1, .range_bytes = 1 << 30};
  ms_array *one = read_triples(path, &options, &one_error);
  options.threads = 0;
  options.range_bytes = 0;
  ms_array *other = read_triples(path, &options, &other_error);
  CHECK(one != NULL && other != NULL && same_array(one, other));
  ms_array_release(one);
  ms_array_release(other);
  /* The error of the first of two bad lines far apart, whoever finds his first. */
  memcpy(text.bytes + text.length - 6, "\nbad\n", 5);
  char *middle = strchr(text.bytes + text.length / 2, '\n');
  CHECK(middle != NULL);
  if (middle != NULL) middle[1] = '\0';
  put(&text, false);
  CHECK(read_triples(path, &options, &other_error) == NULL);
  int line = 1;
  for (const char *c = text.bytes; c <= middle; c++) line += *c == '\n';
  CHECK(other_error.line == line && strstr(other_error.message, "NUL") != NULL);
  ms_text_free(&text);
}

static ms_array *make_like(ms_error *err) {
  ms_text text = {0};
  for (int i = 0; i < 5; i++) ms_text_format(&text, "%d,%d\n", i, i);
  put(&text, false);
  ms_text_free(&text);
  return read_triples(path, &(ms_triples){.type = MS_DOUBLE}, err);
}

int main(void) {
  ms_test_limit(100);
  const char *replay = getenv("MEISSA_TEST_SEED");
  seed = replay != NULL ? strtoull(replay, NULL, 10) : 20240707;
  printf("seed %llu (MEISSA_TEST_SEED replays)\n", (unsigned long long)seed);
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  ms_error err = {0};
  ms_array *like = make_like(&err);
  CHECK(like != NULL);
  test_random(like);
  test_large();
  ms_array_release(like);
  CHECK(ms_segment_bytes() == 0);
  unlink(path);
  return ms_test_end();
}
