/* SPDX-License-Identifier: MIT
 *
 * Undo: see undo.h. The log is a clock, the regions' states, the order of completion, images. */
#include "job/undo.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job/listed.h"

#define LINE        ((size_t)64) /* alignment of what different processes write */
#define PIECE_BYTES ((int64_t)64 << 10)
#define MOST_PIECES 4096 /* of an operand: each block looks at all until they are logged */
#define MOST_RANGES 4096 /* of an axis whose ranges are regions */
#define CACHED      ((size_t)8 << 20) /* a log up to here stays in the caches from loop to loop */
#define SPINS       200               /* looks at a region that is being copied before sleeping */
#define NAP         20000             /* ns between looks then */
#define LOST_TURNS  128u /* processes that may die between taking a turn and saying for what */

/* States of a region; COPYING + the number of the process that does. */
enum { UNTOUCHED, LOGGED, COPYING };

static size_t aligned(size_t size) {
  return (size + LINE - 1) / LINE * LINE;
}

/* Whether the regions of an operand of which `bytes` may be written are ranges of an axis. What
 * fits a single piece is copied sooner than it is cut. */
static bool is_ranged(const ms_undo *undo, const ms_operand *operand, int64_t bytes) {
  const ms_follow *follow = &operand->writes.follow[0];
  return bytes > PIECE_BYTES && operand->writes.follows > 0 && follow->scale != 0 &&
         undo->bounds.start[follow->axis] != NULL &&
         undo->grid->ranges[follow->axis] <= MOST_RANGES;
}

/* Adds what may be written of section `n` of an operand. */
static int add_part(ms_undo *undo, uint32_t number, uint32_t n, size_t *images, ms_error *err) {
  const ms_operand *operand = &undo->operands[number];
  ms_section all = ms_operand_section(operand, n),
             section = ms_operand_writes_section(operand, &all);
  ms_strided box = ms_operand_part(operand, &section, NULL, false);
  int64_t total = ms_strided_count(&box), bytes = 0;
  if (total == 0) return 0;
  if (total < 0 || __builtin_mul_overflow(total, (int64_t)operand->element, &bytes) ||
      bytes > (int64_t)1 << 46) {
    return ms_error_set(err, MS_ARR, "array %u of the loop is too large to be logged", number + 1);
  }
  ms_undo_part *part = &undo->parts[undo->part_count++];
  *part = (ms_undo_part){.operand = number,
                         .section = section,
                         .first = undo->region_count,
                         .box = box,
                         .total = total,
                         .place = *images};
  if (operand->lists != NULL && ms_operand_lists_pay(operand, operand->lists)) {
    part->lists = operand->lists;
    part->section = all; /* which lists are about */
    part->count = (uint32_t)operand->lists->blocks;
    bytes = ms_element_lists_count(operand->lists) * (int64_t)operand->element;
  } else if (is_ranged(undo, operand, bytes)) {
    part->count = undo->grid->ranges[operand->writes.follow[0].axis];
  } else {
    int64_t piece = bytes / MOST_PIECES > PIECE_BYTES ? bytes / MOST_PIECES : PIECE_BYTES;
    part->piece = piece / (int64_t)operand->element + 1;
    part->count = (uint32_t)((total + part->piece - 1) / part->piece);
  }
  undo->region_count += part->count;
  *images += aligned((size_t)bytes);
  return 0;
}

/* Entries of the order in which copies were completed. */
static uint32_t turns(const ms_undo *undo) {
  return undo->region_count + LOST_TURNS;
}

/* Bytes of the log before the images. */
static size_t head_size(const ms_undo *undo) {
  return LINE + aligned(((size_t)undo->region_count + turns(undo)) * sizeof(uint32_t));
}

/* Versions are fresh memory: a block that is run again makes them again. */
static bool is_logged(const ms_operand *operand) {
  return operand->written && operand->movement != MS_MOVE_VERSIONED &&
         operand->writes.blind != MS_WRITES_UNLOGGED;
}

int ms_undo_divide(ms_undo *undo, const ms_grid *grid, const ms_range_starts *bounds,
                   const ms_operand *operands, uint32_t count, ms_error *err) {
  *undo = (ms_undo){.grid = grid, .bounds = *bounds, .operands = operands};
  uint32_t written = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (is_logged(&operands[i])) written += ms_operand_sections(&operands[i]);
  }
  if (written == 0) return 0;
  undo->parts = calloc(written, sizeof *undo->parts);
  if (undo->parts == NULL) return ms_error_memory(err, MS_WRK, "the log of a loop's stores");
  size_t images = 0;
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t n = 0; is_logged(&operands[i]) && n < ms_operand_sections(&operands[i]); n++) {
      if (add_part(undo, i, n, &images, err) != 0) return -1;
    }
  }
  for (uint32_t p = 0; p < undo->part_count; p++) undo->parts[p].place += head_size(undo);
  if (undo->part_count > 0) undo->size = head_size(undo) + images;
  return 0;
}

int ms_undo_room(ms_segment_block *room, size_t size, ms_error *err) {
  ms_error trouble;
  ms_error_clear(&trouble);
  if (ms_segment_block_take(room, size, &trouble) == 0) return 0;
  return ms_error_set(err, MS_ARR,
                      "no memory for the log that would undo the loop if it failed: %s; "
                      "{transaction = false} runs the loop without one",
                      trouble.message);
}

void ms_undo_attach(ms_undo *undo, void *memory, void *const *data) {
  undo->memory = memory;
  undo->clock = memory;
  undo->state = (_Atomic uint32_t *)(void *)(undo->memory + LINE);
  undo->order = undo->state + undo->region_count;
  for (uint32_t p = 0; p < undo->part_count; p++) {
    ms_undo_part *part = &undo->parts[p];
    part->box =
        ms_operand_part(&undo->operands[part->operand], &part->section, data[part->operand], false);
  }
}

void ms_undo_clear(ms_undo *undo) {
  if (undo->size > 0) memset(undo->memory, 0, head_size(undo));
}

/* The rows of a part's box that may be written with a range of the axis that the operand's writes
 * follow as number `which`. */
static void rows_with(const ms_undo *undo, const ms_undo_part *part, uint32_t which, uint32_t range,
                      int64_t *lo, int64_t *hi) {
  const ms_writes *writes = &undo->operands[part->operand].writes;
  uint32_t dim = writes->follow[which].dim;
  int64_t before = part->section.low[dim] - writes->low[dim], extent = part->box.dims[dim];
  ms_operand_writes_rows(&undo->operands[part->operand], &undo->bounds, which, range, lo, hi);
  *lo = *lo < before ? 0 : *lo - before;
  *hi = *hi < before ? 0 : *hi - before;
  if (*lo > extent) *lo = extent;
  if (*hi > extent) *hi = extent;
}

/* The region of a block, of a part that is not in pieces. */
static uint32_t region_of(const ms_undo *undo, const ms_undo_part *part, uint32_t block) {
  if (part->lists != NULL) return block;
  return ms_grid_range(undo->grid, block, undo->operands[part->operand].writes.follow[0].axis);
}

/* The image of a block's list, and its elements. */
static unsigned char *locate_list(const ms_undo *undo, const ms_undo_part *part, uint32_t block,
                                  int64_t *count) {
  *count = ms_element_lists_of(part->lists, block);
  return undo->memory + part->place +
         (size_t)part->lists->before[block] * undo->operands[part->operand].element;
}

/* Copies the elements of a block's list to their image, or `back`; how many they are. */
static int64_t move_list(const ms_undo *undo, const ms_undo_part *part, uint32_t block, bool back) {
  ms_elements all = ms_elements_of(&undo->operands[part->operand], part->box.data, false);
  ms_listed list = ms_listed_begin(part->lists, block);
  int64_t count;
  unsigned char *image = locate_list(undo, part, block, &count);
  return back ? ms_listed_scatter(&list, &all, count, image)
              : ms_listed_gather(&list, &all, count, image);
}

/* Where a region that is no list lies: elements *first .. *first + *count of *box, and their image.
 */
static unsigned char *locate(const ms_undo *undo, const ms_undo_part *part, uint32_t region,
                             ms_strided *box, int64_t *first, int64_t *count) {
  const ms_operand *operand = &undo->operands[part->operand];
  *box = part->box;
  int64_t before;
  if (part->piece > 0) {
    before = *first = region * part->piece;
    *count = part->total - *first < part->piece ? part->total - *first : part->piece;
  } else {
    uint32_t dim = operand->writes.follow[0].dim;
    int64_t lo, hi;
    rows_with(undo, part, 0, region, &lo, &hi);
    before = lo * (part->total / part->box.dims[dim]);
    *box = ms_strided_rows(box, dim, lo, hi);
    *first = 0;
    *count = ms_strided_count(box);
  }
  return undo->memory + part->place + (size_t)before * operand->element;
}

/* Notes that a region's image is there: after the copy, before any write. */
static void complete(ms_undo *undo, uint32_t number) {
  uint32_t turn = atomic_fetch_add(undo->clock, 1);
  atomic_store(&undo->order[turn % turns(undo)], number + 1);
}

/* Copies a region to its image; false when it has no elements. */
static bool copy_region(const ms_undo *undo, const ms_undo_part *part, uint32_t region) {
  ms_strided box;
  int64_t first, count;
  if (part->lists != NULL) return move_list(undo, part, region, false) > 0;
  unsigned char *image = locate(undo, part, region, &box, &first, &count);
  if (count == 0) return false;
  if (undo->size > CACHED) {
    ms_strided_stream(&box, first, count, image);
  } else {
    ms_strided_gather(&box, first, count, image);
  }
  return true;
}

/* What became of a region that a block needs. */
typedef enum { BUSY, THERE, MADE } found;

/* Logs a region unless it is logged, or another process is copying it. */
static found log_region(ms_undo *undo, const ms_undo_part *part, uint32_t region) {
  uint32_t number = part->first + region, untouched = UNTOUCHED;
  _Atomic uint32_t *state = &undo->state[number];
  uint32_t now = atomic_load_explicit(state, memory_order_acquire);
  if (now == LOGGED) return THERE;
  if (now != UNTOUCHED ||
      !atomic_compare_exchange_strong(state, &untouched, COPYING + undo->process)) {
    return BUSY;
  }
  if (copy_region(undo, part, region)) complete(undo, number);
  atomic_store_explicit(state, LOGGED, memory_order_release);
  return MADE;
}

/* Waits for the process that copies a region; if that died, this one does. */
static bool await(ms_undo *undo, const ms_undo_part *part, uint32_t region,
                  bool (*go_on)(void *context), void *context) {
  const struct timespec nap = {.tv_nsec = NAP};
  for (uint32_t look = 0; log_region(undo, part, region) == BUSY; look++) {
    if (look < SPINS) {
      __builtin_ia32_pause();
      continue;
    }
    if (!go_on(context)) return false;
    nanosleep(&nap, NULL);
  }
  return true;
}

int ms_undo_log(ms_undo *undo, uint32_t block, bool (*go_on)(void *context), void *context) {
  for (uint32_t p = 0; p < undo->part_count; p++) {
    ms_undo_part *part = &undo->parts[p];
    if (part->logged) continue;
    uint32_t from = 0, end = part->count;
    if (part->piece == 0) {
      from = region_of(undo, part, block);
      end = from + 1;
    }
    found got = THERE;
    bool all = true; /* logs regions that nobody has begun to log, before it waits for others */
    for (uint32_t region = from; region < end; region++) {
      got = log_region(undo, part, region);
      all = all && got != BUSY;
    }
    part->fresh = part->piece == 0 && got == MADE;
    for (uint32_t region = from; !all && region < end; region++) {
      if (!await(undo, part, region, go_on, context)) return -1;
    }
    part->logged = part->piece > 0;
  }
  return 0;
}

void ms_undo_log_operand(ms_undo *undo, uint32_t operand) {
  for (uint32_t p = 0; p < undo->part_count; p++) {
    ms_undo_part *part = &undo->parts[p];
    if (part->operand != operand || part->logged) continue;
    for (uint32_t region = 0; region < part->count; region++) log_region(undo, part, region);
    part->logged = true;
  }
}

void ms_undo_log_elements(ms_undo *undo, uint32_t operand, int64_t first, int64_t count) {
  for (uint32_t p = 0; p < undo->part_count && count > 0; p++) {
    const ms_undo_part *part = &undo->parts[p];
    if (part->operand != operand) continue;
    int64_t last = (first + count - 1) / part->piece;
    for (int64_t region = first / part->piece; region <= last; region++) {
      while (log_region(undo, part, (uint32_t)region) == BUSY) __builtin_ia32_pause();
    }
  }
}

/* Whether the copy of region `number` has been completed. */
static bool is_ordered(const ms_undo *undo, uint32_t number) {
  for (uint32_t turn = 0; turn < turns(undo); turn++) {
    if (atomic_load(&undo->order[turn]) == number + 1) return true;
  }
  return false;
}

void ms_undo_release(ms_undo *undo, uint32_t process) {
  for (uint32_t number = 0; number < undo->region_count; number++) {
    if (atomic_load(&undo->state[number]) != COPYING + process) continue;
    atomic_store(&undo->state[number], is_ordered(undo, number) ? LOGGED : UNTOUCHED);
  }
}

ms_strided ms_undo_strided(const ms_undo *undo, const ms_undo_part *part, uint32_t block) {
  const ms_operand *operand = &undo->operands[part->operand];
  ms_strided box = part->box;
  for (uint32_t k = 0; k < operand->writes.follows; k++) {
    const ms_follow *follow = &operand->writes.follow[k];
    if (undo->bounds.start[follow->axis] == NULL) continue;
    int64_t lo, hi;
    rows_with(undo, part, k, ms_grid_range(undo->grid, block, follow->axis), &lo, &hi);
    box = ms_strided_rows(&box, follow->dim, lo, hi);
  }
  return box;
}

static void restore_region(const ms_undo *undo, const ms_undo_part *part, uint32_t region) {
  ms_strided box;
  int64_t first, count;
  if (part->lists != NULL) {
    move_list(undo, part, region, true);
    return;
  }
  const unsigned char *image = locate(undo, part, region, &box, &first, &count);
  ms_strided_scatter(&box, first, count, image);
}

void ms_undo_restore_range(const ms_undo *undo, const ms_undo_part *part, uint32_t block) {
  if (part->piece == 0) restore_region(undo, part, region_of(undo, part, block));
}

static void restore_number(const ms_undo *undo, uint32_t number) {
  for (uint32_t p = 0; p < undo->part_count; p++) {
    const ms_undo_part *part = &undo->parts[p];
    bool inside = number >= part->first && number < part->first + part->count;
    if (inside) restore_region(undo, part, number - part->first);
  }
}

void ms_undo_restore(ms_undo *undo) {
  if (undo->size == 0) return;
  uint32_t turn = atomic_load(undo->clock);
  if (turn > turns(undo)) turn = turns(undo);
  while (turn-- > 0) {
    uint32_t number = atomic_load(&undo->order[turn]);
    if (number > 0) restore_number(undo, number - 1);
  }
}

/* The image of a region, and how many elements it has. */
static void *image_of(const ms_undo *undo, const ms_undo_part *part, uint32_t region,
                      int64_t *count) {
  ms_strided box;
  int64_t first;
  if (part->lists != NULL) return locate_list(undo, part, region, count);
  return locate(undo, part, region, &box, &first, count);
}

/* Takes over the image of a region, unless there is an older one. */
static void fold_region(ms_undo *undo, const ms_undo *later, uint32_t number) {
  if (atomic_load(&undo->state[number]) == LOGGED) return;
  for (uint32_t p = 0; p < later->part_count; p++) {
    const ms_undo_part *part = &later->parts[p];
    if (number < part->first || number >= part->first + part->count) continue;
    int64_t count;
    const void *from = image_of(later, part, number - part->first, &count);
    void *to = image_of(undo, &undo->parts[p], number - part->first, &count);
    memcpy(to, from, (size_t)count * undo->operands[part->operand].element);
    complete(undo, number);
    atomic_store(&undo->state[number], LOGGED);
  }
}

void ms_undo_fold(ms_undo *undo, const ms_undo *later) {
  if (later->size == 0) return;
  uint32_t end = atomic_load(later->clock);
  if (end > turns(later)) end = turns(later);
  for (uint32_t turn = 0; turn < end; turn++) {
    uint32_t number = atomic_load(&later->order[turn]);
    if (number > 0) fold_region(undo, later, number - 1);
  }
}

void ms_undo_free(ms_undo *undo) {
  free(undo->parts);
  *undo = (ms_undo){0};
}
