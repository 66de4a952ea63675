/* SPDX-License-Identifier: MIT
 *
 * What small runs keep: see small_keep.h. */
#include "job/small_keep.h"

#include <stdlib.h>
#include <string.h>

#include "job/crew.h"

/* Bytes that are worth calling others. */
#define WORTH ((uint64_t)32 << 10)

typedef struct keeping {
  const ms_small_run *run;
  uint32_t count, pieces;
  ms_crew_pieces open;
} keeping;

/* Keeps a piece of each of what may be written. A member has one: of smaller ones who is done first
 * would take some that are next to another's blocks. */
static void keep_piece(const keeping *of, uint32_t piece) {
  uint64_t at = 0;
  for (uint32_t s = 0; s < of->count; at += of->run->written[s++].size) {
    const ms_small_span *span = &of->run->written[s];
    uint64_t first = span->size * piece / of->pieces, end = span->size * (piece + 1) / of->pieces;
    memcpy(of->run->kept + at + first, (const char *)span->data + first, (size_t)(end - first));
  }
}

static void keep_pieces(void *context, uint32_t member) {
  keeping *of = context;
  uint32_t tried = 0, piece;
  while (ms_crew_take(&of->open, member, &tried, &piece)) keep_piece(of, piece);
}

bool ms_small_keep(ms_small_run *run, uint32_t count, uint32_t members) {
  uint64_t needed = 0;
  for (uint32_t s = 0; s < count; s++) needed += run->written[s].size;
  if (needed > MS_SMALL_MOST_KEPT) return false;
  if (needed > run->kept_room) {
    char *grown = realloc(run->kept, (size_t)needed);
    if (grown == NULL) return false;
    run->kept = grown;
    run->kept_room = needed;
  }
  keeping of = {.run = run, .count = count, .pieces = 1};
  if (needed >= WORTH && members > 1) of.pieces = members;
  ms_crew_share_out(&of.open, members, 0, of.pieces);
  bool called = of.pieces > 1 && ms_crew_call(of.open.members, keep_pieces, &of);
  keep_pieces(&of, 0);
  if (called) ms_crew_dismiss();
  return true;
}

void ms_small_keep_restore(const ms_small_run *run, uint32_t count) {
  uint64_t at = 0;
  for (uint32_t s = 0; s < count; at += run->written[s++].size) {
    memcpy(run->written[s].data, run->kept + at, (size_t)run->written[s].size);
  }
}
