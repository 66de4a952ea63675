/* SPDX-License-Identifier: MIT
 *
 * Small members: what the threads have to themselves that share the blocks of a small run
 * (small_run.h).
 *
 * The driver's own thread works with the run's arguments, and with the memory that blocks have to
 * themselves in its process. Each other one has such memory of its own, and arguments that lead
 * there; they are made when they are first needed, and stay as long as the run. Which thread runs a
 * block makes no difference to it. */
#ifndef MS_JOB_SMALL_MEMBER_H
#define MS_JOB_SMALL_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"
#include "base/text.h"
#include "job/block_local.h"
#include "kernel/native/native.h"

/* What an argument leads to. */
typedef enum ms_small_private_kind {
  MS_SMALL_PENDING, /* the elements of a pending space, */
  MS_SMALL_TOUCHED, /* and their marks */
  MS_SMALL_SCRATCH  /* the elements of a scratch space */
} ms_small_private_kind;

/* An argument that leads to memory that blocks have to themselves. */
typedef struct MS_API_TYPE ms_small_private {
  uint32_t slot;
  uint32_t kind;   /* ms_small_private_kind */
  uint32_t number; /* of the space, from 0 */
} ms_small_private;

/* The arguments of a run. */
typedef struct MS_API_TYPE ms_small_arguments {
  const ms_native_slot *slots;
  uint32_t slot_count;
  uint32_t private_count;
  const ms_small_private *privates;
  const ms_block_local *memory; /* that blocks have to themselves; or NULL */
} ms_small_arguments;

/* What a thread runs blocks with. */
typedef struct ms_small_member {
  const ms_native_slot *slots;
  const ms_block_local *memory;
  ms_native_fault *fault;
  ms_text *report; /* of what its blocks have put into buffers */
} ms_small_member;

typedef struct ms_small_members ms_small_members;

/* Makes sure that there are `count` members beside the first one, with the arguments as they are
 * now, and empty reports; false where they would take too much memory, or other spaces than these.
 * All are made anew where what blocks have to themselves is another. */
bool ms_small_members_ready(ms_small_members **members, const ms_small_arguments *arguments,
                            uint32_t count);

/* Number `number`, from 0. */
ms_small_member ms_small_members_get(ms_small_members *members, uint32_t number);

/* Frees them, if there are any, and nulls the caller's pointer. */
void ms_small_members_free(ms_small_members **members);

#endif
