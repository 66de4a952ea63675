/* SPDX-License-Identifier: MIT
 *
 * Transfer: see transfer.h. */
#include "job/transfer.h"

#include <string.h>

ms_transfer ms_transfer_make(const ms_elements *all, uint32_t number, uint32_t dim, int64_t lo,
                             int64_t hi) {
  ms_elements rows = ms_elements_rows(all, dim, lo, hi);
  return (ms_transfer){.operand = number,
                       .dim = dim,
                       .lo = lo,
                       .hi = hi,
                       .count = ms_elements_count(&rows),
                       .element = all->operand->element};
}

ms_transfer ms_transfer_list(uint32_t number, const ms_index_list *wanted) {
  return (ms_transfer){.kind = MS_TRANSFER_LIST,
                       .operand = number,
                       .count = wanted->run_count,
                       .element = sizeof *wanted->runs,
                       .wanted = wanted};
}

ms_transfer ms_transfer_values(const ms_operand *operand, uint32_t number,
                               const ms_index_list *wanted, uint32_t part) {
  return (ms_transfer){.kind = MS_TRANSFER_VALUES,
                       .operand = number,
                       .count = wanted->part[part].elements,
                       .element = operand->element,
                       .wanted = wanted,
                       .position = part == 0 ? 0 : wanted->part[part].position,
                       .place = wanted->part[part].begin};
}

static int64_t elements_a_frame(size_t element) {
  return (int64_t)(MS_FRAME_PAYLOAD / element);
}

uint64_t ms_transfer_frames(const ms_transfer *parcel) {
  int64_t each = elements_a_frame(parcel->element);
  return (uint64_t)((parcel->count + each - 1) / each);
}

/* The header of the parcel's next frame. */
static ms_frame head_of(const ms_transfer *parcel, uint64_t job) {
  uint64_t next = (uint64_t)parcel->next;
  if (parcel->kind == MS_TRANSFER_LIST) {
    return (ms_frame){.kind = MS_SAY_LIST,
                      .job = job,
                      .a = {parcel->wanted->copy, (uint64_t)parcel->count, next, parcel->operand}};
  }
  if (parcel->kind == MS_TRANSFER_VALUES) {
    return (ms_frame){
        .kind = MS_SAY_VALUES,
        .job = job,
        .a = {parcel->operand | (uint64_t)parcel->position << 32, parcel->wanted->copy,
              (uint64_t)parcel->place.run, (uint64_t)parcel->place.offset}};
  }
  return (ms_frame){.kind = MS_SAY_DATA,
                    .job = job,
                    .a = {parcel->operand | (uint64_t)parcel->dim << 32, (uint64_t)parcel->lo,
                          (uint64_t)parcel->hi, next}};
}

/* Copies the next `take` elements to `out`. */
static void fill(ms_transfer *parcel, const ms_elements *all, int64_t take, void *out) {
  if (parcel->kind == MS_TRANSFER_LIST) {
    memcpy(out, parcel->wanted->runs + parcel->next, (size_t)take * parcel->element);
  } else if (parcel->kind == MS_TRANSFER_VALUES) {
    ms_index_list_gather(parcel->wanted->runs, all, &parcel->place, take, out);
  } else {
    ms_elements rows = ms_elements_rows(all, parcel->dim, parcel->lo, parcel->hi);
    ms_elements_gather(&rows, parcel->next, take, out);
  }
}

int ms_transfer_send(ms_transfer *parcel, const ms_elements *all, ms_link *link, uint64_t job,
                     ms_error *err) {
  int64_t take = parcel->count - parcel->next, most = elements_a_frame(parcel->element);
  if (take > most) take = most;
  zmq_msg_t message;
  void *room =
      ms_link_begin(link, head_of(parcel, job), (size_t)take * parcel->element, &message, err);
  if (room == NULL) return -1;
  fill(parcel, all, take, room);
  parcel->next += take;
  return ms_link_commit(link, &message, err);
}

int ms_transfer_accept(const ms_frame *frame, const void *payload, const ms_elements *all) {
  const ms_operand *operand = all->operand;
  uint64_t dim = frame->a[0] >> 32;
  if (dim >= operand->dim_count || frame->size % operand->element != 0) return -1;
  uint64_t extent = (uint64_t)operand->dims[dim];
  if (frame->a[1] > frame->a[2] || frame->a[2] > extent) return -1;
  ms_elements rows =
      ms_elements_rows(all, (uint32_t)dim, (int64_t)frame->a[1], (int64_t)frame->a[2]);
  uint64_t room = (uint64_t)ms_elements_count(&rows), count = frame->size / operand->element;
  if (frame->a[3] > room || count > room - frame->a[3]) return -1;
  ms_elements_scatter(&rows, (int64_t)frame->a[3], (int64_t)count, payload);
  return 0;
}
