/* SPDX-License-Identifier: MIT
 *
 * Arena: many small allocations with one lifetime, freed together.
 *
 * The owner of the arena owns everything taken from it. Not thread safe. Memory comes zeroed and
 * aligned for any object. Exhaustion returns NULL; callers report it, nothing aborts. */
#ifndef MS_BASE_ARENA_H
#define MS_BASE_ARENA_H

#include <stddef.h>

typedef struct ms_arena ms_arena;

/* A new, empty arena, or NULL when memory is out. `limit` bounds its total bytes (0: no bound). */
ms_arena *ms_arena_new(size_t limit);

/* The same for an arena that asks for `chunk_size` bytes at a time, where the other asks for as
 * many as a loop's tree takes. */
ms_arena *ms_arena_new_sized(size_t limit, size_t chunk_size);

/* Frees the arena and all that was taken from it, and nulls the caller's pointer. */
void ms_arena_destroy(ms_arena **arena);

/* `count` zeroed objects of `size` bytes; NULL when the product overflows or memory is out. */
void *ms_arena_take(ms_arena *arena, size_t count, size_t size);

/* A terminated copy of `length` bytes. */
char *ms_arena_copy(ms_arena *arena, const char *text, size_t length);

/* A formatted, terminated string. */
char *ms_arena_format(ms_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
