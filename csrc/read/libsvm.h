/* SPDX-License-Identifier: MIT
 *
 * libsvm: reads labelled examples with sparse features, "label id:value id:value ...".
 *
 * Ids are whole numbers from 1, each at most once in a line, in any order. "qid:n" behind the label
 * and comments from "#" on (SVMlight's additions) are left out. */
#ifndef MS_READ_LIBSVM_H
#define MS_READ_LIBSVM_H

#include "array/array.h"
#include "base/api.h"
#include "read/scan.h"

typedef struct MS_API_TYPE ms_libsvm {
  int32_t type;     /* of the values */
  int64_t features; /* extent of dimension 2; 0: the largest id */
} ms_libsvm;

/* Reads files, plain or gzip, one example a line. Returns the features (examples x ids, entries in
 * the order of the files) and in *labels a vector of doubles, each with one reference; or NULL and
 * neither: MS_FIL with file and line for what is wrong in a file, MS_ARR for memory. */
ms_array *ms_libsvm_read(const ms_files *files, const ms_libsvm *options, ms_array **labels,
                         ms_error *err);

#endif
