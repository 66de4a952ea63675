/* SPDX-License-Identifier: MIT
 *
 * The reader of triples: what it reads, and what it says of files that it refuses. */
#include "read/triples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "array/labels.h"
#include "base/test.h"
#include "read/lines.h"
#include "read/number.h"

static char path[] = "/tmp/meissa-triples-XXXXXX";

static ms_array *read_triples(const char *file, const ms_triples *options, ms_error *err) {
  return ms_triples_read_files(&file, 1, options, err);
}

static void put(const char *text, size_t length) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(text, 1, length, file) == length);
  if (file != NULL) fclose(file);
}

static ms_triples defaults(void) {
  return (ms_triples){.comment = "#", .type = MS_DOUBLE};
}

/* A small file, the options for it, and the entries expected as "row,column,value" with labels. */
typedef struct good {
  const char *text, *separator;
  int64_t skip;
  int square, duplicates;
  int64_t rows, columns, count;
  double sum;
} good;

static const good goods[] = {
    {"1,2,3\n4,5,6\n", NULL, 0, 0, 0, 2, 2, 2, 9},
    {"u,i,r\n1,2,3.5\r\n4,2,6\r\n", NULL, 1, 0, 0, 2, 1, 2, 9.5},
    {"1\t2\t3\t999\n4\t5\t6\t999", NULL, 0, 0, 0, 2, 2, 2, 9},
    {"1::2::3::978300760\n1::3::0.5::978300760\n", NULL, 0, 0, 0, 1, 2, 2, 3.5},
    {"  7   8   1e1  \n\n# note\n7 9 -2.5e-1\n", NULL, 0, 0, 0, 1, 2, 2, 9.75},
    {"30 1412\n30 3352\n1412 30\n", NULL, 0, 1, 0, 3, 3, 3, 3},
    {"a|b|1\nb|a|2\n", "|", 0, 1, 0, 2, 2, 2, 3},
    {"\xEF\xBB\xBF"
     "1,2,3\n",
     NULL, 0, 0, 0, 1, 1, 1, 3},
    {"1,2,3\n1,2,4\n", NULL, 0, 0, MS_DUPLICATES_KEEP, 1, 1, 2, 7},
    {"1,2,3\n9,9,1\n1,2,4\n", NULL, 0, 0, MS_DUPLICATES_SUM, 2, 2, 2, 8},
    {"1,2,3\n9,9,1\n1,2,4\n", NULL, 0, 0, MS_DUPLICATES_LAST, 2, 2, 2, 5},
    {"\"x, y\",\"1\",\"2\"\nz,1,3\n", NULL, 0, 0, 0, 2, 1, 2, 5},
    {"99999999999999999999,1,2\n5,1,2\n", NULL, 0, 0, 0, 2, 1, 2, 4},
    {"\xff\xfe,1,2\n", NULL, 0, 0, 0, 1, 1, 1, 2},
    {"1,2,3 \n 4 ,5,6\n", ",", 0, 0, 0, 2, 2, 2, 9},
    {"1;2;3\n4;5;6\n", NULL, 0, 0, 0, 2, 2, 2, 9},
    {"a, b;c;3\nd;c;6\n", NULL, 0, 0, 0, 2, 1, 2, 9},
    {"a, b\tc\t3\nd\tc\t6\n", NULL, 0, 0, 0, 2, 1, 2, 9},
    {"Toy Story (1995),5\nHeat (1995),5\n", NULL, 0, 0, 0, 2, 1, 2, 2},
};

static void test_good(void) {
  for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
    const good *each = &goods[i];
    ms_error err = {0};
    ms_triples options = defaults();
    options.separator = each->separator;
    options.skip = each->skip;
    options.square = each->square;
    options.duplicates = each->duplicates;
    put(each->text, strlen(each->text));
    ms_array *array = read_triples(path, &options, &err);
    CHECK(array != NULL);
    if (array == NULL) {
      fprintf(stderr, "case %zu: %s\n", i, err.message);
      continue;
    }
    double sum = 0;
    for (int64_t e = 0; e < array->count; e++) sum += ((double *)array->data)[e];
    CHECK(array->dims[0] == each->rows && array->dims[1] == each->columns);
    CHECK(array->count == each->count && sum == each->sum);
    CHECK(ms_array_check_coords(array, &err) == 0);
    ms_array_release(array);
  }
}

typedef struct bad {
  const char *text;
  const char *separator;
  int64_t skip;
  int type, duplicates;
  int line;
  const char *says;
} bad;

static const bad bads[] = {
    {"", NULL, 0, MS_DOUBLE, 0, 0, "empty"},
    {"# only\n\n", NULL, 0, MS_DOUBLE, 0, 0, "no entries"},
    {"1,2,3\n", NULL, 1, MS_DOUBLE, 0, 0, "no entries"},
    {"userId,movieId,rating\n1,2,3\n", NULL, 0, MS_DOUBLE, 0, 1, "skip = 1"},
    {"from to\n1 2\n3 4\n", NULL, 0, MS_DOUBLE, 0, 1, "skip = 1"},
    {"from to\n1 x\n3 y\n", NULL, 0, MS_DOUBLE, 0, 1, "id of column 1 that is no integer"},
    {"from to\nx 1\ny 3\n", NULL, 0, MS_DOUBLE, 0, 1, "id of column 2 that is no integer"},
    {"a,b\nfrom,to\nx,1\n", NULL, 1, MS_DOUBLE, 0, 2, "skip = 2, else skip = 0"},
    {"1,2,3\n4,5\n", NULL, 0, MS_DOUBLE, 0, 2, "expected 3 fields separated by ',', found 2"},
    {"1 2\n3 4 5\n", NULL, 0, MS_DOUBLE, 0, 2, "expected 2 fields separated by blanks"},
    {"1\n", NULL, 0, MS_DOUBLE, 0, 1, "expected 2 or 3 fields"},
    {"1,2,3\n\n# x\n4,5,six\n", NULL, 0, MS_DOUBLE, 0, 4, "found 'six'"},
    {"1,2,nan\n", NULL, 0, MS_DOUBLE, 0, 1, "finite number"},
    {"1,2,3\n1,2,inf\n", NULL, 0, MS_DOUBLE, 0, 2, "finite number"},
    {"1,2,3\n1,2,0x10\n", NULL, 0, MS_DOUBLE, 0, 2, "finite number"},
    {"1,2,3\n1,2,1e999\n", NULL, 0, MS_DOUBLE, 0, 2, "finite number"},
    {"1,2,3\n1,2,\n", NULL, 0, MS_DOUBLE, 0, 2, "finite number"},
    {"1,2,3\n1,,4\n", NULL, 0, MS_DOUBLE, 0, 2, "expected an id in field 2"},
    {"1,2,3\n1,2,3.5\n", NULL, 0, MS_INT32, 0, 2, "type int32"},
    {"1,2,3\n1,2,3e9\n", NULL, 0, MS_INT32, 0, 2, "type int32"},
    {"1,2,3\n4,4,4\n1,2,9\n", NULL, 0, MS_DOUBLE, MS_DUPLICATES_ERROR, 3, "line 1"},
    {"1,2,3\n4;4;4\n", NULL, 0, MS_DOUBLE, 0, 2, "found 1"},
    {"1;2;3,5\n", NULL, 0, MS_DOUBLE, 0, 1, "found '3,5'"},
    {"1,2,\x1b[31m\xff\n", NULL, 0, MS_DOUBLE, 0, 1, "found '\\x1B[31m\\xFF'"},
};

static void test_bad(void) {
  for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
    const bad *each = &bads[i];
    ms_error err = {0};
    ms_triples options = defaults();
    options.separator = each->separator;
    options.skip = each->skip;
    options.type = each->type;
    options.duplicates = each->duplicates;
    put(each->text, strlen(each->text));
    CHECK(read_triples(path, &options, &err) == NULL);
    bool right = err.code == MS_FIL && err.line == each->line &&
                 strstr(err.message, each->says) != NULL && strcmp(err.file, path) == 0;
    if (!right) fprintf(stderr, "case %zu: line %d: %s\n", i, err.line, err.message);
    CHECK(right);
  }
  CHECK(ms_segment_bytes() == 0);
}

static void test_labels(void) {
  ms_error err = {0};
  ms_triples options = defaults();
  put("30,b,1\n-2,a,2\n7,b,3\n", 20);
  ms_array *array = read_triples(path, &options, &err);
  CHECK(array != NULL && array->labels[0]->numbers[0] == -2);
  CHECK(array->coords[0][0] == 2 && array->coords[0][1] == 0 && array->coords[0][2] == 1);
  CHECK(ms_labels_find_string(array->labels[1], "b", 1) == 0);
  put("7,a,1\n", 6);
  options.like = array;
  ms_array *like = read_triples(path, &options, &err);
  CHECK(like != NULL && like->dims[0] == 3 && like->coords[0][0] == 1 && like->coords[1][0] == 1);
  CHECK(like->labels[0] == array->labels[0] && like->labels[0]->references == 2);
  put("7,a,1\n8,a,1\n", 12);
  CHECK(read_triples(path, &options, &err) == NULL && err.line == 2);
  CHECK(strstr(err.message, "'8'") != NULL);
  ms_array_release(array);
  ms_array_release(like);
}

static void test_gzip(void) {
  ms_error err = {0};
  ms_triples options = defaults();
  gzFile out = gzopen(path, "wb");
  for (int i = 0; i < 20000; i++) gzprintf(out, "%d,%d,%d\n", i * 7919 % 5003, i, i % 5);
  gzclose(out);
  ms_array *array = read_triples(path, &options, &err);
  CHECK(array != NULL && array->count == 20000 && array->dims[0] == 5003);
  ms_array_release(array);
  FILE *file = fopen(path, "ab");
  long size = ftell(file);
  fputs("1,2,3\n", file);
  fclose(file);
  CHECK(read_triples(path, &options, &err) == NULL && err.code == MS_FIL && err.line == 20001);
  CHECK(strstr(err.message, "follow the end of the gzip data") != NULL);
  ms_error_clear(&err);
  CHECK(truncate(path, size / 2) == 0);
  CHECK(read_triples(path, &options, &err) == NULL && err.code == MS_FIL);
  CHECK(strstr(err.message, "truncated") != NULL);
  file = fopen(path, "r+b");
  fseek(file, size / 4, SEEK_SET);
  for (int i = 0; i < 64; i++) fputc(0x55, file);
  fclose(file);
  ms_error_clear(&err);
  CHECK(read_triples(path, &options, &err) == NULL && err.code == MS_FIL);
}

static void test_long_lines(void) {
  ms_error err = {0};
  ms_triples options = defaults();
  size_t length = (size_t)3 << 20;
  char *text = malloc(length);
  memset(text, 'x', length);
  put(text, length);
  CHECK(read_triples(path, &options, &err) == NULL && strstr(err.message, "longer") != NULL);
  CHECK(err.line == 1);
  /* The limit is exact, wherever the line stands in the file. */
  for (size_t more = 0; more < 2; more++) {
    text[4] = '\n';
    memcpy(text, "1,2", 3);
    text[3] = ' ';
    size_t stop = 5 + MS_LINE_LIMIT + more;
    memcpy(text + stop - 4, ",1,2", 4);
    text[stop] = '\n';
    options.separator = ",";
    put(text, stop + 1);
    ms_error_clear(&err);
    ms_array *limit = read_triples(path, &options, &err);
    CHECK(limit == NULL && err.line == 2);
    CHECK((strstr(err.message, "longer than 1048576 bytes") != NULL) == (more == 1));
    memset(text, 'x', length);
  }
  options.separator = NULL;
  /* A long id is fine, and lines that straddle the buffer are. */
  for (size_t i = 0; i + 1000 < length; i += 1000) memcpy(text + i + 990, ",1,2\n", 5);
  put(text, length / 1000 * 1000 - 1000 + 995);
  ms_error_clear(&err);
  ms_array *array = read_triples(path, &options, &err);
  CHECK(array != NULL && array->count == (int64_t)(length / 1000));
  if (array != NULL) CHECK(array->dims[0] == 2);
  if (array != NULL) ms_array_release(array);
  free(text);
}

static void test_no_file(void) {
  ms_error err = {0};
  ms_triples options = defaults();
  CHECK(read_triples("/nowhere/at/all", &options, &err) == NULL && err.code == MS_FIL);
  ms_error_clear(&err);
  CHECK(read_triples("/tmp", &options, &err) == NULL && strstr(err.message, "directory"));
}

typedef struct literal {
  const char *text;
  bool number;
} literal;

static void test_numbers(void) {
  static const literal literals[] = {
      {"0", true},
      {"-0", true},
      {"1.5", true},
      {".5", true},
      {"5.", true},
      {"+3", true},
      {"1e3", true},
      {"1E-3", true},
      {"1e+3", true},
      {"", false},
      {".", false},
      {"-", false},
      {"1e", false},
      {"1e+", false},
      {"1.2.3", false},
      {"1 ", false},
      {"0x1", false},
      {"nan", false},
      {"inf", false},
      {"1e309", false},
      {"123456789012345678901234567890", true},
      {"0.1", true},
      {"2.2250738585072014e-308", true},
      {"179769313486231570000e288", true},
      {"1e-400", true},
      {"--1", false},
      {"1,5", false},
  };
  for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++) {
    double value = 0;
    bool number = ms_number_parse(literals[i].text, strlen(literals[i].text), &value);
    CHECK(number == literals[i].number);
    if (number) CHECK(value == strtod(literals[i].text, NULL));
  }
  int64_t integer;
  CHECK(ms_number_integer("-12", 3, &integer) && integer == -12);
  CHECK(ms_number_integer("0", 1, &integer) && integer == 0);
  CHECK(!ms_number_integer("-0", 2, &integer) && !ms_number_integer("007", 3, &integer));
  CHECK(!ms_number_integer("", 0, &integer) && !ms_number_integer("-", 1, &integer));
  CHECK(ms_number_integer("9007199254740992", 16, &integer));
  CHECK(!ms_number_integer("9007199254740993", 16, &integer));
  CHECK(!ms_number_integer("+1", 2, &integer) && !ms_number_integer("1.0", 3, &integer));
}

/* Every printed double must be read back, and short decimals as strtod does. */
static void test_round_trip(void) {
  uint64_t state = 88172645463325252u;
  bool same = true;
  for (int i = 0; i < 20000; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    double x, back = 0;
    memcpy(&x, &state, sizeof x);
    if (!isfinite(x)) continue;
    char text[64];
    int length = snprintf(text, sizeof text, "%.17g", x);
    same = same && ms_number_parse(text, (size_t)length, &back) && memcmp(&x, &back, 8) == 0;
    length = snprintf(text, sizeof text, "%.4f", (double)(state >> 40) / 7.0);
    same = same && ms_number_parse(text, (size_t)length, &back) && back == strtod(text, NULL);
  }
  CHECK(same);
}

int main(void) {
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  test_good();
  test_bad();
  test_labels();
  test_gzip();
  test_long_lines();
  test_no_file();
  test_numbers();
  test_round_trip();
  unlink(path);
  return ms_test_end();
}
