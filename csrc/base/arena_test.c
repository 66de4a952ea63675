/* SPDX-License-Identifier: MIT
 *
 * Arenas: memory that comes zeroed and aligned however often it was used before, limits, threads
 * that end. */
#include "base/arena.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/test.h"

static int all_zero(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != 0) return 0;
  }
  return 1;
}

/* Takes pieces of many sizes, fills them, frees them: again and again. */
static int use(void) {
  int good = 1;
  for (size_t round = 0; round < 50; round++) {
    ms_arena *arena = ms_arena_new(0);
    if (arena == NULL) return 0;
    for (size_t piece = 1; piece < 40; piece++) {
      size_t size = piece * piece * (round % 7 + 1) * 13 % 70000 + 1;
      unsigned char *memory = ms_arena_take(arena, size, 1);
      good = good && memory != NULL && (uintptr_t)memory % _Alignof(max_align_t) == 0 &&
             all_zero(memory, size);
      if (memory != NULL) memset(memory, 0xA5, size);
    }
    ms_arena_destroy(&arena);
    good = good && arena == NULL;
  }
  return good;
}

static void *use_in_thread(void *good) {
  *(int *)good = use();
  return NULL;
}

int main(void) {
  ms_test_limit(100);
  CHECK(use());
  pthread_t threads[4];
  int good[4] = {0};
  for (int t = 0; t < 4; t++)
    CHECK(pthread_create(&threads[t], NULL, use_in_thread, &good[t]) == 0);
  for (int t = 0; t < 4; t++) {
    pthread_join(threads[t], NULL);
    CHECK(good[t]);
  }
  ms_arena *small = ms_arena_new(1000);
  CHECK(ms_arena_take(small, 900, 1) != NULL && ms_arena_take(small, 200, 1) == NULL);
  CHECK(ms_arena_take(small, SIZE_MAX, 2) == NULL);
  CHECK(strcmp(ms_arena_format(small, "%d-%s", 7, "x"), "7-x") == 0);
  ms_arena_destroy(&small);
  return ms_test_end();
}
