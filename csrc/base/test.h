/* SPDX-License-Identifier: MIT
 *
 * The C tests' own small harness: CHECK counts, and the closing line says "N passed, N failed".
 * Include it in one *_test.c a program; end main with `return ms_test_end();`. */
#ifndef MS_BASE_TEST_H
#define MS_BASE_TEST_H

#include <stdio.h>

static int ms_test_passed, ms_test_failed;

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (condition) {                                                            \
      ms_test_passed++;                                                         \
    } else {                                                                    \
      ms_test_failed++;                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                           \
  } while (0)

static int ms_test_end(void) {
  printf("%d passed, %d failed\n", ms_test_passed, ms_test_failed);
  return ms_test_failed == 0 && ms_test_passed > 0 ? 0 : 1;
}

#endif
