/* SPDX-License-Identifier: MIT
 *
 * Cache: compiled kernels in a directory of the user, by their keys.
 *
 * The directory is MEISSA_CACHE, else XDG_CACHE_HOME/meissa, else ~/.cache/meissa; it is used only
 * if it is the user's own and nobody else may enter it (mode 0700). Where there is none, a private
 * directory of this process takes its place and goes with it. An object is complete or not there:
 * it comes in by a rename, and ends in a record of its key, size and digest that is checked before
 * its bytes are used. Any number of processes may read and write at once. A record belongs to its
 * maker and is used by one thread at a time. */
#ifndef MS_KERNEL_COMPILE_CACHE_H
#define MS_KERNEL_COMPILE_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"
#include "base/digest.h"
#include "base/directory.h"
#include "base/error.h"
#include "base/text.h"

/* Bytes of objects that are kept. */
#define MS_CACHE_LIMIT ((uint64_t)64 << 20)

typedef struct ms_cache {
  char path[PATH_MAX];
  int fd;               /* of the directory; -1: none is open */
  ms_directory private; /* that stands in for a cache; path "" when none does */
} ms_cache;

/* Opens the directory at `path`, which is made if `make`. MS_OPT says what is wrong with it. */
int ms_cache_open(ms_cache *cache, const char *path, bool make, ms_error *err);

/* Opens the cache of this user, or a private directory. MS_OPT when neither can be had. `notice`
 * gets what is wrong with a cache that somebody has set up; else it stays empty. */
int ms_cache_open_usual(ms_cache *cache, ms_error *notice, ms_error *err);

/* Closes the directory, removes it if it is a private one, and empties the record. */
void ms_cache_close(ms_cache *cache);

/* Appends the object named by `key` to `object` and marks it as used now. False when there is
 * none; one that is damaged or that others could have written is not used, and removed. */
bool ms_cache_find(const ms_cache *cache, const char *key, ms_text *object);

/* Makes of `file`, a compiler's output in the directory, the object named by `key`, and removes
 * what has not been used for longest beyond `limit` bytes. MS_WRK, with the file removed, for what
 * is no complete shared object. */
int ms_cache_publish(const ms_cache *cache, const char *file, const char *key, uint64_t limit,
                     ms_error *err);

/* The object named by `key` in the cache at `path`: its size, 0 when it is not there. The bytes
 * stay in `object` until ms_text_free. */
MS_API size_t ms_cache_read(const char *path, const char *key, ms_text *object);
MS_API void ms_cache_release(ms_text *object);

#endif
