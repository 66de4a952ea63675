/* SPDX-License-Identifier: MIT
 *
 * Builds: in the background and waited for, taken back, given up, in forked children and at the end
 * of a process. The compiler is a script that notes its runs. */
#include "kernel/compile/build.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/test.h"
#include "kernel/compile/loader.h"
#include "kernel/compile/toolchain.h"

#define PATIENCE 30.0 /* seconds that a compiler may take here */

static char directory[] = "/tmp/meissa-build-XXXXXX";
static char notes[64], compiler[64];

/* The compiler does `first`, notes the number in its source, and compiles. */
static void write_compiler(const char *first) {
  FILE *file = fopen(compiler, "w");
  CHECK(file != NULL);
  fprintf(file,
          "#!/bin/sh\n%s\n"
          "for each; do case $each in *.c) sed -n 's/.*number \\(.*\\);/\\1/p' $each >>%s;; esac; "
          "done\n"
          "exec cc \"$@\"\n",
          first, notes);
  fclose(file);
  CHECK(chmod(compiler, 0700) == 0);
}

/* What was compiled so far, as "1 2 "; forgets it. */
static const char *take_notes(void) {
  static char text[256];
  memset(text, 0, sizeof text);
  FILE *file = fopen(notes, "r");
  if (file != NULL) {
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    for (size_t k = 0; k < got; k++) {
      if (text[k] == '\n') text[k] = ' ';
    }
  }
  unlink(notes);
  return text;
}

static ms_build *make(int number) {
  char text[200];
  ms_error err = {0};
  int length = snprintf(text, sizeof text,
                        "int ms_native_run(const long long *b, void *s, void *r, void *f) { return "
                        "%d; }\n// number %d;\n",
                        number, number);
  ms_build *build = ms_build_new(text, (size_t)length, 0, &err);
  CHECK(build != NULL);
  return build;
}

static int run_object(ms_build *build) {
  ms_error err = {0};
  size_t size;
  const char *bytes = ms_build_object(build, &size);
  ms_loaded_kernel *object = bytes == NULL ? NULL : ms_loader_load(bytes, size, &err);
  if (object == NULL) return -1;
  int given = object->block(NULL, NULL, NULL, NULL);
  ms_loader_unload(object);
  return given;
}

static void test_states(void) {
  ms_build *build = make(1), *again = make(1);
  size_t size;
  CHECK(ms_build_state_of(build) == MS_BUILD_IDLE && ms_build_object(build, &size) == NULL);
  CHECK(ms_build_wait(build, 0.01) == MS_BUILD_IDLE);
  CHECK(strcmp(ms_build_key(build), ms_build_key(again)) == 0);
  CHECK(strcmp(ms_build_directory(build), directory) == 0);
  ms_build_start(build, 0);
  ms_build_start(build, 0);
  CHECK(ms_build_wait(build, PATIENCE) == MS_BUILD_READY && run_object(build) == 1);
  ms_build *third = make(1);
  CHECK(ms_build_state_of(third) == MS_BUILD_READY && run_object(third) == 1);
  CHECK(strcmp(take_notes(), "1 ") == 0);
  ms_build_release(build);
  ms_build_release(again);
  ms_build_release(third);
  ms_build_release(NULL);
}

static void test_queue(void) {
  write_compiler("sleep 0.2");
  ms_build *first = make(2), *later = make(3), *urgent = make(4), *dropped = make(5),
           *released = make(6);
  ms_build_start(first, 1e-6);
  while (ms_build_state_of(first) == MS_BUILD_QUEUED) ms_build_wait(first, 0.01);
  ms_build_start(later, 1e-6);
  ms_build_start(dropped, 1e-6);
  ms_build_start(released, 1e-6);
  ms_build_start(urgent, 0);
  ms_build_postpone(first); /* too late */
  ms_build_postpone(dropped);
  CHECK(ms_build_state_of(dropped) == MS_BUILD_IDLE);
  ms_build_release(released);
  CHECK(ms_build_wait(urgent, PATIENCE) == MS_BUILD_READY);
  CHECK(ms_build_wait(later, PATIENCE) == MS_BUILD_READY);
  CHECK(ms_build_state_of(first) == MS_BUILD_READY);
  CHECK(strcmp(take_notes(), "2 4 3 ") == 0);
  CHECK(run_object(first) == 2 && run_object(later) == 3 && run_object(urgent) == 4);
  ms_build_start(dropped, 0.3); /* not before it is due */
  CHECK(ms_build_wait(dropped, 0.1) == MS_BUILD_QUEUED);
  ms_build_start(dropped, 100); /* the earlier time holds */
  CHECK(ms_build_wait(dropped, PATIENCE) == MS_BUILD_READY && run_object(dropped) == 5);
  take_notes();
  ms_build_release(first);
  ms_build_release(later);
  ms_build_release(urgent);
  ms_build_release(dropped);
}

/* What is released while it runs is made all the same. */
static void test_release(void) {
  ms_build *build = make(7);
  ms_build_start(build, 0);
  while (ms_build_state_of(build) == MS_BUILD_QUEUED) ms_build_wait(build, 0.01);
  ms_build_release(build);
  build = make(8);
  ms_build_start(build, 0);
  CHECK(ms_build_wait(build, PATIENCE) == MS_BUILD_READY);
  ms_build_release(build);
  CHECK(strcmp(take_notes(), "7 8 ") == 0);
}

static void test_failure(void) {
  write_compiler("echo 'a: error: no' >&2; exit 3");
  ms_build *build = make(9);
  CHECK(strcmp(ms_build_trouble(build), "") == 0);
  ms_build_start(build, 0);
  CHECK(ms_build_wait(build, PATIENCE) == MS_BUILD_FAILED);
  CHECK(strcmp(ms_build_trouble(build), "a: error: no") == 0);
  ms_build_start(build, 0); /* once is enough */
  CHECK(ms_build_state_of(build) == MS_BUILD_FAILED);
  ms_build_release(build);
  ms_error err = {0};
  setenv("CC", "/nonexistent/cc", 1);
  CHECK(ms_build_new("int x;", 6, 0, &err) == NULL && err.code == MS_OPT);
  ms_error_clear(&err);
  CHECK(strstr(ms_toolchain_missing(&err), "/nonexistent/cc") != NULL);
  setenv("CC", "  ", 1);
  CHECK(strcmp(ms_toolchain_missing(&err), "") == 0);
  setenv("CC", compiler, 1);
}

/* Strict and fast objects of one text are two. */
static void test_flags(void) {
  ms_error err = {0};
  ms_build *strict = ms_build_new("int x;", 6, 0, &err), *fast = ms_build_new("int x;", 6, 1, &err);
  CHECK(strcmp(ms_build_key(strict), ms_build_key(fast)) != 0);
  for (int f = 0; f <= 1; f++) {
    bool off = false, bad = false;
    for (const char *const *flag = ms_toolchain_flags(f != 0); *flag != NULL; flag++) {
      off = off || strcmp(*flag, "-ffp-contract=off") == 0;
      bad = bad || strcmp(*flag, "-ffast-math") == 0 || strcmp(*flag, "-Ofast") == 0 ||
            strcmp(*flag, "-funsafe-math-optimizations") == 0;
    }
    CHECK(off == (f == 0) && !bad);
  }
  ms_build_release(strict);
  ms_build_release(fast);
}

/* A child made while the parent compiles and has something queued starts anew. */
static void test_fork(void) {
  if (MS_UNDER_TSAN) return; /* it cannot follow a fork with threads */
  write_compiler("sleep 0.2");
  ms_build *running = make(10), *queued = make(11);
  ms_build_start(running, 0);
  ms_build_start(queued, 1e-6);
  while (ms_build_state_of(running) == MS_BUILD_QUEUED) ms_build_wait(running, 0.01);
  pid_t child = fork();
  if (child == 0) {
    ms_test_limit(60);
    ms_test_failed = 0;
    CHECK(ms_build_state_of(running) == MS_BUILD_IDLE);
    CHECK(ms_build_state_of(queued) == MS_BUILD_IDLE);
    ms_build_start(running, 0);
    CHECK(ms_build_wait(running, PATIENCE) == MS_BUILD_READY && run_object(running) == 10);
    if (MS_UNDER_ASAN) _exit(ms_test_failed == 0 ? 0 : 1); /* what the thread held is lost */
    exit(ms_test_failed == 0 ? 0 : 1);                     /* with all that happens at the end */
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(ms_build_wait(running, PATIENCE) == MS_BUILD_READY && run_object(running) == 10);
  CHECK(ms_build_wait(queued, PATIENCE) == MS_BUILD_READY && run_object(queued) == 11);
  ms_build_release(running);
  ms_build_release(queued);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A process that ends while its compiler hangs does not wait for it, and leaves nothing. */
static void test_end(void) {
  if (MS_UNDER_TSAN) return;
  write_compiler("sleep 60");
  double before = seconds();
  pid_t child = fork();
  if (child == 0) {
    ms_test_limit(60);
    ms_build *build = make(12);
    ms_build_start(build, 0);
    while (ms_build_state_of(build) == MS_BUILD_QUEUED) ms_build_wait(build, 0.01);
    exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(seconds() - before < 20);
}

int main(void) {
  ms_test_limit(110);
  CHECK(mkdtemp(directory) != NULL);
  snprintf(notes, sizeof notes, "%s/notes", directory);
  snprintf(compiler, sizeof compiler, "%s/cc", directory);
  setenv("MEISSA_CACHE", directory, 1);
  setenv("CC", compiler, 1);
  write_compiler("");
  test_states();
  test_queue();
  test_release();
  test_failure();
  test_flags();
  test_fork();
  test_end();
  CHECK(strcmp(ms_build_notice(), "") == 0);
  char leftover[128];
  snprintf(leftover, sizeof leftover, "ls %s | grep -q '^tmp' && exit 1; exit 0", directory);
  CHECK(system(leftover) == 0);
  ms_directory_clear(directory);
  return ms_test_end();
}
