/* SPDX-License-Identifier: MIT
 *
 * Threads: one function in several threads at a time, for work that divides itself.
 *
 * Threads block all signals, touch no Lua, and end before the call that started them returns. A
 * thread that cannot be started only means that the others do its share. */
#ifndef MS_BASE_THREADS_H
#define MS_BASE_THREADS_H

#include <stdint.h>

/* Most threads of one call, the caller's included. */
#define MS_THREADS_MOST 64

/* How many threads work of this process is shared out to: as many as it may use processors, 1 to
 * MS_THREADS_MOST, but never more than the limit. */
int ms_threads_count(void);

/* Limits ms_threads_count, which is without limit at first: for a process that is one of several
 * that share the processors. To be called before there is another thread. */
void ms_threads_limit(int most);

/* Calls work(context) once in the caller's thread and, at the same time, once in each of up to
 * `threads` - 1 others; returns when all calls have returned. */
void ms_threads_run(int threads, void (*work)(void *context), void *context);

/* Calls work(context, k) once for each k of 0 to count - 1, in up to `threads` threads, in any
 * order; returns when all calls have returned. */
void ms_threads_each(int threads, int64_t count, void (*work)(void *context, int64_t k),
                     void *context);

#endif
