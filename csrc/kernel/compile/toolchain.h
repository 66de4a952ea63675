/* SPDX-License-Identifier: MIT
 *
 * Toolchain: the C compiler of this machine, and what its output depends on.
 *
 * CC names it, as words ("ccache gcc", "clang -B/opt"); without CC it is `cc`. Nothing is run to
 * find it: programs are looked up in PATH, and identified by path, size and time of change. A
 * record belongs to its maker; any thread may read it. */
#ifndef MS_KERNEL_COMPILE_TOOLCHAIN_H
#define MS_KERNEL_COMPILE_TOOLCHAIN_H

#include <limits.h>
#include <stdbool.h>

#include "base/api.h"
#include "base/error.h"
#include "base/text.h"

/* Words of CC that are taken. */
#define MS_TOOLCHAIN_WORDS 16

typedef struct ms_toolchain {
  char *words[MS_TOOLCHAIN_WORDS + 1]; /* in `copy`, NULL at the end */
  char *copy;                          /* owned */
  char program[PATH_MAX];              /* words[0] as it was found */
} ms_toolchain;

/* Finds the compiler. MS_OPT, naming CC, when there is none. */
int ms_toolchain_find(ms_toolchain *toolchain, ms_error *err);

/* Frees what the record owns and empties it. */
void ms_toolchain_free(ms_toolchain *toolchain);

/* Whether a kernel of this text, which calls functions as "__builtin_..." alone, has calls of libm.
 * Most have none; to look through libm is a tenth of the compiler's work on a short one. */
bool ms_toolchain_needs_libm(const char *text);

/* The flags of a kernel, NULL at the end; `fast` as numeric = "fast" permits. */
const char *const *ms_toolchain_flags(bool fast);

/* Appends all that the same C text's object depends on: the programs that CC names, the flags, the
 * processor's features, the C library's version, and the kernels' calling convention. */
void ms_toolchain_identify(const ms_toolchain *toolchain, bool fast, ms_text *out);

/* "" when there is a compiler, else why not. The answer is kept in `err`. */
MS_API const char *ms_toolchain_missing(ms_error *err);

#endif
