/* SPDX-License-Identifier: MIT
 *
 * Watches: whether the memory of a dense array and its views is still there. Who has one keeps no
 * memory alive by it, so what is known of an array can go with the last array over its memory. A
 * watch outlives what it watches. Used by one thread. */
#ifndef MS_ARRAY_WATCH_H
#define MS_ARRAY_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "array/array.h"
#include "base/api.h"

typedef struct ms_watch {
  uint32_t references; /* the store's, while it is there, and those of the watchers */
  bool gone;
} ms_watch;

/* The watch of an array's store, with a reference for the caller; NULL with MS_ARR, also for memory
 * of somebody else, of which nobody says when it goes. */
MS_API ms_watch *ms_watch_open(ms_array *array, ms_error *err);

/* Whether the store is gone. */
MS_API int ms_watch_gone(const ms_watch *watch);

/* Gives up a reference. */
MS_API void ms_watch_release(ms_watch *watch);

/* The store's end, by the store alone. NULL is allowed. */
void ms_watch_end(ms_watch *watch);

#endif
