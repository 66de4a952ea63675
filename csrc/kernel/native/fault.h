/* SPDX-License-Identifier: MIT
 *
 * How a native kernel stops. This text stands in front of every native kernel (prelude.h). */
#ifndef MS_KERNEL_NATIVE_FAULT_H
#define MS_KERNEL_NATIVE_FAULT_H

#include "kernel/native/native.h"

/* Says why and where a block stops; the caller has filled or will fill `index`, and `file` if it is
 * not the loop's. Returns `stop`.
 * Out of the way of the code that runs. */
static __attribute__((cold, noinline, unused)) int32_t ms_stop(ms_native_fault *fault, int32_t stop,
                                                               int32_t line, int32_t capture,
                                                               int32_t dim, double value) {
  fault->stop = stop;
  fault->line = line;
  fault->capture = capture;
  fault->dim = dim;
  fault->file = 0;
  fault->value = value;
  return stop;
}

/* The same for an int64 element of `capture` that is no exact number: MS_NATIVE_VALUE with `dim` 1
 * and the element's bits as `value`. */
static __attribute__((cold, noinline, unused)) int32_t ms_stop_wide(ms_native_fault *fault,
                                                                    int32_t line, int32_t capture,
                                                                    int64_t element) {
  double bits;
  __builtin_memcpy(&bits, &element, sizeof bits);
  return ms_stop(fault, MS_NATIVE_VALUE, line, capture, 1, bits);
}

/* What recursive functions (c_recursive.h) have of the kernel that calls them. */
typedef struct ms_calls {
  const ms_native_slot *slots;
  ms_native_fault *fault;
  int64_t end; /* least address of the stack that they may use */
} ms_calls;

#endif
