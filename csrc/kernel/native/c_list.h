/* SPDX-License-Identifier: MIT
 *
 * Writing C: lists of numbers from outside of the loop, which it only reads. Their numbers are
 * copied for each execution, and a parameter as arrays are. */
#ifndef MS_KERNEL_NATIVE_C_LIST_H
#define MS_KERNEL_NATIVE_C_LIST_H

#include "kernel/native/c_integer.h"

/* The name of the list's numbers, from 0; NULL after a refusal. Behind the name of its length there
 * is "_n", of where lists begin (c_lists.h) "_s". */
const char *ms_c_list_name(ms_writer *w, const ms_node *node);

/* #list */
ms_integer_value ms_c_list_length(ms_writer *w, const ms_node *list);

/* #list as a value. */
ms_c_value ms_c_list_count(ms_writer *w, const ms_node *list);

/* Reads list[k]. */
ms_c_value ms_c_list_element(ms_writer *w, const ms_node *node);

/* A loop over a list. */
typedef struct ms_walk_of_list {
  const ms_node *loop;
  const char *count;         /* of elements */
  bool lasts;                /* the count is the same in all of the block */
  ms_c_value element;        /* without text: */
  const char *from, *behind; /* what the text has in front of the place, from 1, and behind */
} ms_walk_of_list;

/* Appends a loop over a list; the context is an ms_walk_of_list. */
void ms_c_list_walk(ms_writer *w, const void *context);

/* Appends `for k, v in ipairs(list) do`. */
void ms_c_for_list(ms_writer *w, const ms_node *loop, const ms_node *list);

#endif
