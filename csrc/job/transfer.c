/* SPDX-License-Identifier: MIT
 *
 * Transfer: see transfer.h. */
#include "job/transfer.h"

#include <stdlib.h>
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

ms_transfer ms_transfer_list(uint32_t number, const ms_index_list *indices) {
  return (ms_transfer){.kind = MS_TRANSFER_LIST,
                       .operand = number,
                       .count = indices->run_count,
                       .element = MS_RUN_BYTES,
                       .indices = indices};
}

ms_transfer ms_transfer_values(const ms_operand *operand, uint32_t number,
                               const ms_index_list *indices, uint32_t part) {
  return (ms_transfer){.kind = MS_TRANSFER_VALUES,
                       .operand = number,
                       .count = indices->part[part].elements,
                       .element = operand->element,
                       .indices = indices,
                       .position = part == 0 ? 0 : indices->part[part].position,
                       .place = indices->part[part].begin};
}

static int64_t elements_a_frame(size_t element) {
  return (int64_t)(MS_FRAME_PAYLOAD / element);
}

/* Elements of a frame that begins with number `next`, or runs: those of one part of a list. */
static int64_t frame_from(const ms_transfer *transfer, int64_t next) {
  int64_t most = elements_a_frame(transfer->element), left = transfer->count - next;
  bool list = transfer->kind == MS_TRANSFER_LIST;
  for (uint32_t p = 1; list && p < transfer->indices->part_count; p++) {
    int64_t until = transfer->indices->part[p].begin.run - next;
    if (until > 0 && until < left) left = until;
  }
  return left < most ? left : most;
}

uint64_t ms_transfer_frames(const ms_transfer *transfer) {
  uint64_t frames = 0;
  for (int64_t next = 0; next < transfer->count; next += frame_from(transfer, next)) frames++;
  return frames;
}

/* The header of the transfer's next frame. */
static ms_frame head_of(const ms_transfer *transfer, uint64_t job) {
  uint64_t next = (uint64_t)transfer->next;
  if (transfer->kind == MS_TRANSFER_LIST) {
    return (ms_frame){
        .kind = MS_SAY_LIST,
        .job = job,
        .a = {transfer->indices->copy, (uint64_t)transfer->count, next, transfer->operand}};
  }
  if (transfer->kind == MS_TRANSFER_VALUES) {
    return (ms_frame){
        .kind = MS_SAY_VALUES,
        .job = job,
        .a = {transfer->operand | (uint64_t)transfer->position << 32, transfer->indices->copy,
              (uint64_t)transfer->place.run, (uint64_t)transfer->place.offset}};
  }
  return (ms_frame){.kind = MS_SAY_DATA,
                    .job = job,
                    .a = {transfer->operand | (uint64_t)transfer->dim << 32, (uint64_t)transfer->lo,
                          (uint64_t)transfer->hi, next}};
}

/* Copies the next `take` elements to `out`. */
static void fill(ms_transfer *transfer, const ms_elements *all, int64_t take, void *out) {
  if (transfer->kind == MS_TRANSFER_VALUES) {
    ms_index_list_gather(transfer->indices->runs, transfer->indices->run_count, all,
                         &transfer->place, take, out);
  } else {
    ms_elements rows = ms_elements_rows(all, transfer->dim, transfer->lo, transfer->hi);
    ms_elements_gather(&rows, transfer->next, take, out);
  }
}

/* Sends runs of a list. */
static int send_list(ms_transfer *transfer, ms_link *link, uint64_t job, ms_error *err) {
  ms_frame frame = head_of(transfer, job);
  const ms_span *run = transfer->indices->runs + transfer->next;
  int64_t take = frame_from(transfer, transfer->next), last = 0;
  char *packed = malloc((size_t)take * MS_RUN_BYTES), *end = packed;
  if (packed == NULL) return ms_error_memory(err, MS_WRK, "a list of elements");
  for (const ms_span *until = run + take; run < until; run++) {
    end = ms_element_lists_write_run(end, last, run->first, run->count);
    last = (int64_t)run->first + run->count;
  }
  size_t size = (size_t)(end - packed);
  int failed = ms_link_send(link, frame, packed, size, err);
  free(packed);
  transfer->next += take;
  transfer->moved += size;
  return failed;
}

int ms_transfer_send(ms_transfer *transfer, const ms_elements *all, ms_link *link, uint64_t job,
                     ms_error *err) {
  if (transfer->kind == MS_TRANSFER_LIST) return send_list(transfer, link, job, err);
  int64_t take = frame_from(transfer, transfer->next);
  transfer->moved += (size_t)take * transfer->element;
  ms_message message;
  void *room =
      ms_link_begin(link, head_of(transfer, job), (size_t)take * transfer->element, &message, err);
  if (room == NULL) return -1;
  fill(transfer, all, take, room);
  transfer->next += take;
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
