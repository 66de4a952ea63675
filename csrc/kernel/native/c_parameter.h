/* SPDX-License-Identifier: MIT
 *
 * Writing C: a kernel's parameters, which are what its texts have used: memory, strides and extents
 * of arrays, captured numbers. Each has a slot, and a name in all functions of the kernel. */
#ifndef MS_KERNEL_NATIVE_C_PARAMETER_H
#define MS_KERNEL_NATIVE_C_PARAMETER_H

#include "kernel/native/writer.h"

/* One parameter as it is declared, passed on, and unpacked from a slot. */
typedef struct ms_c_parameter {
  const char *type, *name, *from;
} ms_c_parameter;

typedef struct ms_c_parameters {
  ms_c_parameter *list;
  uint32_t count;
} ms_c_parameters;

/* Finds all, and fills them into `info`. -1: out of memory. */
int ms_c_parameters_find(ms_writer *w, ms_kernel_info *info, ms_c_parameters *all);

/* Notes that a parameter is worth a constant. */
void ms_c_parameter_special(ms_writer *w, const char *name, const char *value);

/* Appends declarations of all, with their values from the slots. */
void ms_c_parameters_unpack(ms_writer *w, const ms_c_parameters *all);

#endif
