/* SPDX-License-Identifier: MIT
 *
 * Parcel: rows of an item on their way, as one or more DATA frames.
 *
 * Sender and receiver need not agree on strides: a frame names item, dimension, rows and the first
 * element, and the receiver checks them against its own description before it writes. */
#ifndef MS_RUNTIME_PARCEL_H
#define MS_RUNTIME_PARCEL_H

#include "net/link.h"
#include "runtime/item.h"

typedef struct ms_parcel {
  uint32_t item, dim;
  int64_t lo, hi;      /* rows */
  int64_t next, count; /* elements sent and in all */
} ms_parcel;

/* Rows lo..hi of dimension `dim` of item number `number`. */
ms_parcel ms_parcel_make(const ms_item *item, uint32_t number, uint32_t dim, int64_t lo,
                         int64_t hi);

/* DATA frames that the whole parcel needs. */
uint64_t ms_parcel_frames(const ms_parcel *parcel, const ms_item *item);

/* Sends the next frame of the parcel from `box` (the whole item). */
int ms_parcel_send(ms_parcel *parcel, const ms_box *box, ms_link *link, uint64_t job,
                   ms_error *err);

/* Writes a received DATA frame's elements into `box`; -1 when it does not fit the item. */
int ms_parcel_accept(const ms_frame *frame, const void *payload, const ms_box *box);

#endif
