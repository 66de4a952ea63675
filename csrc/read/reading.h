/* SPDX-License-Identifier: MIT
 *
 * Reading: a reader of files at work in a thread of its own, while its caller waits in turns: to
 * show how far it is, and to stop it.
 *
 * What the reader is given must outlive the reading and is not to be touched meanwhile; nor may the
 * caller make or release arrays. Start, wait, stop and end are for one thread. */
#ifndef MS_READ_READING_H
#define MS_READ_READING_H

#include "array/array.h"
#include "read/scan.h"

/* A reader in its general form: `options` is its record, `also` where further results go. */
typedef ms_array *ms_reader(const ms_files *files, const void *options, void *also, ms_error *err);

MS_API ms_reader ms_reader_triples; /* ms_triples, whose files' places are those of `files` */
MS_API ms_reader ms_reader_libsvm;  /* ms_libsvm, ms_array * for the labels */
MS_API ms_reader ms_reader_table;   /* ms_table_options, ms_column_names */
MS_API ms_reader ms_reader_docword; /* ms_docword */

typedef struct ms_reading ms_reading;

/* Begins to read. MS_ARR: memory. */
MS_API ms_reading *ms_reading_start(ms_reader *reader, const ms_files *files, const void *options,
                                    void *also, ms_error *err);

/* Waits up to so many seconds; whether the reader has ended. */
MS_API bool ms_reading_wait(ms_reading *reading, double seconds);

/* Bytes of the files, as they are stored, that were read so far. */
MS_API int64_t ms_reading_done(ms_reading *reading);

/* Tells the reader to give up, which it does at the next range of a file, with MS_INT. */
MS_API void ms_reading_stop(ms_reading *reading);

/* Waits for the end, frees the reading, and gives what the reader gave. */
MS_API ms_array *ms_reading_end(ms_reading *reading, ms_error *err);

/* Bytes of all these files together, as they are stored. Files that cannot be looked at count as 0.
 */
MS_API int64_t ms_reading_size(const ms_files *files);

#endif
