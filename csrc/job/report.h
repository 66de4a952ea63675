/* SPDX-License-Identifier: MIT
 *
 * Report: what a worker's blocks leave behind, and the changes of scattered arrays, as bytes.
 *
 * A report is a sequence of records (block, kind, size, bytes). Changes are runs (first element,
 * number of elements, bytes). Readers check every length. Pure functions. */
#ifndef MS_JOB_REPORT_H
#define MS_JOB_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "job/elements.h"

typedef enum ms_report_kind {
  MS_REPORT_RESULT,
  MS_REPORT_PRINTED,
  MS_REPORT_SPENT, /* uint64_t ns in blocks of each range of the space axis; its block means nothing
                    */
  MS_REPORT_PENDING /* for buffer number 0; MS_REPORT_PENDING + n for buffer n */
} ms_report_kind;

/* ns in blocks from which on a worker says where they went; of less each block took as much. */
#define MS_SPENT_WORTH 500000u

typedef struct ms_record {
  uint32_t block, kind; /* ms_report_kind */
  uint64_t size;
  const char *bytes; /* into the report */
} ms_record;

/* Appends a record. */
void ms_report_add(ms_text *report, uint32_t block, uint32_t kind, const void *bytes, size_t size);

/* The same in two steps, for bytes that are written straight into the report: room for a record of
 * at most `most` bytes, NULL when memory is out (report->failed); then, unless nothing is to be
 * added, its block, kind and true size. */
char *ms_report_open(ms_text *report, size_t most);
void ms_report_close(ms_text *report, uint32_t block, uint32_t kind, size_t size);

/* Removes the records that are not wanted, and a torn end. */
void ms_report_keep(ms_text *report, bool (*wanted)(const ms_record *record, const void *context),
                    const void *context);

/* Removes all records but those of printed text. */
void ms_report_keep_printed(ms_text *report);

/* Reads the record at `*at` and moves on: 1 read, 0 end, -1 malformed. */
int ms_report_next(const char *bytes, size_t size, size_t *at, ms_record *record);

/* A walk over two versions of an operand's elements. */
typedef struct ms_change_runs {
  ms_elements now;
  const unsigned char *before; /* one after the other */
  int64_t next, count;         /* elements looked at, and in all */
  ms_strided_run here;         /* of those now, that begins ... */
  int64_t begin;               /* ... with this number; without elements: unknown */
} ms_change_runs;

/* Packs as many runs of changed elements as fit `room` bytes: bytes written, 0 at the end. */
size_t ms_change_runs_pack(ms_change_runs *runs, char *out, size_t room);

/* Reads where the run at `*at` lies and moves on: 1 read, 0 end, -1 malformed. */
int ms_change_runs_next(const char *bytes, size_t size, size_t element, size_t *at, int64_t *first,
                        int64_t *count);

/* Writes packed runs to where they are among `all` elements of an operand; -1 when they do not fit
 * it.
 */
int ms_change_runs_apply(const char *bytes, size_t size, const ms_elements *all);

#endif
