/* SPDX-License-Identifier: MIT
 *
 * Batch of triples: the triples that one range of a file holds, with id maps of its own.
 *
 * Batches are read in any threads at the same time; the reader of the file joins their id maps in
 * the order of the file, which numbers the ids as reading the lines one after the other does. */
#ifndef MS_READ_TRIPLE_BATCH_H
#define MS_READ_TRIPLE_BATCH_H

#include "read/byte_range.h"
#include "read/fields.h"
#include "read/ids.h"
#include "read/triples.h"

/* What is known of the file before its lines are read: constant while batches are. */
typedef struct ms_triple_format {
  const ms_triples *options;
  ms_separator separator;
  size_t columns;     /* 2 or 3 */
  int64_t first_line; /* the first line of data, 0 while there was none */
  bool maybe_header;  /* two columns, and no id of the first line of data is an integer; not told */
  ms_ids fixed[2];    /* the id maps of `like` */
} ms_triple_format;

typedef struct ms_triple_batch {
  struct ms_triple_batch *next;
  int64_t first; /* number of its first entry among all, once joined */
  uint32_t file; /* the number of its file */
  int64_t count;
  uint32_t *at[2];    /* positions in the id maps */
  uint32_t *place[2]; /* where these positions went; NULL: they stayed. May be the same vector */
  double *values;
  uint32_t *line_of; /* line numbers, only when duplicates are an error */
  ms_ids ids[2];     /* the second is not used when there is one map for both */
  bool integers[2];  /* of what may be a file with a header: all other ids of the column are */
} ms_triple_batch;

/* Learns separator and columns from the first line of data: 1, 0 when the range has none, or -1. */
int ms_triple_format_learn(ms_triple_format *format, const ms_byte_range *range, ms_error *err);

/* Reads the lines of a range. NULL with the error of the first line that has one. */
ms_triple_batch *ms_triple_batch_read(const ms_triple_format *format, const ms_byte_range *range,
                                      ms_error *err);

/* Frees positions and values, of which there is no more need. */
void ms_triple_batch_clear(ms_triple_batch *batch);

/* Frees the batch (NULL allowed). */
void ms_triple_batch_free(ms_triple_batch *batch);

#endif
