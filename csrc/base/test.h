/* SPDX-License-Identifier: MIT
 *
 * The C tests' own small harness: CHECK counts, and the closing line says "N passed, N failed".
 * Include it in one *_test.c a program; end main with `return ms_test_end();`. */
#ifndef MS_BASE_TEST_H
#define MS_BASE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* 1 where the program runs under that sanitizer, for what cannot be tested there. */
#ifndef __has_feature
#define __has_feature(feature) 0 /* gcc 12; clang's word */
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define MS_UNDER_ASAN 1
#else
#define MS_UNDER_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define MS_UNDER_TSAN 1
#else
#define MS_UNDER_TSAN 0
#endif

static _Atomic int ms_test_passed, ms_test_failed; /* threads of a test count, too */

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (condition) {                                                            \
      ms_test_passed++;                                                         \
    } else {                                                                    \
      ms_test_failed++;                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                           \
  } while (0)

/* Ends this process, by SIGALRM, after so many seconds times MEISSA_TEST_SLOWDOWN. A forked child
 * has no alarm: it calls this, too. Whatever else is broken or held back, no process stays. */
static inline void ms_test_limit(unsigned seconds) {
  const char *slowdown = getenv("MEISSA_TEST_SLOWDOWN");
  int factor = slowdown != NULL ? atoi(slowdown) : 1;
  alarm(seconds * (factor > 0 ? (unsigned)factor : 1));
}

/* The seed of a random test, MEISSA_TEST_SEED where that is a number, a new one where it is
 * "random", else `usual`; it is printed. */
static inline unsigned long long ms_test_seed(unsigned long long usual) {
  const char *given = getenv("MEISSA_TEST_SEED");
  unsigned long long seed = usual;
  if (given != NULL)
    seed = given[0] == 'r' ? (unsigned long long)getpid() : strtoull(given, NULL, 0);
  printf("seed %llu\n", seed);
  return seed;
}

static int ms_test_end(void) {
  printf("%d passed, %d failed\n", ms_test_passed, ms_test_failed);
  return ms_test_failed == 0 && ms_test_passed > 0 ? 0 : 1;
}

#endif
