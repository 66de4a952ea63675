/* SPDX-License-Identifier: MIT
 *
 * What small runs keep of what they may write, and put back where a block has stopped.
 *
 * Where threads will run the blocks, they keep it together, in pieces that lie as the blocks do:
 * who runs a block has then read what it is about to write, and nobody else has. One that copied
 * all would take the lines from the caches of those who write there in every run. */
#ifndef MS_JOB_SMALL_KEEP_H
#define MS_JOB_SMALL_KEEP_H

#include "job/small_run.h"

/* Keeps the first `count` of what may be written, by up to `members` threads, the caller included;
 * false where that is too much. */
bool ms_small_keep(ms_small_run *run, uint32_t count, uint32_t members);

/* Puts it back. */
void ms_small_keep_restore(const ms_small_run *run, uint32_t count);

#endif
