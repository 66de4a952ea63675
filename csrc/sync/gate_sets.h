/* SPDX-License-Identifier: MIT
 *
 * Gate sets: which blocks of a round may read and write which ranges.
 *
 * Lists are in compressed rows: number i has members[first[i] .. first[i + 1]). Pure. */
#ifndef MS_SYNC_GATE_SETS_H
#define MS_SYNC_GATE_SETS_H

#include <stdbool.h>
#include <stdint.h>

/* Who reads and writes what; the caller's, only looked at while a gate is made. */
typedef struct ms_gate_sets {
  uint32_t workers, blocks, ranges;
  const uint32_t *owner;       /* of each block, a worker */
  const uint32_t *order;       /* blocks in plan order; NULL: by number */
  const uint64_t *read_first;  /* block b may read reads[read_first[b] .. read_first[b + 1]) */
  const uint32_t *reads;       /* ranges; NULL: everyone may read everything */
  const uint64_t *write_first; /* the same for what it may write; */
  const uint32_t *writes;      /* NULL: block b writes range b, observers nothing */
  const bool *observer;        /* which blocks are observers; NULL: none */
} ms_gate_sets;

/* Lists of their owner's: first[count + 1], members. */
typedef struct ms_gate_lists {
  uint64_t *first;
  uint32_t *members;
} ms_gate_lists;

/* Whether every list names ranges, each owner is a worker, and observers write nothing. */
bool ms_gate_sets_valid(const ms_gate_sets *sets);

/* Copies what each block writes, said or not, into lists that the caller frees; -1 without memory.
 */
int ms_gate_sets_writes(const ms_gate_sets *sets, ms_gate_lists *writes);

/* From what each block has in its list to which blocks have a range in theirs, blocks in their
 * order; the caller frees `turned`. Without members there are empty lists. -1 without memory. */
int ms_gate_sets_turn(const ms_gate_sets *sets, const uint64_t *first, const uint32_t *members,
                      ms_gate_lists *turned);

/* Frees lists; there may be none. */
void ms_gate_lists_free(ms_gate_lists *lists);

#endif
