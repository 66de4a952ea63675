/* SPDX-License-Identifier: MIT
 *
 * Stack: how much of its thread's machine code that calls itself may use. */
#ifndef MS_BASE_STACK_H
#define MS_BASE_STACK_H

#include <stdint.h>

#include "base/api.h"

/* Bytes for all calls that LuaJIT's own stack has room for. */
#define MS_STACK_ROOM ((uintptr_t)4 << 20)

/* The least address that the calling thread's frames may reach: MS_STACK_ROOM on from here, or less
 * where the thread has less (`ulimit -s`). */
MS_API int64_t ms_stack_end(void);

#endif
