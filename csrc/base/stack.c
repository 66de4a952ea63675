/* SPDX-License-Identifier: MIT
 *
 * Stack: see stack.h. */
#include "base/stack.h"

#include <pthread.h>

/* Bytes below for what is called without looking: mathematics, handlers of signals. */
#define MARGIN ((uintptr_t)128 << 10)

/* The first byte of the calling thread's stack; 0: not known. The C library reads a file for that
 * of the first thread. */
static uintptr_t first_byte(void) {
  static _Thread_local uintptr_t known;
  pthread_attr_t attributes;
  void *address = NULL;
  size_t size;
  if (known != 0 || pthread_getattr_np(pthread_self(), &attributes) != 0) return known;
  if (pthread_attr_getstack(&attributes, &address, &size) == 0) known = (uintptr_t)address;
  pthread_attr_destroy(&attributes);
  return known;
}

int64_t ms_stack_end(void) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0), least = first_byte() + MARGIN;
  uintptr_t end = here - MS_STACK_ROOM;
  return (int64_t)(end > least ? end : least);
}
