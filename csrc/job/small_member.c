/* SPDX-License-Identifier: MIT
 *
 * Small members: see small_member.h. */
#include "job/small_member.h"

#include <stdlib.h>
#include <string.h>

#include "array/touched.h"

/* Most bytes of block-local memory, of all threads together. */
#define MOST_BYTES ((uint64_t)64 << 20)

/* What the blocks of one thread have to themselves. Its block-local memory is laid out as that of
 * the first thread. */
typedef struct own {
  ms_native_slot *slots;
  ms_block_local memory;
  ms_scratch_space *scratch;
  ms_pending_space *pending;
  ms_native_fault fault;
  ms_text report;
} own;

struct ms_small_members {
  ms_small_arguments of; /* the arguments that the list was made for */
  uint32_t count;
  own *list;
};

static void free_own(own *each) {
  for (uint32_t s = 0; each->scratch != NULL && s < each->memory.scratch_count; s++)
    free(each->scratch[s].elements);
  for (uint32_t p = 0; each->pending != NULL && p < each->memory.pending_count; p++) {
    free(each->pending[p].elements);
    free(each->pending[p].touched);
  }
  free(each->slots);
  free(each->scratch);
  free(each->pending);
  ms_text_free(&each->report);
}

void ms_small_members_free(ms_small_members **members) {
  if (*members == NULL) return;
  for (uint32_t m = 0; m < (*members)->count; m++) free_own(&(*members)->list[m]);
  free((*members)->list);
  free(*members);
  *members = NULL;
}

static uint64_t bytes_of(const ms_block_local *memory) {
  uint64_t bytes = 0;
  for (uint32_t s = 0; s < memory->scratch_count; s++)
    bytes += (uint64_t)memory->scratch[s].count * (uint64_t)memory->scratch[s].size;
  for (uint32_t p = 0; p < memory->pending_count; p++)
    bytes += (uint64_t)memory->pending[p].count * sizeof(double);
  return bytes;
}

/* Gives a thread memory of zeros, laid out as that of the first thread. */
static bool make_spaces(own *each, const ms_block_local *like) {
  bool made = true;
  each->scratch = calloc(like->scratch_count + 1, sizeof *each->scratch);
  each->pending = calloc(like->pending_count + 1, sizeof *each->pending);
  if (each->scratch == NULL || each->pending == NULL) return false;
  each->memory = (ms_block_local){.scratch = each->scratch,
                                  .pending = each->pending,
                                  .scratch_count = like->scratch_count,
                                  .pending_count = like->pending_count};
  for (uint32_t s = 0; s < like->scratch_count; s++) {
    ms_scratch_space *space = &each->scratch[s];
    *space = like->scratch[s];
    space->elements = calloc((size_t)space->count + 1, (size_t)space->size);
    made = made && space->elements != NULL;
  }
  for (uint32_t p = 0; p < like->pending_count; p++) {
    ms_pending_space *space = &each->pending[p];
    *space = like->pending[p];
    space->elements = calloc((size_t)space->count + 1, sizeof *space->elements);
    if (space->touched != NULL) space->touched = calloc(MS_TOUCHED_BYTES((size_t)space->count), 1);
    made = made && space->elements != NULL &&
           (space->touched != NULL) == (like->pending[p].touched != NULL);
  }
  return made;
}

static bool make_own(own *each, const ms_small_arguments *arguments) {
  each->slots = calloc(arguments->slot_count + 1, sizeof *each->slots);
  if (each->slots == NULL) return false;
  return arguments->memory == NULL || make_spaces(each, arguments->memory);
}

/* Gives a thread the arguments as they are now. */
static void renew(own *each, const ms_small_arguments *arguments) {
  memcpy(each->slots, arguments->slots, arguments->slot_count * sizeof *each->slots);
  for (uint32_t k = 0; k < arguments->private_count; k++) {
    const ms_small_private *place = &arguments->privates[k];
    void *to = place->kind == MS_SMALL_PENDING   ? (void *)each->pending[place->number].elements
               : place->kind == MS_SMALL_TOUCHED ? (void *)each->pending[place->number].touched
                                                 : each->scratch[place->number].elements;
    each->slots[place->slot].pointer = to;
  }
  each->report.length = 0;
  each->report.failed = false;
}

static ms_small_members *make(const ms_small_arguments *arguments, uint32_t count) {
  ms_small_members *made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->of = *arguments;
  made->list = calloc(count, sizeof *made->list);
  bool whole = made->list != NULL;
  for (; whole && made->count < count; made->count++)
    whole = make_own(&made->list[made->count], arguments);
  if (!whole) ms_small_members_free(&made);
  return made;
}

bool ms_small_members_ready(ms_small_members **members, const ms_small_arguments *arguments,
                            uint32_t count) {
  const ms_block_local *memory = arguments->memory;
  if (memory != NULL && (memory->replica_count > 0 || bytes_of(memory) > MOST_BYTES / count))
    return false;
  bool known = *members != NULL && (*members)->count >= count && (*members)->of.memory == memory &&
               (*members)->of.slot_count == arguments->slot_count;
  if (!known) {
    ms_small_members_free(members);
    *members = make(arguments, count);
  }
  if (*members == NULL) return false;
  for (uint32_t m = 0; m < (*members)->count; m++) renew(&(*members)->list[m], arguments);
  return true;
}

ms_small_member ms_small_members_get(ms_small_members *members, uint32_t number) {
  own *each = &members->list[number];
  return (ms_small_member){.slots = each->slots,
                           .memory = members->of.memory == NULL ? NULL : &each->memory,
                           .fault = &each->fault,
                           .report = &each->report};
}
