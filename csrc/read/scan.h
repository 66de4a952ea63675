/* SPDX-License-Identifier: MIT
 *
 * Scan: reads the lines of several files in several threads, into parts that stand in the order of
 * files and lines, so that result and errors are those of reading one line after the other.
 *
 * A reader is a few functions over `owner`, whatever the caller keeps. Returns when all threads
 * have ended. Several files are read at the same time, a single one in ranges. */
#ifndef MS_READ_SCAN_H
#define MS_READ_SCAN_H

#include "read/lines.h"

/* What to read. The strings must outlive the scan. */
typedef struct ms_files {
  const char *const *paths;
  int64_t count;
  const char *comment;        /* lines that begin with it are left out; NULL: none are */
  int64_t skip;               /* lines to leave out at the start of every file */
  int32_t threads;            /* 0: as many as there are processors */
  int64_t range_bytes;        /* 0: as fits */
  ms_read_progress *progress; /* the caller's, or NULL */
} ms_files;

/* What some lines that follow each other gave: the head of a reader's own record. */
typedef struct ms_scan_part {
  struct ms_scan_part *next;
  const struct ms_scanner *scanner;
} ms_scan_part;

typedef struct ms_scanner {
  size_t part_size; /* of the reader's own record, which begins as zeros */
  /* Is shown the first lines of data of the first file, until it has learned the format: 1; 0 when
   * it wants to see the next; -1 with an error. NULL: there is nothing to learn. The lines are also
   * handed to `take`. */
  int (*look)(void *owner, const ms_lines *lines, const char *line, size_t length, ms_error *err);
  /* Reads one line of data into a part, in any thread, several at a time: the owner is not to be
   * changed. -1 with an error. */
  int (*take)(const void *owner, ms_scan_part *part, const ms_lines *lines, const char *line,
              size_t length, ms_error *err);
  /* Frees what a part holds, not the part. */
  void (*clear)(ms_scan_part *part);
} ms_scanner;

/* Reads all lines but blank ones and those left out. *parts, which becomes the caller's, is the
 * list of the parts that the ranges gave. -1: MS_FIL for files that cannot be read, or what the
 * reader said about the first line that it refused; then there are no parts. */
int ms_scan(const ms_files *files, const ms_scanner *scanner, void *owner, ms_scan_part **parts,
            ms_error *err);

/* Frees a part, also what it holds, and returns the next one. */
ms_scan_part *ms_scan_part_free(ms_scan_part *part);

/* Frees a list of parts, nulls the caller's pointer, and gives their memory back to the system. */
void ms_scan_parts_free(ms_scan_part **parts);

#endif
