/* SPDX-License-Identifier: MIT
 *
 * Writing C: prefetching the rows of coming entries. */
#ifndef MS_KERNEL_NATIVE_C_CACHE_PREFETCH_H
#define MS_KERNEL_NATIVE_C_CACHE_PREFETCH_H

#include "kernel/native/writer.h"

/* Notes that an iteration uses the part of an array that these subscripts name. */
void ms_c_cache_prefetch_note(ms_writer *w, uint32_t capture, const ms_node *const *key,
                              uint32_t count);

/* Appends what fetches the noted rows of a coming entry; they are forgotten then. */
void ms_c_cache_prefetch(ms_writer *w);

#endif
