/* SPDX-License-Identifier: MIT
 *
 * Arena: see arena.h. A list of chunks, each at least of the arena's chunk size, the newest first.
 *
 * Every plan and every job has arenas of about the same size for a short time. A thread keeps some
 * chunks of those that it has freed, up to its end: given back, they would leave the process and
 * come again as page faults, which take longer than what the chunks are needed for. */
#include "base/arena.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Large enough that a typical loop's tree fits in one. */
#define CHUNK_SIZE ((size_t)16 * 1024)
#define ALIGNMENT  alignof(max_align_t)

typedef struct chunk {
  struct chunk *next;
  size_t size, used;
  alignas(max_align_t) unsigned char bytes[];
} chunk;

/* Most that a thread keeps. */
#define SPARE_BYTES ((size_t)256 * 1024)

static _Thread_local struct {
  chunk *first;
  size_t bytes;
} spare;
static pthread_key_t spare_key; /* its destructor frees what an ending thread has kept */
static pthread_once_t spare_once = PTHREAD_ONCE_INIT;
static bool spare_works;

static void free_spare(void *given) {
  (void)given;
  while (spare.first != NULL) {
    chunk *gone = spare.first;
    spare.first = gone->next;
    free(gone);
  }
  spare.bytes = 0;
}

static void make_spare_key(void) {
  spare_works = pthread_key_create(&spare_key, free_spare) == 0;
}

/* When the module is unloaded or the process ends: no thread may call into it later. */
__attribute__((destructor)) static void delete_spare_key(void) {
  if (spare_works) pthread_key_delete(spare_key);
  spare_works = false;
  free_spare(NULL);
}

/* Frees a chunk, or keeps it; small ones stay in the process anyway. */
static void drop(chunk *gone) {
  pthread_once(&spare_once, make_spare_key);
  bool keep = spare_works && gone->size >= CHUNK_SIZE && gone->size <= SPARE_BYTES - spare.bytes &&
              pthread_setspecific(spare_key, &spare) == 0;
  if (!keep) {
    free(gone);
    return;
  }
  gone->next = spare.first;
  spare.first = gone;
  spare.bytes += gone->size;
}

/* A kept chunk of `size` bytes, zeroed; NULL when there is none. */
static chunk *take_spare(size_t size) {
  for (chunk **at = &spare.first; *at != NULL; at = &(*at)->next) {
    chunk *found = *at;
    if (found->size != size) continue;
    *at = found->next;
    spare.bytes -= size;
    memset(found->bytes, 0, found->used);
    found->used = 0;
    return found;
  }
  return NULL;
}

struct ms_arena {
  chunk *newest;
  size_t limit, used, chunk_size;
};

ms_arena *ms_arena_new_sized(size_t limit, size_t chunk_size) {
  ms_arena *arena = calloc(1, sizeof *arena);
  if (arena == NULL) return NULL;
  arena->limit = limit;
  arena->chunk_size = chunk_size;
  return arena;
}

ms_arena *ms_arena_new(size_t limit) {
  return ms_arena_new_sized(limit, CHUNK_SIZE);
}

void ms_arena_destroy(ms_arena **arena) {
  if (*arena == NULL) return;
  for (chunk *each = (*arena)->newest; each != NULL;) {
    chunk *next = each->next;
    drop(each);
    each = next;
  }
  free(*arena);
  *arena = NULL;
}

static chunk *add_chunk(ms_arena *arena, size_t bytes) {
  size_t size = bytes > arena->chunk_size ? bytes : arena->chunk_size;
  if (size > SIZE_MAX - sizeof(chunk)) return NULL;
  chunk *fresh = take_spare(size);
  if (fresh == NULL) fresh = calloc(1, sizeof *fresh + size);
  if (fresh == NULL) return NULL;
  fresh->size = size;
  fresh->next = arena->newest;
  arena->newest = fresh;
  return fresh;
}

void *ms_arena_take(ms_arena *arena, size_t count, size_t size) {
  if (size != 0 && count > (SIZE_MAX - ALIGNMENT) / size) return NULL;
  size_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (arena->limit != 0 && bytes > arena->limit - arena->used) return NULL;
  chunk *current = arena->newest;
  if (current == NULL || bytes > current->size - current->used) {
    current = add_chunk(arena, bytes);
    if (current == NULL) return NULL;
  }
  void *memory = current->bytes + current->used;
  current->used += bytes;
  arena->used += bytes;
  return memory;
}

char *ms_arena_copy(ms_arena *arena, const char *text, size_t length) {
  char *copy = length < SIZE_MAX ? ms_arena_take(arena, length + 1, 1) : NULL;
  if (copy != NULL && length > 0) memcpy(copy, text, length);
  return copy;
}

char *ms_arena_format(ms_arena *arena, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char *text = length < 0 ? NULL : ms_arena_take(arena, (size_t)length + 1, 1);
  if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(arguments);
  return text;
}
