/* SPDX-License-Identifier: MIT
 *
 * History: what the processes of a run do with blocks and versions, one line an event, for
 * `meissa check-history` to judge (docs/formats.md has the format).
 *
 * The driver opens the file, its workers take it over from their setup and write to the same one. A
 * line goes out by one write to a file that is open for appending, so that lines stay whole, and
 * their order is that of the events as long as each is told before others can know of it, and after
 * what it depends on: a block's end before its count is raised, its reads when its waits are over.
 * While nobody wants a history an event costs the look at a flag. One thread of each process. */
#ifndef MS_BASE_HISTORY_H
#define MS_BASE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"
#include "base/error.h"
#include "base/text.h"

/* Whether there is one. */
extern bool ms_history_wanted __attribute__((visibility("hidden")));

/* What a worker has to know; incarnation 0: there is no history. */
typedef struct ms_history_setup {
  uint64_t origin; /* of its time: CLOCK_MONOTONIC, ns */
  uint32_t incarnation, unused;
} ms_history_setup;

/* The descriptor that a worker finds the file at. */
#define MS_HISTORY_FD 5

/* In the driver: begins a history in the file `path`, anew. MS_FIL if it cannot be written, MS_OPT
 * where it is the file that is `replayed` (NULL: none is), which is left as it is. */
MS_API int ms_history_open(const char *path, const char *replayed, ms_error *err);

/* For the setup of a worker that starts: each has another incarnation. */
ms_history_setup ms_history_share(void);

/* The file's descriptor; -1: there is none. */
int ms_history_file(void);

/* In worker `number` (from 0): goes on with its driver's history. */
void ms_history_join(const ms_history_setup *setup, uint32_t number);

/* Tells of an event: printf's format, its kind and fields. */
#define ms_history(...)                                   \
  do {                                                    \
    if (ms_history_wanted) ms_history_event(__VA_ARGS__); \
  } while (0)

/* The same where it is known that there is a history. */
void ms_history_event(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* In the driver: the number of a job whose blocks it runs in its own process: from 2^32 + 1 on,
 * where none of those has got that workers run. 0: there is no history, or this is a worker. */
MS_API uint64_t ms_history_own_job(void);

/* The same as ms_history for a text of Lua's. */
MS_API void ms_history_tell(const char *text);

/* Tells of an event of any length: a text, which is freed; one that has failed is left out. */
void ms_history_text(ms_text *text);

#endif
