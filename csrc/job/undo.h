/* SPDX-License-Identifier: MIT
 *
 * Undo: images of what a job is about to write, so that a failed one leaves its arrays as before.
 *
 * What may be written of each section of an operand is divided into regions: what goes with the
 * ranges of an axis where all writes follow one, the blocks' lists where there are some and they
 * have few elements, else pieces of equal size. The first block that
 * touches a region copies it to the log just before it writes, so the copy also brings it into the
 * cache; later blocks find it logged. Since a plan fixes every bit of its results, this is all that
 * is needed to run a job again from the start.
 *
 * The log lies in memory that driver and workers share, and is whole at every moment: a region's
 * state changes after its copy is complete, and nobody writes a region that is not logged, so a
 * process may die anywhere; what a dead one was copying is given free again. Regions of different
 * operands may overlap (views of one memory). They are restored in the reverse of the order in
 * which their copies were completed: what an element held in the oldest image of it was there
 * before anybody wrote it.
 *
 * Every process divides alike and holds an ms_undo of its own; its vectors are its own. */
#ifndef MS_JOB_UNDO_H
#define MS_JOB_UNDO_H

#include <stdatomic.h>
#include <stdbool.h>

#include "array/segment.h"
#include "job/operand.h"

/* What may be written of one section of an operand. */
typedef struct ms_undo_part {
  uint32_t operand;
  ms_section section;
  uint32_t first, count; /* regions */
  ms_strided box;
  int64_t total;                 /* elements of the box */
  const ms_element_lists *lists; /* a region is what a block's list has; NULL: there are none */
  int64_t piece; /* elements of a region; 0: a region is what goes with a range of an axis */
  size_t place;  /* of the images in the log; element k of the box at k elements from here */
  bool logged;   /* every region is, as far as this process knows */
  bool fresh;    /* the last block that was logged was the first in its region */
} ms_undo_part;

typedef struct ms_undo {
  const ms_grid *grid;
  ms_range_starts bounds;
  const ms_operand *operands;
  uint32_t process; /* among those that log at the same time */
  ms_undo_part *parts;
  uint32_t part_count, region_count;
  size_t size; /* bytes of the log, states included; 0: nothing is written */
  /* In the log: */
  unsigned char *memory;
  _Atomic uint32_t *clock; /* copies completed */
  _Atomic uint32_t *state; /* of each region */
  _Atomic uint32_t *order; /* 1 + the region that was completed as number n; 0: nobody said so */
} ms_undo;

/* Divides what `operands` say that a job on `grid` writes. Items and grid stay the caller's and
 * must outlive it. MS_WRK when memory is out, MS_ARR when a log cannot be so large. */
int ms_undo_divide(ms_undo *undo, const ms_grid *grid, const ms_range_starts *bounds,
                   const ms_operand *operands, uint32_t count, ms_error *err);

/* Takes `size` bytes of shared memory for logs. MS_ARR, naming the option that needs none, when the
 * machine has no room for them. */
int ms_undo_room(ms_segment_block *room, size_t size, ms_error *err);

/* Says where the log is (`size` bytes, aligned to 64), and each operand's element [1]...[1]. */
void ms_undo_attach(ms_undo *undo, void *memory, void *const *data);

/* Makes all regions untouched. Nobody else may be using the log. */
void ms_undo_clear(ms_undo *undo);

/* Logs what `block` may write. While another process copies a region that this one needs,
 * `go_on(context)` is asked now and then; false ends the wait: then -1, else 0. */
int ms_undo_log(ms_undo *undo, uint32_t block, bool (*go_on)(void *context), void *context);

/* Logs all of operand number `operand`. Nobody else may be using the log. */
void ms_undo_log_operand(ms_undo *undo, uint32_t operand);

/* Logs the regions of operand number `operand` that hold elements first .. first + count of what
 * may be written of it, in row-major order; it has no ranges. Several threads of a process may do
 * so at a time. */
void ms_undo_log_elements(ms_undo *undo, uint32_t operand, int64_t first, int64_t count);

/* Adds to `undo` what `later` has logged since, of regions that `undo` has no image of. Both divide
 * the same operands on the same grid; `undo` may divide more operands after these. Nobody else may
 * be using either. */
void ms_undo_fold(ms_undo *undo, const ms_undo *later);

/* Process number `process` is no more: what it was copying is logged, or untouched again. Others
 * may be using the log. */
void ms_undo_release(ms_undo *undo, uint32_t process);

/* What `block` may write of a part without lists. */
ms_strided ms_undo_strided(const ms_undo *undo, const ms_undo_part *part, uint32_t block);

/* Writes back the region of `block` of a part whose regions are ranges or lists. */
void ms_undo_restore_range(const ms_undo *undo, const ms_undo_part *part, uint32_t block);

/* Writes the images back. Nobody else may be using log or arrays; bytes of the log are believed
 * only as far as they fit. */
void ms_undo_restore(ms_undo *undo);

/* Frees the vectors, not the log. */
void ms_undo_free(ms_undo *undo);

#endif
