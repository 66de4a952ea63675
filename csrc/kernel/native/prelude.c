/* SPDX-License-Identifier: MIT
 *
 * The native prelude: see prelude.h. */
#include "kernel/native/prelude.h"

static const char strict[] = {
#include "prelude_strict.inc"
    0};

static const char quick[] = {
#include "prelude_fast.inc"
    0};

const char *ms_native_prelude(bool fast) {
  return fast ? quick : strict;
}
