/* SPDX-License-Identifier: MIT
 *
 * The native engine's text: the body of a planned loop becomes C.
 *
 * The text is complete: the machine's compiler needs no header of ours (ms_native_prelude comes
 * first). It exports MS_NATIVE_ENTRY, called as kernel/native/native.h says. Pure: no I/O, no Lua,
 * the same text for the same loop, types and shapes whatever the captured numbers are. */
#ifndef MS_KERNEL_NATIVE_NATIVE_EMIT_H
#define MS_KERNEL_NATIVE_NATIVE_EMIT_H

#include "kernel/emit/emit.h"
#include "kernel/native/native.h"

/* Why a body stays on the Lua engine: a place in it and the reason in the user's words. */
typedef struct ms_native_refusal {
  uint32_t line, column; /* 0: not refused */
  char message[256];
} ms_native_refusal;

/* How a text of MS_NATIVE_ERROR names the extents of array number %u, from 1: "3x4" in its place.
 */
#define MS_NATIVE_DIMS "\1%u\2"

/* The texts of MS_NATIVE_ERROR, in info's arena; "ARR: ..." where the error's code is ARR, not
 * BDY. */
typedef struct ms_native_messages {
  const char **text;
  uint32_t count;
} ms_native_messages;

/* Appends the kernel's C text to `out` and fills `info` (as ms_kernel_emit does; `spilled` stays
 * empty) and `messages`. The caller clears info in any case. Returns 1 and fills `why` if the body
 * cannot be C. -1: MS_DEP for a body that the plan does not allow, MS_ARR when memory is out,
 * MS_BUG. */
int ms_native_emit(const ms_kernel_job *job, bool fast, ms_text *out, ms_kernel_info *info,
                   ms_native_messages *messages, ms_native_refusal *why, ms_error *err);

#endif
