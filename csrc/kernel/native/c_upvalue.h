/* SPDX-License-Identifier: MIT
 *
 * Writing C: variables of the body, or of a function in it, that recursive functions
 * (c_recursive.h) name. They are given as they are when the function is called, and passed on in
 * calls from there; of those that it may assign, itself or by what it calls, the address is. */
#ifndef MS_KERNEL_NATIVE_C_UPVALUE_H
#define MS_KERNEL_NATIVE_C_UPVALUE_H

#include "kernel/native/writer.h"

struct ms_c_upvalue {
  struct ms_c_upvalue *next;
  const ms_symbol *symbol;
  const char *type, *name; /* type: NULL: it is known by itself */
  bool assigned;           /* by the function, or by what it calls */
  ms_c_local local;
};

/* Finds the upvalues of a recursive function and of all functions that it calls. */
void ms_c_upvalues_find(ms_writer *w, ms_c_recursive *recursive);

/* Adds them to a list of parameters. */
const char *ms_c_upvalues_declared(ms_writer *w, const ms_c_recursive *recursive, const char *list);

/* Adds them to the arguments of a call. */
const char *ms_c_upvalues_passed(ms_writer *w, const ms_c_recursive *recursive, const ms_node *call,
                                 const char *list);

/* The C type in which values of a type are passed to recursive functions; NULL: they are known by
 * themselves. */
const char *ms_c_upvalue_type(ms_writer *w, const ms_kind_of *kind, ms_representation_of *form);

/* Whether values of a type can be passed to `to`. A function that `to` makes, or what it calls, has
 * the variables of one of their calls, of which there may be several at a time. */
bool ms_c_upvalue_is_passed(ms_writer *w, const ms_kind_of *kind, const ms_node *to);

#endif
