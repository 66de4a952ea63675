/* SPDX-License-Identifier: MIT
 *
 * Checkpoints of blocks: what a dead worker leaves behind, so that another process goes on where it
 * was.
 *
 * Behind the undo log each worker has a slot. Before a block begins, the worker copies what the
 * block may overwrite there (its image): with it the block that was begun can be undone alone,
 * while others run. That is exact where nobody else writes what the image holds, so every operand
 * that the job both reads and writes has to be written along an axis whose ranges are one block's
 * at a time (ms_grid_chains), or by lists of what blocks touch alone; what the job never reads is
 * written again as it was. The block that is the first in a region of the undo log finds its image
 * there, and what a list has is only ever changed by its own block. What finished blocks report is
 * also on the worker's shelf (net/road.h) until the driver has it.
 *
 * A slot is whole at every moment: its counts change, in single stores, after the image and the
 * reports that they count. Only its worker writes it, and after the worker's end the driver. Every
 * process divides alike and holds an ms_block_checkpoint of its own. */
#ifndef MS_JOB_BLOCK_CHECKPOINT_H
#define MS_JOB_BLOCK_CHECKPOINT_H

#include <stdatomic.h>

#include "job/undo.h"

/* In shared memory. */
typedef struct ms_block_checkpoint_slot {
  _Alignas(64) _Atomic uint64_t kept; /* 1 + the block whose image is whole; 0: none */
  _Atomic uint64_t sent, end;         /* bytes of the worker's report: that went to the driver, and
                                         in all; the shelf holds what is between */
  _Atomic uint64_t finished;          /* how many blocks have all their reports on the shelf */
  _Atomic uint64_t busy, waited;      /* ns that they took */
} ms_block_checkpoint_slot;

/* What is kept of one part of the undo log. */
typedef struct ms_block_checkpoint_part {
  size_t most;  /* bytes of a block's image; 0: nothing need be kept */
  size_t place; /* of the image in the slot */
  bool logs;    /* a fresh region of the undo log is as good; of lists any */
} ms_block_checkpoint_part;

typedef struct ms_block_checkpoint {
  ms_undo *undo;
  ms_block_checkpoint_part *parts;
  uint32_t workers;
  bool possible; /* a block can be undone alone */
  size_t slot_size;
  size_t size;           /* bytes of all slots; 0: there are none */
  unsigned char *memory; /* the first slot */
} ms_block_checkpoint;

/* Says what slots for `workers` hold for jobs that `undo` was divided for, which must outlive it.
 * MS_WRK when memory is out. */
int ms_block_checkpoint_divide(ms_block_checkpoint *checkpoint, ms_undo *undo, uint32_t workers,
                               ms_error *err);

/* Says where the slots are (`size` bytes, aligned to 64). */
void ms_block_checkpoint_attach(ms_block_checkpoint *checkpoint, void *memory);

/* The slot of a worker. */
ms_block_checkpoint_slot *ms_block_checkpoint_at(const ms_block_checkpoint *checkpoint,
                                                 uint32_t worker);

/* Makes a worker's slot that of a new process, which goes on after its predecessor's last finished
 * block: all reports of the predecessor have gone to the driver. */
void ms_block_checkpoint_inherit(const ms_block_checkpoint *checkpoint, uint32_t worker);

/* Makes a worker's slot that of a process that has finished no block. */
void ms_block_checkpoint_clear(const ms_block_checkpoint *checkpoint, uint32_t worker);

/* Bytes that ms_block_checkpoint_keep would copy at most for the block that was logged last. */
size_t ms_block_checkpoint_bytes(const ms_block_checkpoint *checkpoint);

/* Keeps the image of `block`, which was logged just before and begins now. */
void ms_block_checkpoint_keep(const ms_block_checkpoint *checkpoint, uint32_t worker,
                              uint32_t block);

/* Undoes `block`, which a dead worker had begun; others may be running. False when there is no
 * image of it. */
bool ms_block_checkpoint_undo(const ms_block_checkpoint *checkpoint, uint32_t worker,
                              uint32_t block);

/* All that a worker's first `finished` blocks report is there, and so much time they took, ns. */
void ms_block_checkpoint_finish(const ms_block_checkpoint *checkpoint, uint32_t worker,
                                uint64_t finished, uint64_t busy, uint64_t waited);

/* Lays bytes of a worker's report onto its shelf; false when there is no room. */
bool ms_block_checkpoint_note(const ms_block_checkpoint *checkpoint, uint32_t worker, char *shelf,
                              const char *bytes, size_t size);

/* All that was reported so far, `size` bytes since this was last said, has gone to the driver. */
void ms_block_checkpoint_sent(const ms_block_checkpoint *checkpoint, uint32_t worker, size_t size);

/* The rest of the report of a dead worker that has finished `finished` blocks, of which `got` bytes
 * have come: where on its shelf it begins, and its *size; -1 when something is missing. */
int64_t ms_block_checkpoint_rest(const ms_block_checkpoint *checkpoint, uint32_t worker,
                                 uint64_t finished, size_t got, size_t *size);

/* Frees the vectors. */
void ms_block_checkpoint_free(ms_block_checkpoint *checkpoint);

#endif
