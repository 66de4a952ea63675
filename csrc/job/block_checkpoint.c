/* SPDX-License-Identifier: MIT
 *
 * Checkpoints of blocks: see block_checkpoint.h. A slot is the head, a flag for each part, and the
 * images. */
#include "job/block_checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "net/road.h"

#define LINE ((size_t)64)

enum { IN_SLOT, IN_LOG }; /* flags: where the image of a part is */

static size_t aligned(size_t size) {
  return (size + LINE - 1) / LINE * LINE;
}

/* Most rows that one range of an axis brings; of a section it is no more. */
static int64_t most_rows(const ms_undo *undo, const ms_operand *operand, uint32_t which) {
  uint32_t axis = operand->writes.follow[which].axis;
  int64_t most = 0, lo, hi;
  for (uint32_t range = 0; range < undo->grid->ranges[axis]; range++) {
    ms_operand_writes_rows(operand, &undo->bounds, which, range, &lo, &hi);
    if (hi - lo > most) most = hi - lo;
  }
  return most;
}

/* Says how a part is kept; false when no block can be undone alone. */
static bool divide_part(const ms_undo *undo, const ms_undo_part *from,
                        ms_block_checkpoint_part *part) {
  const ms_operand *operand = &undo->operands[from->operand];
  const ms_writes *writes = &operand->writes;
  if (writes->blind) return true;
  if (from->lists != NULL) {
    part->logs = true;
    return true;
  }
  ms_strided box = from->box;
  bool alone = false;
  for (uint32_t k = 0; k < writes->follows; k++) {
    const ms_follow *follow = &writes->follow[k];
    if (undo->bounds.start[follow->axis] == NULL) continue;
    bool chains = ms_grid_chains(undo->grid, follow->axis);
    if (k == 0) part->logs = chains && from->piece == 0;
    alone = alone || chains;
    box = ms_strided_rows(&box, follow->dim, 0, most_rows(undo, operand, k));
  }
  part->most = (size_t)ms_strided_count(&box) * operand->element; /* no more than the whole part */
  return alone;
}

int ms_block_checkpoint_divide(ms_block_checkpoint *checkpoint, ms_undo *undo, uint32_t workers,
                               ms_error *err) {
  *checkpoint = (ms_block_checkpoint){.undo = undo, .workers = workers, .possible = true};
  checkpoint->parts = calloc((size_t)undo->part_count + 1, sizeof *checkpoint->parts);
  if (checkpoint->parts == NULL) return ms_error_memory(err, MS_WRK, "a block's checkpoint");
  size_t head = checkpoint->slot_size =
      aligned(sizeof(ms_block_checkpoint_slot) + undo->part_count);
  for (uint32_t p = 0; p < undo->part_count && checkpoint->possible; p++) {
    ms_block_checkpoint_part *part = &checkpoint->parts[p];
    checkpoint->possible = divide_part(undo, &undo->parts[p], part);
    part->place = checkpoint->slot_size;
    checkpoint->slot_size += aligned(part->most);
  }
  if (!checkpoint->possible) checkpoint->slot_size = head;
  checkpoint->size = checkpoint->slot_size * workers;
  return 0;
}

void ms_block_checkpoint_attach(ms_block_checkpoint *checkpoint, void *memory) {
  checkpoint->memory = memory;
}

ms_block_checkpoint_slot *ms_block_checkpoint_at(const ms_block_checkpoint *checkpoint,
                                                 uint32_t worker) {
  return (ms_block_checkpoint_slot *)(void *)(checkpoint->memory + worker * checkpoint->slot_size);
}

static unsigned char *flags(const ms_block_checkpoint *checkpoint, uint32_t worker) {
  return checkpoint->memory + worker * checkpoint->slot_size + sizeof(ms_block_checkpoint_slot);
}

void ms_block_checkpoint_inherit(const ms_block_checkpoint *checkpoint, uint32_t worker) {
  ms_block_checkpoint_slot *slot = ms_block_checkpoint_at(checkpoint, worker);
  atomic_store(&slot->kept, 0);
  atomic_store(&slot->sent, 0);
  atomic_store(&slot->end, 0);
}

void ms_block_checkpoint_clear(const ms_block_checkpoint *checkpoint, uint32_t worker) {
  ms_block_checkpoint_slot *slot = ms_block_checkpoint_at(checkpoint, worker);
  ms_block_checkpoint_inherit(checkpoint, worker);
  atomic_store(&slot->finished, 0);
  atomic_store(&slot->busy, 0);
  atomic_store(&slot->waited, 0);
}

/* ------------------------------------------------------------------------------- images */

static bool in_log(const ms_block_checkpoint *checkpoint, uint32_t p) {
  const ms_undo_part *part = &checkpoint->undo->parts[p];
  return checkpoint->parts[p].logs && (part->fresh || part->lists != NULL);
}

size_t ms_block_checkpoint_bytes(const ms_block_checkpoint *checkpoint) {
  size_t bytes = 0;
  for (uint32_t p = 0; p < checkpoint->undo->part_count; p++) {
    if (!in_log(checkpoint, p)) bytes += checkpoint->parts[p].most;
  }
  return bytes;
}

void ms_block_checkpoint_keep(const ms_block_checkpoint *checkpoint, uint32_t worker,
                              uint32_t block) {
  unsigned char *start = checkpoint->memory + worker * checkpoint->slot_size,
                *flag = flags(checkpoint, worker);
  ms_block_checkpoint_slot *slot = ms_block_checkpoint_at(checkpoint, worker);
  atomic_store_explicit(&slot->kept, 0, memory_order_relaxed);
  for (uint32_t p = 0; p < checkpoint->undo->part_count; p++) {
    const ms_block_checkpoint_part *part = &checkpoint->parts[p];
    flag[p] = in_log(checkpoint, p) ? IN_LOG : IN_SLOT;
    if (part->most == 0 || flag[p] == IN_LOG) continue;
    ms_strided box = ms_undo_strided(checkpoint->undo, &checkpoint->undo->parts[p], block);
    ms_strided_gather(&box, 0, ms_strided_count(&box), start + part->place);
  }
  atomic_store_explicit(&slot->kept, (uint64_t)block + 1, memory_order_release);
}

bool ms_block_checkpoint_undo(const ms_block_checkpoint *checkpoint, uint32_t worker,
                              uint32_t block) {
  const ms_block_checkpoint_slot *slot = ms_block_checkpoint_at(checkpoint, worker);
  if (!checkpoint->possible || atomic_load(&slot->kept) != (uint64_t)block + 1) return false;
  const unsigned char *start = checkpoint->memory + worker * checkpoint->slot_size;
  const unsigned char *flag = flags(checkpoint, worker);
  for (uint32_t p = 0; p < checkpoint->undo->part_count; p++) {
    const ms_block_checkpoint_part *part = &checkpoint->parts[p];
    if (part->most == 0 && !part->logs) continue;
    if (part->logs && flag[p] == IN_LOG) {
      ms_undo_restore_range(checkpoint->undo, &checkpoint->undo->parts[p], block);
      continue;
    }
    ms_strided box = ms_undo_strided(checkpoint->undo, &checkpoint->undo->parts[p], block);
    ms_strided_scatter(&box, 0, ms_strided_count(&box), start + part->place);
  }
  return true;
}

/* ------------------------------------------------------------------------------- reports */

void ms_block_checkpoint_finish(const ms_block_checkpoint *checkpoint, uint32_t worker,
                                uint64_t finished, uint64_t busy, uint64_t waited) {
  ms_block_checkpoint_slot *slot = ms_block_checkpoint_at(checkpoint, worker);
  atomic_store_explicit(&slot->busy, busy, memory_order_relaxed);
  atomic_store_explicit(&slot->waited, waited, memory_order_relaxed);
  atomic_store_explicit(&slot->finished, finished, memory_order_release);
}

bool ms_block_checkpoint_note(const ms_block_checkpoint *checkpoint, uint32_t worker, char *shelf,
                              const char *bytes, size_t size) {
  ms_block_checkpoint_slot *slot = ms_block_checkpoint_at(checkpoint, worker);
  uint64_t end = atomic_load_explicit(&slot->end, memory_order_relaxed);
  size_t used = (size_t)(end - atomic_load_explicit(&slot->sent, memory_order_relaxed));
  if (used > MS_SHELF_SIZE || size > MS_SHELF_SIZE - used) return false;
  memcpy(shelf + used, bytes, size);
  atomic_store_explicit(&slot->end, end + size, memory_order_release);
  return true;
}

void ms_block_checkpoint_sent(const ms_block_checkpoint *checkpoint, uint32_t worker, size_t size) {
  ms_block_checkpoint_slot *slot = ms_block_checkpoint_at(checkpoint, worker);
  uint64_t all = atomic_load_explicit(&slot->sent, memory_order_relaxed) + size;
  atomic_store_explicit(&slot->end, all, memory_order_release);  /* the new bytes were just sent, */
  atomic_store_explicit(&slot->sent, all, memory_order_release); /* so nobody looks for them */
}

int64_t ms_block_checkpoint_rest(const ms_block_checkpoint *checkpoint, uint32_t worker,
                                 uint64_t finished, size_t got, size_t *size) {
  ms_block_checkpoint_slot *slot = ms_block_checkpoint_at(checkpoint, worker);
  uint64_t sent = atomic_load(&slot->sent), end = atomic_load(&slot->end);
  *size = 0;
  if (atomic_load(&slot->finished) != finished) return -1; /* it died before it told of one */
  if (got >= end) return 0;
  if (got < sent || end - sent > MS_SHELF_SIZE) return -1;
  *size = (size_t)(end - got);
  return (int64_t)(got - sent);
}

void ms_block_checkpoint_free(ms_block_checkpoint *checkpoint) {
  free(checkpoint->parts);
  *checkpoint = (ms_block_checkpoint){0};
}
