/* SPDX-License-Identifier: MIT
 *
 * Trace: what the processes do, one line an event, for who debugs Meissa or a program that uses it.
 *
 * MEISSA_TRACE names categories. Each is a bit of one word in each process, which is written before
 * its threads start; an event asks for its bit, and that is all that it costs while nobody wants
 * it. The driver opens the trace, its workers take it over from their setup: they write to the same
 * file and count the same time. A line goes out by one write(2) to a file that is open for
 * appending (or to stderr), so that lines of several processes stay whole; it has no more than
 * MS_TRACE_LINE bytes, which a pipe takes at once, too.
 *
 *   trace 0.012345678 worker-2 blocks begin job=3 block=17
 *
 * Seconds since the driver opened the trace, the process, the category, the event, and what is told
 * of it as name=value. Any thread. */
#ifndef MS_BASE_TRACE_H
#define MS_BASE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

/* Constant, its bit, its name in MEISSA_TRACE. What its events tell of: */
#define MS_TRACE_CATEGORIES(X)                                                                  \
  X(MS_TRACE_PLAN, 0, "plan")         /* loops that are planned, and run as jobs */             \
  X(MS_TRACE_KERNEL, 1, "kernel")     /* bodies made ready: C texts, objects, instances */      \
  X(MS_TRACE_BLOCKS, 2, "blocks")     /* blocks that begin, end, fail, or are left out */       \
  X(MS_TRACE_MESSAGES, 3, "messages") /* frames sent and received; hand-overs by status page */ \
  X(MS_TRACE_WAITS, 4, "waits")       /* waits for blocks, data, jobs, and for all workers */   \
  X(MS_TRACE_WORKERS, 5, "workers")   /* processes that start, are ready, end, are replaced */

#define MS_TRACE_LINE 512

typedef enum ms_trace_category {
#define TRACE_CATEGORY(constant, bit, name) constant = 1 << (bit),
  MS_TRACE_CATEGORIES(TRACE_CATEGORY)
#undef TRACE_CATEGORY
} ms_trace_category;

/* The categories that are wanted. */
extern uint32_t ms_trace_wanted __attribute__((visibility("hidden")));

/* What a worker has to know of its driver's trace; all zero: there is none. */
typedef struct ms_trace_setup {
  uint32_t wanted;
  uint32_t has_file; /* else stderr */
  uint64_t origin;   /* of its time: CLOCK_MONOTONIC, ns */
} ms_trace_setup;

/* The descriptor that a worker finds the trace's file at. */
#define MS_TRACE_FD 4

static inline bool ms_trace_wants(ms_trace_category category) {
  return __builtin_expect((ms_trace_wanted & (uint32_t)category) != 0, 0);
}

/* Tells of an event: printf's format and arguments, evaluated only where the category is wanted. */
#define ms_trace(category, ...)                                          \
  do {                                                                   \
    if (ms_trace_wants(category)) ms_trace_event(category, __VA_ARGS__); \
  } while (0)

/* The same for a category that is wanted. Characters that are not printed become '?'. */
void ms_trace_event(ms_trace_category category, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* In the driver: wants the categories that `names` has, separated by commas ("all": every one), in
 * lines for the file `path` (NULL: stderr), which they are appended to. MS_OPT for a name that is
 * no category, MS_FIL for a file that cannot be written. */
MS_API int ms_trace_open(const char *names, const char *path, ms_error *err);

/* For a worker's setup, and the file's descriptor, -1 without a file. */
ms_trace_setup ms_trace_share(void);
int ms_trace_file(void);

/* In worker `number` (from 0): goes on with its driver's trace. */
void ms_trace_join(const ms_trace_setup *setup, uint32_t number);

/* ms_trace_wanted, the name of the category with this bit (NULL: there is none) and an event, for
 * Lua. */
MS_API uint32_t ms_trace_flags(void);
MS_API const char *ms_trace_name(uint32_t bit);
MS_API void ms_trace_text(uint32_t category, const char *text);

#endif
