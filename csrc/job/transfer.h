/* SPDX-License-Identifier: MIT
 *
 * Transfer: a part of an operand on its way, in one or more frames.
 *
 * Sender and receiver need not agree on strides. A DATA frame names operand, dimension, rows and
 * the first element; a VALUES frame operand, list and the place in the list (index_list.h), which
 * LIST frames brought before, its runs written as in element_lists.h, ascending in each frame. The
 * receiver checks all against its own description before it writes. */
#ifndef MS_JOB_TRANSFER_H
#define MS_JOB_TRANSFER_H

#include "job/elements.h"
#include "job/index_list.h"
#include "net/link.h"

typedef enum ms_transfer_kind {
  MS_TRANSFER_ROWS,
  MS_TRANSFER_LIST,
  MS_TRANSFER_VALUES
} ms_transfer_kind;

typedef struct ms_transfer {
  ms_transfer_kind kind;
  uint32_t operand, dim;
  int64_t lo, hi;               /* rows */
  int64_t next, count;          /* elements, or runs of a list, sent and in all */
  size_t element;               /* bytes of one, of a run at most */
  uint64_t moved;               /* bytes sent */
  const ms_index_list *indices; /* of a list or its values; not owned */
  uint32_t position; /* of values: the worker's first block that needs them; 0: the first part */
  ms_index_list_place place; /* of the next value */
} ms_transfer;

/* Those of `all` elements of operand number `number` that are in rows lo..hi of dimension `dim`. */
ms_transfer ms_transfer_make(const ms_elements *all, uint32_t number, uint32_t dim, int64_t lo,
                             int64_t hi);

/* The runs of a list for operand number `number`. */
ms_transfer ms_transfer_list(uint32_t number, const ms_index_list *indices);

/* The elements of operand number `number` that a part of a list has. */
ms_transfer ms_transfer_values(const ms_operand *operand, uint32_t number,
                               const ms_index_list *indices, uint32_t part);

/* Frames that the whole transfer needs. */
uint64_t ms_transfer_frames(const ms_transfer *transfer);

/* Sends the next frame of the transfer from `all` elements that it was made of (not used for a
 * list).
 */
int ms_transfer_send(ms_transfer *transfer, const ms_elements *all, ms_link *link, uint64_t job,
                     ms_error *err);

/* Writes a received DATA frame's elements to where they are among `all` that the transfer was made
 * of; -1 when it does not fit them. */
int ms_transfer_accept(const ms_frame *frame, const void *payload, const ms_elements *all);

#endif
