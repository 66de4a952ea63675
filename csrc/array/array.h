/* SPDX-License-Identifier: MIT
 *
 * DistArray: an n-dimensional array, dense or sparse, of one numeric element type.
 *
 * The driver owns arrays and counts references to them; workers see the same memory. Subscripts
 * are 1-based in messages and in Lua, 0-based in this interface unless said otherwise. A dense
 * array may be a view (narrow, select, transpose) that shares its `store` with others. A sparse
 * array is COO: one int32 coordinate vector per dimension (0-based) and one value vector, entries
 * in the order in which they were given. Used by one thread.
 *
 * Headers are recycled, never freed: whoever remembers a header and its generation can always ask
 * whether the array is still there. */
#ifndef MS_ARRAY_ARRAY_H
#define MS_ARRAY_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "array/segment.h"
#include "array/type.h"
#include "base/error.h"

#define MS_ARRAY_DIMS 8
/* Subscripts are int32 in memory, so an extent is below 2^31. */
#define MS_ARRAY_EXTENT INT32_MAX
/* Entry numbers are uint32. */
#define MS_ARRAY_ENTRIES ((int64_t)UINT32_MAX)

/* Storage of a dense array and its views. */
typedef struct ms_store {
  uint64_t id; /* unique in the process, never reused */
  ms_segment_block block;
  uint32_t references;
  struct ms_array *arrays; /* arrays whose `data` lies in this store; the list holds no reference */
  uint64_t lost_by;        /* id of the array whose contents were lost, 0 when several */
  int32_t scratch;         /* 1: working space that is each iteration's own */
  struct ms_watch *watch;  /* a reference to what tells others that the store is gone; or NULL */
} ms_store;

/* Why elements of an array may not be written. */
typedef enum ms_array_write_bar {
  MS_BARRED_SNAPSHOT,
  MS_BARRED_ROUNDS,   /* they use it, and are asking whether to stop */
  MS_BARRED_REPLICAS, /* it is a view of what all replicas see */
  MS_BARRED_MERGED    /* a loop over its replicas gives it what they come to, and asks on_round */
} ms_array_write_bar;

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
  ms_store *store;                /* holds `data`; NULL for memory owned by somebody else */
  int32_t *coords[MS_ARRAY_DIMS]; /* sparse: 0-based coordinates of each entry */
  ms_store *coord_store;          /* sparse: holds all coordinate vectors */
  uint64_t version;               /* sparse: grows when values are changed by the driver */
  const char *invalid;            /* why the contents are lost (names the loop), or NULL; owned */

  int32_t generation;     /* another one after the array was freed and the header used again */
  int32_t readable;       /* `generation` while the contents may be read, 0 while they are lost */
  int32_t writable;       /* `generation` while elements may be written, 0 for a snapshot */
  struct ms_array *next;  /* in its store's list, or in the list of free headers */
  struct ms_array **link; /* in its store's list: what points to this array */
  struct ms_labels *labels[MS_ARRAY_DIMS]; /* id maps; owned references, or NULL */
  struct ms_index *index;                  /* sparse: finds entries; owned, made on demand */
  struct ms_csr *rows;                     /* sparse: compressed rows; owned, made on demand */
  struct ms_partition *partitions;         /* sparse: cached; owned */
  uint32_t releases;                       /* references queued to be given up */
  uint32_t held;  /* ms_array_write_bar: why its elements may not be written */
  int32_t pinned; /* merges into it that are under way: their rules may not free it */
  struct ms_array *next_released;
} ms_array;

/* A store of `size` zeroed bytes with one reference; NULL with MS_ARR. */
ms_store *ms_store_new(size_t size, ms_error *err);
void ms_store_retain(ms_store *store);
/* Gives up a reference (NULL allowed) and nulls the caller's pointer. */
void ms_store_release(ms_store **store);

/* Puts an array into the list of those that show a store's elements, with a reference to the store
 * that the caller hands over. Its place is forgotten in constant time, however many views wait for
 * the garbage collector. */
void ms_array_attach(ms_array *array, ms_store *store);

/* A dense array of zeros, row-major, with one reference. MS_ARR: bad type, more than 8 dimensions,
 * an extent out of range, memory. */
MS_API ms_array *ms_array_dense(int type, int dim_count, const int64_t *dims, ms_error *err);

/* A sparse array of `count` entries, all zeros, which the caller fills through coords and data
 * before anyone else sees it (ms_array_check_coords). */
MS_API ms_array *ms_array_sparse(int type, int dim_count, const int64_t *dims, int64_t count,
                                 ms_error *err);

/* An array over memory owned by somebody else, who keeps it until the array is freed. `strides`
 * NULL means row-major. Sparse ones pass `coords` (a vector a dimension) and `count`; else NULL. */
MS_API ms_array *ms_array_foreign(int type, int dim_count, const int64_t *dims,
                                  const int64_t *strides, void *data, int32_t *const *coords,
                                  int64_t count, ms_error *err);

/* Checks that all coordinates lie inside the extents; MS_ARR names the first entry that does not
 * (subscripts 1-based). */
MS_API int ms_array_check_coords(const ms_array *array, ms_error *err);

/* Gives up a reference; the last one frees the array. */
MS_API void ms_array_release(ms_array *array);
/* Queues a reference to be given up by the next ms_array_drain: for garbage collectors, which may
 * find a handle dead while an operation on its memory is under way. Of thousands that wait the
 * oldest is given up at once: who makes views alone never drains, and operations are shorter. */
MS_API void ms_array_release_later(ms_array *array);
/* Gives up all queued references. To be called where no operation on an array is under way. */
MS_API void ms_array_drain(void);
/* Frees the contents at once, whoever refers to the array: id becomes 0, extents 0. */
MS_API void ms_array_free(ms_array *array);

/* Views that share the store of a dense array, each with one reference. Dimensions and positions
 * are 0-based; out of range is MS_ARR in 1-based words. `select` on a vector is MS_ARR. */
MS_API ms_array *ms_array_narrow(ms_array *array, int dim, int64_t first, int64_t length,
                                 ms_error *err);
MS_API ms_array *ms_array_select(ms_array *array, int dim, int64_t position, ms_error *err);
MS_API ms_array *ms_array_transpose(ms_array *array, int one, int other, ms_error *err);

/* The general view: any extents and strides, from any element of the array on. The caller vouches
 * that all of it lies inside the array's elements. */
MS_API ms_array *ms_array_view(ms_array *array, int dim_count, const int64_t *dims,
                               const int64_t *strides, void *data, ms_error *err);

/* A copy with memory of its own: dense ones contiguous, sparse ones with the same entries and the
 * same id maps. */
MS_API ms_array *ms_array_clone(const ms_array *array, ms_error *err);

/* Gives an array without id maps those of another one of equal extents. */
MS_API void ms_array_share_labels(ms_array *to, const ms_array *from);

/* Gives dimension `dim` of a view the id map of dimension `from` of its array, if it is all of
 * it. */
MS_API void ms_array_keep_labels(ms_array *view, int dim, const ms_array *array, int from);

/* Lets nobody write the elements of an array any more, nor those of views that are made of it. */
MS_API void ms_array_freeze(ms_array *array);

/* Why elements of an array may not be written, and what to do, in words that follow its name. */
MS_API const char *ms_array_held_words(const ms_array *array);

/* MS_ARR if the elements of an array may not be written; 0 otherwise. */
int ms_array_check_writable(const ms_array *array, ms_error *err);

/* An array of another element type with the same extents and id maps, and of a sparse array the
 * same coordinates; all elements are 0. */
MS_API ms_array *ms_array_retyped(const ms_array *array, int type, ms_error *err);

/* The entries with these `count` ascending numbers (from 0) of a sparse array, as a sparse array of
 * the same extents and id maps. */
MS_API ms_array *ms_array_pick(const ms_array *array, const uint32_t *entries, int64_t count,
                               ms_error *err);

/* The entries of a sparse array that lie in ranges [first[d], first[d] + length[d]) (0-based,
 * inside the extents), in their order, with subscripts counted from there and id maps to match.
 * `keep` says which dimensions the result has, one at least; others have length 1. */
MS_API ms_array *ms_array_cut(ms_array *array, const int64_t *first, const int64_t *length,
                              const int32_t *keep, ms_error *err);

/* The coordinates of a sparse array as a dense int32 matrix over the same memory, dimensions x
 * entries, from 0: to be read only. And its values as a vector. */
MS_API ms_array *ms_array_coords(ms_array *array, ms_error *err);
MS_API ms_array *ms_array_values(ms_array *array, ms_error *err);

/* A copy in which the subscripts of the dimensions whose bit is set in `dims` are exchanged at
 * random: the seed and the extent decide how. Labels go along; where there were none they become
 * the old subscripts. Dimensions that share an id map are exchanged alike. MS_ARR: an extent that
 * is too large for a permutation in memory. */
MS_API ms_array *ms_array_shuffle(const ms_array *array, uint32_t dims, uint64_t seed,
                                  ms_error *err);

/* Divides the entries of a sparse array: `share` of them (rounded), drawn by the seed, go to
 * *first, the rest to *second, both in the order they have, with the array's extents and id maps.
 * 0, or -1 with MS_ARR and neither made. */
MS_API int ms_array_split(const ms_array *array, double share, uint64_t seed, ms_array **first,
                          ms_array **second, ms_error *err);

/* Marks the contents of the array, and of all that share elements of it, as lost. `why` is
 * copied. */
MS_API void ms_array_invalidate(ms_array *array, const char *why);

/* To be called when all elements were overwritten: makes the contents readable again, in the
 * arrays that share the store too if the whole loss is covered. */
MS_API void ms_array_overwritten(ms_array *array);

/* MS_ARR if the array was freed or its contents are lost; 0 otherwise. */
int ms_array_check(const ms_array *array, ms_error *err);

/* Bytes of values and coordinates. */
MS_API uint64_t ms_array_bytes(const ms_array *array);

/* Whether elements of these extents and strides lie one after the other, the last subscript
 * fastest. The stride of a dimension of one row says nothing. */
bool ms_array_is_row_major(uint32_t dim_count, const int64_t *dims, const int64_t *strides);

/* Whether a dense array's elements lie in row-major order without gaps. */
MS_API int ms_array_contiguous(const ms_array *array);

#endif
