/* SPDX-License-Identifier: MIT
 *
 * Gate sets: see gate_sets.h. */
#include "sync/gate_sets.h"

#include <stdlib.h>
#include <string.h>

/* Whether lists of ranges are lists of ranges, and none is longer than there are ranges. */
static bool are_ranges(const uint64_t *first, const uint32_t *members, const ms_gate_sets *sets) {
  if (members == NULL) return true;
  if (first == NULL || first[0] != 0) return false;
  for (uint32_t b = 0; b < sets->blocks; b++) {
    if (first[b + 1] < first[b] || first[b + 1] - first[b] > sets->ranges) return false;
    for (uint64_t i = first[b]; i < first[b + 1]; i++) {
      if (members[i] >= sets->ranges) return false;
    }
  }
  return true;
}

static bool is_observer(const ms_gate_sets *sets, uint32_t block) {
  return sets->observer != NULL && sets->observer[block];
}

/* How many ranges a block writes. */
static uint64_t write_count(const ms_gate_sets *sets, uint32_t block) {
  if (sets->writes == NULL) return is_observer(sets, block) ? 0 : 1;
  return sets->write_first[block + 1] - sets->write_first[block];
}

bool ms_gate_sets_valid(const ms_gate_sets *sets) {
  if (sets->workers == 0 || sets->blocks == 0) return false;
  if (!are_ranges(sets->read_first, sets->reads, sets)) return false;
  if (!are_ranges(sets->write_first, sets->writes, sets)) return false;
  for (uint32_t b = 0; b < sets->blocks; b++) {
    uint64_t writes = write_count(sets, b);
    if (sets->owner[b] >= sets->workers) return false;
    if (sets->order != NULL && sets->order[b] >= sets->blocks) return false;
    if (sets->writes == NULL && writes > 0 && b >= sets->ranges) return false;
    if (is_observer(sets, b) && writes > 0) return false;
  }
  return true;
}

int ms_gate_sets_writes(const ms_gate_sets *sets, ms_gate_lists *writes) {
  uint64_t count = 0;
  for (uint32_t b = 0; b < sets->blocks; b++) count += write_count(sets, b);
  writes->first = calloc((size_t)sets->blocks + 1, sizeof *writes->first);
  writes->members = calloc((size_t)count + 1, sizeof *writes->members);
  if (writes->first == NULL || writes->members == NULL) return -1;
  for (uint32_t b = 0; b < sets->blocks; b++) {
    uint64_t mine = write_count(sets, b), at = writes->first[b];
    for (uint64_t k = 0; k < mine; k++) {
      writes->members[at + k] = sets->writes == NULL ? b : sets->writes[sets->write_first[b] + k];
    }
    writes->first[b + 1] = at + mine;
  }
  return 0;
}

int ms_gate_sets_turn(const ms_gate_sets *sets, const uint64_t *first, const uint32_t *members,
                      ms_gate_lists *turned) {
  uint64_t count = members == NULL ? 0 : first[sets->blocks];
  turned->first = calloc((size_t)sets->ranges + 2, sizeof *turned->first);
  turned->members = calloc((size_t)count + 1, sizeof *turned->members);
  if (turned->first == NULL || turned->members == NULL) return -1;
  uint64_t *next = turned->first + 1; /* where a range's next block goes: at last, its end */
  for (uint64_t i = 0; i < count; i++) next[members[i] + 1]++;
  for (uint32_t x = 0; x < sets->ranges; x++) next[x + 1] += next[x];
  for (uint32_t b = 0; b < sets->blocks && count > 0; b++) {
    for (uint64_t i = first[b]; i < first[b + 1]; i++) turned->members[next[members[i]]++] = b;
  }
  return 0;
}

void ms_gate_lists_free(ms_gate_lists *lists) {
  free(lists->first);
  free(lists->members);
  *lists = (ms_gate_lists){0};
}
