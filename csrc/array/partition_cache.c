/* SPDX-License-Identifier: MIT
 *
 * The partitions that an array keeps: see partition.h. An array holds a reference to each of its
 * own; those of an older version of the values are dropped when another is asked for. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array/partition_build.h"

static uint64_t last_id, clock_ticks;

uint64_t ms_partition_number(void) {
  return ++last_id;
}

void ms_partition_release(ms_partition **partition) {
  ms_partition *old = *partition;
  *partition = NULL;
  if (old == NULL || --old->references > 0) return;
  for (uint32_t c = 0; c < MS_ARRAY_DIMS; c++) free(old->bounds[c]);
  if (old->offsets != NULL) ms_store_release(&old->offsets);
  ms_store_release(&old->entries);
  free(old);
}

const int32_t *ms_partition_coords(const ms_partition *partition, int dim) {
  char *base = ms_segment_block_at(&partition->entries->block);
  return (const int32_t *)(const void *)(base + partition->coord_offset[dim]);
}

void *ms_partition_values(const ms_partition *partition) {
  return (char *)ms_segment_block_at(&partition->entries->block) + partition->value_offset;
}

static void drop(ms_partition **link) {
  ms_partition *gone = *link;
  *link = gone->next;
  gone->next = NULL;
  ms_partition_release(&gone);
}

void ms_partition_drop_all(ms_array *array) {
  while (array->partitions != NULL) drop(&array->partitions);
}

static void drop_outdated(ms_array *array) {
  for (ms_partition **link = &array->partitions; *link != NULL;) {
    if ((*link)->version != array->version) {
      drop(link);
    } else {
      link = &(*link)->next;
    }
  }
}

/* Keeps the one just used and, of the others, no more than one data's worth: least recently used
 * ones go. */
static void make_room(ms_array *array) {
  for (;;) {
    uint64_t bytes = 0;
    uint32_t kept = 0;
    ms_partition **oldest = NULL;
    for (ms_partition **link = &array->partitions; *link != NULL; link = &(*link)->next) {
      bytes += (*link)->entries->block.size;
      kept++;
      if (oldest == NULL || (*link)->used < (*oldest)->used) oldest = link;
    }
    /* Alignment may make a partition a little larger than the data: hence the slack. */
    uint64_t data = ms_array_bytes(array) + 64 * (MS_ARRAY_DIMS + 1);
    if (kept <= 1 || bytes <= 2 * data) return;
    drop(oldest);
  }
}

static bool same_cut(const ms_cut *a, const ms_cut *b) {
  if (a->count != b->count || a->ordered != b->ordered) return false;
  for (uint32_t c = 0; c < a->count; c++) {
    if (a->dims[c] != b->dims[c] || a->ranges[c] != b->ranges[c]) return false;
  }
  return true;
}

static int check_cut(const ms_array *array, const ms_cut *cut, ms_error *err) {
  if (ms_array_check(array, err) != 0) return -1;
  if (!array->sparse) return ms_error_set(err, MS_ARR, "only sparse arrays are cut by entries");
  if (cut->count < 1 || cut->count > (uint32_t)array->dim_count) {
    return ms_error_set(err, MS_OPT, "an array of %d dimensions cannot be cut along %" PRIu32,
                        array->dim_count, cut->count);
  }
  uint32_t seen = 0;
  for (uint32_t c = 0; c < cut->count; c++) {
    if (cut->dims[c] >= (uint32_t)array->dim_count || (seen >> cut->dims[c] & 1) != 0) {
      return ms_error_set(err, MS_OPT, "dimension %" PRIu32 " cannot be cut (again)",
                          cut->dims[c] + 1);
    }
    seen |= (uint32_t)1 << cut->dims[c];
    if (cut->ranges[c] < 1 || cut->ranges[c] > MS_PARTITION_BLOCKS) {
      return ms_error_set(err, MS_OPT, "%" PRIu32 " ranges are not in 1..%" PRId64, cut->ranges[c],
                          MS_PARTITION_BLOCKS);
    }
  }
  return 0;
}

ms_partition *ms_partition_get(ms_array *array, const ms_cut *cut, ms_error *err) {
  if (check_cut(array, cut, err) != 0) return NULL;
  drop_outdated(array);
  ms_partition *found = array->partitions;
  while (found != NULL && !same_cut(&found->asked, cut)) found = found->next;
  if (found == NULL) {
    found = ms_partition_build(array, cut, err);
    if (found == NULL) return NULL;
    found->id = ms_partition_number();
    found->next = array->partitions;
    array->partitions = found;
  }
  found->used = ++clock_ticks;
  found->references++;
  make_room(array);
  return found;
}
