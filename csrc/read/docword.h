/* SPDX-License-Identifier: MIT
 *
 * docword: reads bags of words in the form of the UCI repository: three lines with the numbers of
 * documents, words and entries, then "document word count" a line, both ids from 1. */
#ifndef MS_READ_DOCWORD_H
#define MS_READ_DOCWORD_H

#include "array/array.h"
#include "array/labels.h"
#include "base/api.h"
#include "read/scan.h"

typedef struct MS_API_TYPE ms_docword {
  const char *vocabulary; /* a file with one word a line, or NULL */
  int32_t type;           /* of the counts */
} ms_docword;

/* Reads the one file, plain or gzip: counts by document and word, entries in the order of the file,
 * one reference. The words of the vocabulary become the labels of dimension 2. NULL and nothing
 * half read: MS_FIL with file and line, MS_ARR for memory. */
ms_array *ms_docword_read(const ms_files *file, const ms_docword *options, ms_error *err);

#endif
