/* SPDX-License-Identifier: MIT
 *
 * Build: the making of one kernel's object, in the cache or by the compiler.
 *
 * One thread of this process compiles what is queued, one at a time, the most urgent first; it is
 * started when something is first due. A build is made, asked and released by threads of the
 * host; its state only goes forward. A forked child has no such thread: what was under way there
 * starts anew. At the end of the process a compiler that is running gets a moment, then it is
 * stopped. */
#ifndef MS_KERNEL_COMPILE_BUILD_H
#define MS_KERNEL_COMPILE_BUILD_H

#include <stddef.h>

#include "base/api.h"
#include "base/error.h"

typedef struct ms_build ms_build;

typedef enum ms_build_state {
  MS_BUILD_IDLE,   /* nothing was asked for */
  MS_BUILD_QUEUED, /* it will be compiled when it is due */
  MS_BUILD_RUNNING,
  MS_BUILD_READY,
  MS_BUILD_FAILED
} ms_build_state;

/* A build of this text: READY at once if the cache has it. One reference. MS_OPT: no compiler, or
 * no directory for its files. */
MS_API ms_build *ms_build_new(const char *text, size_t length, int fast, ms_error *err);

/* Gives up a reference (NULL allowed); what is still queued only for it is dropped. */
MS_API void ms_build_release(ms_build *build);

/* The key of the object, and the directory in which it appears: ms_cache_read finds it there. */
MS_API const char *ms_build_key(const ms_build *build);
MS_API const char *ms_build_directory(const ms_build *build);

/* How far a build is: ms_build_state. */
MS_API int ms_build_state_of(ms_build *build);

/* Has an idle build compiled, `delay` seconds from now at the earliest; 0 goes before others. */
MS_API void ms_build_start(ms_build *build, double delay);

/* Takes a build that is not running yet out of the queue: it is idle again. */
MS_API void ms_build_postpone(ms_build *build);

/* Waits up to `timeout` seconds for the end of a build that was started. Returns its state. */
MS_API int ms_build_wait(ms_build *build, double timeout);

/* The object's bytes, when READY; they belong to the build. */
MS_API const char *ms_build_object(ms_build *build, size_t *size);

/* Why it FAILED, in the compiler's words. */
MS_API const char *ms_build_trouble(ms_build *build);

/* Why the user's cache is not used, once a process; "" when there is nothing to say. */
MS_API const char *ms_build_notice(void);

#endif
