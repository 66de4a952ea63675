/* SPDX-License-Identifier: MIT
 *
 * Watches: see watch.h. A store has one once somebody has asked for it. */
#include "array/watch.h"

#include <stdlib.h>

ms_watch *ms_watch_open(ms_array *array, ms_error *err) {
  ms_store *store = array->store;
  if (store == NULL) {
    ms_error_set(err, MS_ARR, "memory of somebody else is not watched");
    return NULL;
  }
  if (store->watch == NULL) {
    store->watch = calloc(1, sizeof *store->watch);
    if (store->watch == NULL) {
      ms_error_memory(err, MS_ARR, "a watch over an array");
      return NULL;
    }
    store->watch->references = 1;
  }
  store->watch->references++;
  return store->watch;
}

int ms_watch_gone(const ms_watch *watch) {
  return watch->gone;
}

void ms_watch_release(ms_watch *watch) {
  if (--watch->references == 0) free(watch);
}

void ms_watch_end(ms_watch *watch) {
  if (watch == NULL) return;
  watch->gone = true;
  ms_watch_release(watch);
}
