/* SPDX-License-Identifier: MIT
 *
 * Index paths: which dense array an indexing expression reaches, and with which subscripts. */
#ifndef MS_KERNEL_EMIT_INDEX_PATH_H
#define MS_KERNEL_EMIT_INDEX_PATH_H

#include "kernel/emit/emitter.h"

typedef struct ms_index_path {
  uint32_t array;       /* capture of the array */
  const ms_node *local; /* NAME of the view local that it starts from, or NULL: the array itself */
  uint32_t given;       /* subscripts that the view local already applied */
  uint32_t count;       /* subscripts written here */
  const ms_node *subscript[MS_MAX_DIMS];
  const char *held[MS_MAX_DIMS]; /* names of locals that hold subscripts; NULL: in place */
  const char *base; /* name of a local that holds the offset of `given` subscripts, or NULL */
  bool listed;      /* the subscripts are written as A[{i, k}] */
  bool late;        /* they are checked on another line than theirs, perhaps */
  bool doubtful;    /* one of the subscripts written here may be a table, and then it is a range */
} ms_index_path;

/* Resolves `A`, `A[i]`, `A[i][k]`, `A[{i, k}]`, `w[k]` for dense numeric arrays A and view locals w
 * (those in emitter->views that are live). False for anything else. */
bool ms_index_path_of(const ms_emitter *emitter, const ms_node *node, ms_index_path *path);

/* Whether the path names one element if its subscripts are numbers: all subscripts present. */
bool ms_index_path_element(const ms_emitter *emitter, const ms_index_path *path);

/* Whether the path names a row: all subscripts but one. */
bool ms_index_path_row(const ms_emitter *emitter, const ms_index_path *path);

/* Whether subscript `at` lies in its dimension whatever happens. */
bool ms_index_path_proved(const ms_emitter *emitter, const ms_index_path *path, uint32_t at);

/* Whether evaluating an expression may raise an error or call a function of the user. */
bool ms_index_path_may_fail(const ms_emitter *emitter, const ms_node *node);

/* Whether the face's element is reached through a pointer: resolves `node` to it. Where a subscript
 * may be a table, only if what is made of the element then fails in any case. */
bool ms_index_path_direct(const ms_emitter *emitter, const ms_node *node, ms_index_path *path);

/* Appends the element of a full path as a place in memory. */
void ms_index_path_place(ms_emitter *emitter, const ms_index_path *path);

/* The same of an element that is stored into: marked where its array's are. */
void ms_index_path_target(ms_emitter *emitter, const ms_index_path *path);

/* Appends the position of a full or partial path as an offset in elements from element
 * [1]...[1] minus one stride in every dimension: adding subscript * stride for each dimension that
 * is still missing gives the element. `first` tells whether the missing ones are to be set to 1. */
void ms_index_path_offset(ms_emitter *emitter, const ms_index_path *path, bool first);

/* Whether value `at` of an assignment can be stored through a pointer into its target. */
bool ms_index_path_stores_direct(const ms_node *assign, uint32_t at);

#endif
