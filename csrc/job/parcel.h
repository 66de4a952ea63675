/* SPDX-License-Identifier: MIT
 *
 * Parcel: a part of an item on its way, in one or more frames.
 *
 * Sender and receiver need not agree on strides. A DATA frame names item, dimension, rows and the
 * first element; a VALUES frame item, list and the place in the list (wanted.h), which LIST frames
 * brought before. The receiver checks all against its own description before it writes. */
#ifndef MS_JOB_PARCEL_H
#define MS_JOB_PARCEL_H

#include "job/item.h"
#include "job/wanted.h"
#include "net/link.h"

typedef enum ms_parcel_kind { MS_PARCEL_ROWS, MS_PARCEL_LIST, MS_PARCEL_VALUES } ms_parcel_kind;

typedef struct ms_parcel {
  ms_parcel_kind kind;
  uint32_t item, dim;
  int64_t lo, hi;          /* rows */
  int64_t next, count;     /* elements, or runs of a list, sent and in all */
  size_t element;          /* bytes of one */
  const ms_wanted *wanted; /* of a list or its values; not owned */
  uint32_t position; /* of values: the worker's first block that needs them; 0: the first part */
  ms_wanted_place place; /* of the next value */
} ms_parcel;

/* Rows lo..hi of dimension `dim` of item number `number`. */
ms_parcel ms_parcel_make(const ms_item *item, uint32_t number, uint32_t dim, int64_t lo,
                         int64_t hi);

/* The runs of a list for item number `number`. */
ms_parcel ms_parcel_list(uint32_t number, const ms_wanted *wanted);

/* The elements of item number `number` that a part of a list has. */
ms_parcel ms_parcel_values(const ms_item *item, uint32_t number, const ms_wanted *wanted,
                           uint32_t part);

/* Frames that the whole parcel needs. */
uint64_t ms_parcel_frames(const ms_parcel *parcel);

/* Sends the next frame of the parcel from `box` (the whole item; not used for a list). */
int ms_parcel_send(ms_parcel *parcel, const ms_box *box, ms_link *link, uint64_t job,
                   ms_error *err);

/* Writes a received DATA frame's elements into `box`; -1 when it does not fit the item. */
int ms_parcel_accept(const ms_frame *frame, const void *payload, const ms_box *box);

#endif
