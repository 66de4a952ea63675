/* SPDX-License-Identifier: MIT
 *
 * Compile: one run of the C compiler.
 *
 * It runs without a shell, in a process group of its own, with empty standard input and output, and
 * without the variables that reach into other programs (LD_PRELOAD, ...). Whether the host ignores
 * or reaps SIGCHLD makes no difference: what counts is the object. The call blocks; any thread may
 * make it. */
#ifndef MS_KERNEL_COMPILE_COMPILE_H
#define MS_KERNEL_COMPILE_COMPILE_H

#include <stdbool.h>

#include "base/error.h"
#include "kernel/compile/toolchain.h"

/* Seconds that a compiler gets; MEISSA_CC_LIMIT overrides them. */
#define MS_COMPILE_LIMIT 30

typedef struct ms_compile {
  const ms_toolchain *toolchain;
  const char *source, *object; /* paths; the object is made, or is left in no usable state */
  bool fast, libm;             /* libm: it is linked with that */
  bool (*stop)(void *context); /* asked often: true ends the compiler early */
  void *context;
} ms_compile;

/* Compiles source to a shared object. MS_WRK: the first line of what the compiler said, or how it
 * ended; "stopped" when `stop` ended it. */
int ms_compile_run(const ms_compile *compile, ms_error *err);

#endif
