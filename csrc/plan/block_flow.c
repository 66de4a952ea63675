/* SPDX-License-Identifier: MIT
 *
 * Block flow: see block_flow.h. */
#include "plan/block_flow.h"

#include <stdbool.h>
#include <stdlib.h>

#include "plan/order.h"

/* The blocks are gone through in their order. Entries of lists are numbered through all of them. */
typedef struct walk {
  const ms_element_lists *writes, *reads;
  int64_t *writer;             /* by element: 1 + the entry of its last write, 0: none */
  uint32_t *range;             /* and the range of the block that it is of */
  bool *first, *handed, *last; /* by entry: of reads, of writes, of writes */
} walk;

static void *take(int64_t count, size_t size) {
  return calloc((size_t)count + 1, size);
}

static bool open(walk *all, const ms_needs *writes, const ms_needs *reads) {
  int64_t stores = ms_element_lists_count(&writes->lists);
  *all = (walk){.writes = &writes->lists,
                .reads = &reads->lists,
                .writer = take(writes->lists.elements, sizeof *all->writer),
                .range = take(writes->lists.elements, sizeof *all->range),
                .first = take(ms_element_lists_count(&reads->lists), sizeof *all->first),
                .handed = take(stores, sizeof *all->handed),
                .last = take(stores, sizeof *all->last)};
  return all->writer != NULL && all->range != NULL && all->first != NULL && all->handed != NULL &&
         all->last != NULL;
}

static void close(walk *all) {
  free(all->writer);
  free(all->range);
  free(all->first);
  free(all->handed);
  free(all->last);
}

/* Notes where the elements that a block reads come from: from before the loop, or from the block
 * that wrote them last, which hands them over if it has another range. */
static void read_block(walk *all, int64_t block, uint32_t range) {
  ms_element_walk list = ms_element_lists_walk(all->reads, block);
  int64_t entry = all->reads->before[block];
  for (ms_span run; ms_element_walk_next(&list, &run);) {
    for (uint32_t e = run.first; e < run.first + run.count; e++, entry++) {
      if (all->writer[e] == 0) {
        all->first[entry] = true;
      } else if (all->range[e] != range) {
        all->handed[all->writer[e] - 1] = true;
      }
    }
  }
}

/* Makes a block the last writer of the elements that it writes. */
static void write_block(walk *all, int64_t block, uint32_t range) {
  ms_element_walk list = ms_element_lists_walk(all->writes, block);
  int64_t entry = all->writes->before[block];
  for (ms_span run; ms_element_walk_next(&list, &run);) {
    for (uint32_t e = run.first; e < run.first + run.count; e++, entry++) {
      if (all->writer[e] != 0) all->last[all->writer[e] - 1] = false;
      all->writer[e] = entry + 1;
      all->range[e] = range;
      all->last[entry] = true;
    }
  }
}

/* Writes the runs of a block's entries that are kept; where they end. */
static char *write_kept(const ms_element_lists *lists, int64_t block, const bool *keep, char *out) {
  ms_element_walk list = ms_element_lists_walk(lists, block);
  int64_t entry = lists->before[block], end = 0; /* of the run before */
  for (ms_span run; ms_element_walk_next(&list, &run);) {
    for (int64_t e = run.first, until = e + run.count; e < until;) {
      int64_t first = e;
      while (e < until && keep[entry + e - first]) e++;
      if (e > first) {
        out = ms_element_lists_write_run(out, end, first, e - first);
        end = e;
      }
      entry += e - first;
      for (; e < until && !keep[entry]; e++) entry++;
    }
  }
  return out;
}

/* The lists of those entries that are kept. NULL: MS_ARR. */
static ms_needs *pick(const ms_element_lists *lists, const bool *keep, ms_error *err) {
  int64_t most = 0;
  for (int64_t b = 0; b < lists->blocks; b++) {
    if (ms_element_lists_of(lists, b) > most) most = ms_element_lists_of(lists, b);
  }
  ms_needs *needs = ms_needs_new(lists->blocks, lists->elements, err);
  char *bytes = take(most, MS_RUN_BYTES);
  if (needs != NULL && bytes == NULL) ms_error_memory(err, MS_ARR, "what blocks hand over");
  bool failed = needs == NULL || bytes == NULL;
  for (int64_t b = 0; !failed && b < lists->blocks; b++) {
    size_t size = (size_t)(write_kept(lists, b, keep, bytes) - bytes);
    failed = ms_needs_add(needs, bytes, size, err) != 0;
  }
  free(bytes);
  if (!failed) return needs;
  ms_needs_free(needs);
  return NULL;
}

static int make(const walk *all, ms_block_flow *flow, ms_error *err) {
  flow->first = pick(all->reads, all->first, err);
  if (flow->first != NULL) flow->handed = pick(all->writes, all->handed, err);
  if (flow->handed != NULL) flow->last = pick(all->writes, all->last, err);
  if (flow->last != NULL) return 0;
  ms_needs_free(flow->first);
  ms_needs_free(flow->handed);
  return -1;
}

static bool are_of(const ms_needs *needs, const ms_plan *plan) {
  return needs->lists.blocks == plan->blocks && needs->filled == plan->blocks;
}

int ms_block_flow_find(const ms_needs *writes, const ms_needs *reads, const ms_plan *plan,
                       ms_block_flow *flow, ms_error *err) {
  *flow = (ms_block_flow){NULL, NULL, NULL};
  if (!are_of(writes, plan) || !are_of(reads, plan) ||
      writes->lists.elements != reads->lists.elements)
    return ms_error_set(err, MS_BUG, "lists of another loop's blocks");
  walk all;
  int failed = -1;
  if (open(&all, writes, reads)) {
    ms_order order = ms_order_of(&plan->grid);
    ms_block_box whole = ms_order_whole(&order);
    uint32_t space = ms_grid_space(&plan->grid), block = MS_NO_BLOCK;
    while ((block = ms_order_next(&order, &whole, block)) != MS_NO_BLOCK) {
      uint32_t range = ms_grid_range(&plan->grid, block, space);
      read_block(&all, block, range);
      write_block(&all, block, range);
    }
    failed = make(&all, flow, err);
  } else {
    ms_error_memory(err, MS_ARR, "what the blocks of a loop hand over");
  }
  close(&all);
  return failed;
}
