/* SPDX-License-Identifier: MIT
 *
 * Writing C: elements and parts of dense arrays. */
#ifndef MS_KERNEL_NATIVE_C_ARRAY_H
#define MS_KERNEL_NATIVE_C_ARRAY_H

#include "kernel/native/c_bounds_check.h"

/* The capture that stands for all names of an array. */
uint32_t ms_c_array(const ms_writer *w, uint32_t capture);

/* The name of the memory of the array that a capture is. */
const char *ms_c_array_memory(ms_writer *w, uint32_t capture);

/* Appends the marks of so many elements of an array from the one at a pointer on, if its elements
 * are marked where they are stored into. `count` NULL: one. */
void ms_c_array_touch(ms_writer *w, uint32_t capture, const char *pointer, const char *count);

/* The name of an array's marks. */
const char *ms_c_array_touched(ms_writer *w, uint32_t capture);

/* The stride of a dimension as C text. */
const char *ms_c_array_stride(ms_writer *w, uint32_t capture, uint32_t dim);

/* The extent of a dimension as C text. */
const char *ms_c_array_extent(ms_writer *w, uint32_t capture, uint32_t dim);

/* The extent of a dimension of the entries that are the space. */
const char *ms_c_array_limit(ms_writer *w, uint32_t dim);

/* A place in memory: `p1_A[...]` of an element, or the address of a part's first element. */
typedef struct ms_c_location {
  ms_kind_of kind; /* of the object that the subscripts complete */
  bool element;
  bool plain;       /* found without statements */
  const char *text; /* lvalue, or pointer */
} ms_c_location;

/* Finds the place that a node names, its subscripts checked. False after a refusal. */
bool ms_c_location_find(ms_writer *w, const ms_node *node, ms_c_location *location);

/* An element that an assignment writes: evaluated as Lua does before it looks at the values, i.e.
 * the array or row and the subscripts; those of the element in its row are checked by the store. */
typedef struct ms_c_site {
  ms_kind_of kind;  /* as of a location */
  const char *base; /* pointer, or a part; offset of the checked subscripts, or "" */
  const char *offset;
  const ms_node *node[MS_MAX_DIMS]; /* of the other subscripts */
  ms_c_bounds_check key[MS_MAX_DIMS];
  uint32_t keys, dim; /* how many, from which dimension on */
} ms_c_site;

/* Whether what a node gives must be kept from what is evaluated later; of a subscript that is
 * checked at once: node NULL. */
typedef bool ms_c_keeps(const ms_writer *w, const ms_node *node, const void *context);

/* Evaluates a target. False after a refusal. */
bool ms_c_site_eval(ms_writer *w, const ms_node *node, ms_c_keeps *keeps, const void *context,
                    ms_c_site *site);

/* Marks the element that a target is, whose lvalue is given, if that is asked for and its row was
 * not marked when it was located. */
void ms_c_site_touch(ms_writer *w, const ms_c_site *site, const char *element);

/* Checks the last subscripts and gives the lvalue. */
const char *ms_c_site_lvalue(ms_writer *w, const ms_c_site *site);

/* Makes a value that is read of an element of an integer type, whose text is of that type, a double
 * with its integer, which it gives, or NULL where integers are not used. */
struct ms_integer_value *ms_c_array_integer(ms_writer *w, ms_c_value *value, int32_t type);

/* Reads a located element. */
ms_c_value ms_c_location_load(ms_writer *w, const ms_c_location *location, const ms_node *node);

/* Text of a value on its way into an element of array `capture`, checked. */
const char *ms_c_array_stored(ms_writer *w, ms_c_value value, uint32_t capture,
                              const ms_node *node);

/* The same for the value of `node` if it is an integer beforehand that fits; else NULL. */
const char *ms_c_array_stored_whole(ms_writer *w, uint32_t capture, const ms_node *node);

/* The C type of an object that is held: a pointer to a part of an array, a sparse row's number.
 * NULL for other objects. */
const char *ms_c_array_object_type(ms_writer *w, const ms_kind_of *kind);

#endif
