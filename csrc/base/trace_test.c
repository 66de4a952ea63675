/* SPDX-License-Identifier: MIT
 *
 * Traces: which categories are wanted, and lines that stay whole when several processes write. */
#include "base/trace.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "base/test.h"

#define WRITERS 4
#define LINES   2000

static const char *const malformed[] = {"",      ",",  "plan,",       "plan,,waits", "Plan",
                                        "plans", "pl", "all,nothing", " plan",       "plan;waits",
                                        "0",     "al", "alll"};

static void refuses_other_names(void) {
  for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
    ms_error err = {0};
    CHECK(ms_trace_open(malformed[i], NULL, &err) == -1 && err.code == MS_OPT);
    CHECK(strstr(err.message, "plan, kernel, blocks, messages, waits, workers, or all") != NULL);
    CHECK(ms_trace_flags() == 0);
  }
  ms_error err = {0};
  CHECK(ms_trace_open("plan", "/nowhere/at/all", &err) == -1 && err.code == MS_FIL);
  CHECK(ms_trace_flags() == 0 && ms_trace_file() == -1);
}

static void names_its_bits(void) {
  uint32_t all = 0, bit = 0;
  for (; ms_trace_name(bit) != NULL; bit++) all |= 1u << bit;
  CHECK(bit == 6 && all == 63 && ms_trace_name(31) == NULL);
  CHECK(strcmp(ms_trace_name(2), "blocks") == 0 && MS_TRACE_BLOCKS == 1 << 2);
}

/* One process of several: each as long a line as another number makes it. */
static void write_lines(uint32_t number) {
  char filler[600];
  ms_trace_setup setup = ms_trace_share();
  /* Where the parent's file is, which is where a worker would find it. */
  CHECK(dup2(ms_trace_file(), MS_TRACE_FD) == MS_TRACE_FD);
  ms_trace_join(&setup, number);
  for (uint32_t i = 0; i < LINES; i++) {
    size_t length = (i * 37 + number) % sizeof filler;
    memset(filler, 'a' + (int)number, length);
    filler[length == 0 ? 0 : length - 1] = '\0';
    ms_trace(MS_TRACE_BLOCKS, "line=%u %s", i, filler);
    ms_trace(MS_TRACE_KERNEL, "not wanted");
  }
}

/* Whether a line is what a writer has written as its next one, perhaps cut. */
static int is_whole(const char *line, size_t length, uint32_t *next) {
  uint32_t number, i;
  int at = 0;
  if (length >= MS_TRACE_LINE) return 0;
  if (sscanf(line, "trace %*u.%*9u worker-%u blocks line=%u%n", &number, &i, &at) != 2) return 0;
  if (line[at++] != ' ' || number < 1 || number > WRITERS || i != next[number - 1]++) return 0;
  size_t filler = (i * 37 + number - 1) % 600, have = length - (size_t)at;
  if (filler > 0) filler--;
  for (size_t k = 0; k < have; k++) {
    if (line[(size_t)at + k] != 'a' + (int)number - 1) return 0;
  }
  return have == filler || (have < filler && length == MS_TRACE_LINE - 1);
}

static void keeps_lines_whole(const char *path) {
  uint32_t next[WRITERS] = {0};
  for (uint32_t number = 0; number < WRITERS; number++) {
    pid_t child = fork();
    if (child != 0) continue;
    ms_test_limit(60);
    write_lines(number);
    _exit(ms_test_failed);
  }
  for (int status; wait(&status) > 0;) CHECK(status == 0);
  FILE *file = fopen(path, "r");
  char line[2000];
  int wrong = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strstr(line, "driver") != NULL) continue;
    wrong += !is_whole(line, strcspn(line, "\n"), next);
  }
  if (file != NULL) fclose(file);
  CHECK(wrong == 0);
  for (uint32_t number = 0; number < WRITERS; number++) CHECK(next[number] == LINES);
}

/* What the driver has written before its workers. */
static void prints_one_line(const char *path) {
  char line[MS_TRACE_LINE] = "";
  unsigned long long second = 1;
  int end = 0;
  ms_trace_event(MS_TRACE_PLAN, "loop=%s", "a\nb\tc\x7f");
  ms_trace_text(MS_TRACE_PLAN, "100 %s");
  ms_trace_text(MS_TRACE_KERNEL, "not wanted");
  ms_trace_text(1u << 20, "no category");
  FILE *file = fopen(path, "r");
  CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
  CHECK(sscanf(line, "trace %llu.%*9u driver plan loop=a?b?c?%n", &second, &end) == 1);
  CHECK(second == 0 && end > 0 && line[end] == '\n');
  CHECK(file != NULL && fgets(line, sizeof line, file) != NULL && strstr(line, "plan 100 %s\n"));
  CHECK(file != NULL && fgets(line, sizeof line, file) == NULL);
  if (file != NULL) fclose(file);
}

int main(void) {
  ms_test_limit(100);
  char path[] = "/tmp/meissa-trace-XXXXXX";
  int fd = mkstemp(path);
  ms_error err = {0};
  CHECK(fd >= 0);
  close(fd);
  names_its_bits();
  refuses_other_names();
  CHECK(ms_trace_open("blocks,plan", path, &err) == 0);
  CHECK(ms_trace_flags() == (MS_TRACE_BLOCKS | MS_TRACE_PLAN) && ms_trace_file() > MS_TRACE_FD);
  CHECK(ms_trace_open("all", NULL, &err) == 0); /* the second is not heard */
  CHECK(ms_trace_flags() == (MS_TRACE_BLOCKS | MS_TRACE_PLAN));
  prints_one_line(path);
  keeps_lines_whole(path);
  unlink(path);
  return ms_test_end();
}
