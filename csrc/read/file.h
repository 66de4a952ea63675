/* SPDX-License-Identifier: MIT
 *
 * Files: writing one so that a crash or a full disk leaves the old one, and reading one while a
 * checksum (CRC-32, as zlib's) of all bytes is kept.
 *
 * A writer writes to a temporary file in the target's directory; commit makes it durable and
 * renames it over the target. Owned by the caller; used by one thread. Errors are MS_FIL placed at
 * the path. */
#ifndef MS_READ_FILE_H
#define MS_READ_FILE_H

#include "array/array.h"

typedef struct ms_file_writer {
  char *path; /* where it goes: links followed */
  char *temporary;
  int fd;
  uint32_t crc; /* of all bytes written so far */
  uint64_t bytes;
} ms_file_writer;

/* Begins a file; NULL when the directory is not there or not writable, or when the path is no
 * regular file. */
MS_API ms_file_writer *ms_file_writer_open(const char *path, ms_error *err);

/* Appends bytes, or all elements of an array (row-major; the values of a sparse one). */
MS_API int ms_file_writer_write(ms_file_writer *writer, const void *bytes, size_t size,
                                ms_error *err);
MS_API int ms_file_writer_elements(ms_file_writer *writer, const ms_array *array, ms_error *err);

/* Makes the file durable under its name and frees the writer; on failure the old file stays. */
MS_API int ms_file_writer_commit(ms_file_writer *writer, ms_error *err);

/* Removes the temporary file and frees the writer (NULL allowed). */
MS_API void ms_file_writer_abort(ms_file_writer *writer);

typedef struct ms_file_reader {
  char *path;
  int fd;
  uint32_t crc; /* of all bytes read so far */
  uint64_t size, position;
} ms_file_reader;

/* Opens a regular file. */
MS_API ms_file_reader *ms_file_reader_open(const char *path, ms_error *err);

/* Reads exactly `size` bytes; fewer left is an error that says the file is truncated. */
MS_API int ms_file_reader_read(ms_file_reader *reader, void *bytes, uint64_t size, ms_error *err);

/* Reads all elements of an array whose elements lie one after the other (the values of a sparse
 * one). NaNs come out as C's NAN, see ms_type_settle_nan. */
MS_API int ms_file_reader_elements(ms_file_reader *reader, const ms_array *array, ms_error *err);

/* Closes and frees the reader (NULL allowed). */
MS_API void ms_file_reader_close(ms_file_reader *reader);

/* Memory for labels that are read from a file: ms_labels_numbers and _strings free it. */
MS_API void *ms_file_memory(uint64_t size, ms_error *err);
MS_API void ms_file_forget(void *memory);

#endif
