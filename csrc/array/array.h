/* SPDX-License-Identifier: MIT
 *
 * DistArray: an n-dimensional array, dense or sparse, of one numeric element type.
 *
 * The driver owns arrays and counts references to them; workers see the same memory. Subscripts
 * are 1-based in messages and in Lua, 0-based in this interface unless said otherwise. A dense
 * array may be a view (narrow, select, transpose) that shares its `store` with others. A sparse
 * array is COO: one int32 coordinate vector per dimension (0-based) and one value vector, entries
 * in the order in which they were given. Used by one thread. */
#ifndef MS_ARRAY_ARRAY_H
#define MS_ARRAY_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "array/segment.h"
#include "base/error.h"

#define MS_ARRAY_DIMS 8

typedef enum ms_type { MS_FLOAT, MS_DOUBLE, MS_INT32, MS_INT64, MS_OBJECT } ms_type;

/* Storage of a dense array and its views. */
typedef struct ms_store {
  uint64_t id; /* unique in the process, never reused */
  ms_block block;
  uint32_t references;
} ms_store;

typedef struct ms_array {
  uint64_t id;    /* unique in the process, never reused; 0 once freed */
  int32_t type;   /* ms_type */
  int32_t sparse; /* 0 dense, 1 sparse */
  int32_t dim_count;
  int32_t references;
  int64_t dims[MS_ARRAY_DIMS];
  int64_t strides[MS_ARRAY_DIMS]; /* dense: in elements */
  int64_t count;                  /* dense: number of elements; sparse: number of entries */
  void *data;                     /* dense: element [1]...[1]; sparse: values, in entry order */
  ms_store *store;                /* holds `data` */
  int32_t *coords[MS_ARRAY_DIMS]; /* sparse: 0-based coordinates of each entry */
  ms_store *coord_store;          /* sparse: holds all coordinate vectors */
  uint64_t version;               /* sparse: grows when values are changed by the driver */
  const char *invalid;            /* why the contents are lost (names the loop), or NULL; owned */
} ms_array;

#endif
