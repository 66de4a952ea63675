/* SPDX-License-Identifier: MIT
 *
 * Operands: see operands.h. */
#include "job/operands.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"

/* Arrays and partitions are numbered apart; the vectors of a partition, and the coordinates and
 * rows of a sparse array, get numbers of their own far above those of arrays. */
#define PARTITIONS ((uint64_t)1 << 48)
#define COORDS     ((uint64_t)1 << 49)
#define ROWS       ((uint64_t)1 << 50)
#define LISTS      ((uint64_t)1 << 53)
#define VECTORS    16u

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "what a loop works on");
}

ms_operands *ms_operands_new(uint32_t by_value, ms_error *err) {
  ms_operands *operands = calloc(1, sizeof *operands);
  if (operands == NULL) {
    out_of_memory(err);
    return NULL;
  }
  operands->by_value = by_value;
  return operands;
}

void ms_operands_free(ms_operands *operands) {
  if (operands == NULL) return;
  for (uint32_t i = 0; i < operands->count; i++) {
    free((void *)(size_t)operands->list[i].operand.sections);
  }
  free(operands->list);
  free(operands->ids);
  free(operands);
}

uint32_t ms_operands_number(const ms_operands *operands, uint64_t id) {
  for (uint32_t i = 0; i < operands->count; i++) {
    if (operands->ids[i] == id) return i + 1;
  }
  return 0;
}

static int grow(ms_operands *operands, ms_error *err) {
  uint32_t room = operands->room == 0 ? 8 : 2 * operands->room;
  if (operands->count < operands->room) return 0;
  if (operands->room > INT32_MAX / 2) return out_of_memory(err);
  ms_job_operand *list = realloc(operands->list, room * sizeof *list);
  if (list == NULL) return out_of_memory(err);
  operands->list = list;
  uint64_t *ids = realloc(operands->ids, room * sizeof *ids);
  if (ids == NULL) return out_of_memory(err);
  operands->ids = ids;
  operands->room = room;
  return 0;
}

/* Adds an operand unless it is there; its number. */
static int add(ms_operands *operands, const ms_job_operand *operand, ms_error *err) {
  uint32_t known = ms_operands_number(operands, operand->operand.id);
  if (known > 0) return (int)known;
  if (grow(operands, err) != 0) return -1;
  operands->ids[operands->count] = operand->operand.id;
  operands->list[operands->count] = *operand;
  return (int)++operands->count;
}

static const ms_segment *segment_of(const ms_store *store) {
  return store != NULL ? store->block.segment : NULL;
}

/* A vector that does not change as long as its id and version are the same. */
static ms_job_operand vector(uint64_t id, void *data, const ms_store *store, size_t element,
                             int64_t count) {
  ms_job_operand made = {.data = data, .segment = segment_of(store)};
  made.operand = (ms_operand){.id = id,
                              .movement = MS_MOVE_CACHED,
                              .element = (uint32_t)element,
                              .dim_count = 1,
                              .scale = 1,
                              .dims = {count},
                              .strides = {1}};
  return made;
}

static ms_job_operand dense(const ms_array *array) {
  ms_job_operand made = {.data = array->data, .segment = segment_of(array->store)};
  made.operand = (ms_operand){.id = array->id,
                              .movement = MS_MOVE_BROADCAST,
                              .element = (uint32_t)ms_type_of(array->type)->size,
                              .dim_count = (uint32_t)array->dim_count,
                              .scale = 1};
  memcpy(made.operand.dims, array->dims, sizeof array->dims);
  memcpy(made.operand.strides, array->strides, sizeof array->strides);
  made.store = array->store != NULL ? array->store->id : 0;
  return made;
}

/* Of an array that is only read: where memory is not shared it need not be sent again as long as it
 * has not changed. */
static void keep(const ms_operands *operands, ms_job_operand *operand, const ms_needs *needs) {
  operand->needs = needs;
  if (operands->by_value == 0) return;
  operand->operand.movement = needs != NULL ? MS_MOVE_SERVED : MS_MOVE_CACHED;
}

/* Of an operand that is a binding of the loop the plan says how it moves; of others keep() does. */
static void finish(const ms_operands *operands, ms_job_operand *operand, uint32_t binding,
                   const ms_needs *needs) {
  operand->binding = binding;
  if (binding == 0) keep(operands, operand, needs);
}

int ms_operands_array(ms_operands *operands, const ms_array *array, uint32_t binding,
                      const ms_needs *needs, ms_error *err) {
  ms_job_operand operand = dense(array);
  finish(operands, &operand, binding, needs);
  return add(operands, &operand, err);
}

/* Gives an operand the sections that its array's views have, which may overlap; none where they are
 * all of the array, or too many. */
static int divide(ms_operand *operand, const ms_view_base *base, ms_error *err) {
  if (base->part_count == 0) return 0;
  ms_section *found = calloc(MS_MOST_SECTIONS, sizeof *found);
  if (found == NULL) return out_of_memory(err);
  uint32_t count = ms_sections_disjoin(base->parts, base->part_count, base->dim_count, found);
  ms_operand parted = *operand;
  parted.section_count = count;
  parted.sections = found;
  if (count == 0 || ms_operand_elements(&parted) >= ms_operand_elements(operand)) {
    free(found);
    return 0;
  }
  ms_section *fitted = realloc(found, count * sizeof *found);
  parted.sections = fitted != NULL ? fitted : found;
  *operand = parted;
  return 0;
}

int ms_operands_base(ms_operands *operands, const ms_array *view, const ms_view_base *base,
                     uint32_t binding, ms_error *err) {
  uint32_t known = ms_operands_number(operands, base->id);
  if (known > 0) return (int)known;
  ms_job_operand made = dense(view);
  ms_operand *operand = &made.operand;
  made.data = view->store->block.segment->base + base->place;
  operand->id = base->id;
  operand->dim_count = base->dim_count;
  memcpy(operand->dims, base->dims, sizeof base->dims);
  memcpy(operand->strides, base->strides, sizeof base->strides);
  finish(operands, &made, binding, NULL);
  if (divide(operand, base, err) != 0) return -1;
  int number = add(operands, &made, err);
  if (number < 0) free((void *)(size_t)operand->sections);
  return number;
}

/* Adds a vector in an array's memory that never changes, at `place` of it. */
static int constant(ms_operands *operands, uint64_t id, const ms_array *holder, const void *place,
                    size_t element, int64_t count, const int64_t *offsets, ms_error *err) {
  ms_job_operand operand =
      vector(id, (void *)(size_t)place, holder->store, element, count > 0 ? count : 1);
  operand.operand.version = 1;
  operand.offsets = offsets;
  return add(operands, &operand, err);
}

/* Adds lists in an array's memory, those of `everybody` or each block's own: the number of their
 * head, behind which come their bytes. */
static int add_lists(ms_operands *operands, const ms_needs *needs, const ms_array *holder,
                     bool everybody, ms_error *err) {
  const ms_element_lists *lists = &needs->lists;
  uint64_t id = LISTS + needs->id * VECTORS;
  int head = constant(operands, id, holder, lists->at, sizeof *lists->at, 2 * (lists->blocks + 1),
                      NULL, err);
  if (head < 0 || constant(operands, id + 1, holder, lists->bytes, 1, lists->at[lists->blocks],
                           everybody ? NULL : lists->at, err) < 0)
    return -1;
  return head;
}

/* Whether an operand's lists of elements take fewer bytes than the operand itself. */
static bool lists_pay(const ms_operands *operands, const ms_operand *operand,
                      const ms_needs *writes, const ms_needs *handed) {
  if (operands->by_value == 0) return ms_operand_lists_pay(operand, &writes->lists);
  size_t size = ms_needs_size(writes) + (handed == NULL ? 0 : ms_needs_size(handed));
  return size < ms_operand_bytes(operand);
}

int ms_operands_list(ms_operands *operands, uint32_t number, const ms_needs *writes,
                     const ms_needs *handed, const ms_array *holder, const ms_needs *needs,
                     ms_error *err) {
  ms_operand *operand = &operands->list[number - 1].operand;
  if (!lists_pay(operands, operand, writes, handed) || operand->sections != NULL ||
      operand->lists != NULL || writes->lists.elements != ms_operand_elements(operand)) {
    return (int)number;
  }
  int head = add_lists(operands, writes, holder, false, err), other = 0;
  if (head >= 0 && handed != NULL) other = add_lists(operands, handed, holder, true, err);
  if (head < 0 || other < 0) return -1;
  operand = &operands->list[number - 1].operand; /* the list may have moved */
  operand->listed = (uint64_t)head;
  operand->handed = (uint64_t)other;
  operand->lists = &writes->lists;
  operands->list[number - 1].needs = needs;
  return (int)number;
}

int ms_operands_values(ms_operands *operands, const ms_array *array, uint32_t binding,
                       ms_error *err) {
  ms_job_operand operand =
      vector(array->id, array->data, array->store, ms_type_of(array->type)->size, array->count);
  operand.operand.version = array->version;
  operand.binding = binding;
  return add(operands, &operand, err);
}

int ms_operands_coords(ms_operands *operands, const ms_array *array, uint32_t dim, ms_error *err) {
  ms_job_operand operand = vector(COORDS + array->id * VECTORS + dim + 1, array->coords[dim],
                                  array->coord_store, sizeof(int32_t), array->count);
  return add(operands, &operand, err);
}

int ms_operands_rows(ms_operands *operands, const ms_array *array, const ms_csr *rows,
                     uint32_t part, ms_error *err) {
  uint64_t id = ROWS + array->id * VECTORS + part;
  ms_job_operand operand;
  if (part == 0) {
    operand = vector(id, rows->start, rows->structure, sizeof(int64_t), array->dims[0] + 1);
  } else if (part == 1) {
    operand =
        vector(id, rows->values, rows->value_store, ms_type_of(array->type)->size, array->count);
    operand.operand.version = rows->version;
  } else {
    operand = vector(id, rows->columns[part - 1], rows->structure, sizeof(int32_t), array->count);
  }
  return add(operands, &operand, err);
}

int ms_operands_entries(ms_operands *operands, const ms_partition *partition, uint32_t part,
                        ms_error *err) {
  uint64_t id = PARTITIONS + partition->id * VECTORS + part;
  void *data = part == 0 ? ms_partition_values(partition)
                         : (void *)(size_t)ms_partition_coords(partition, (int)part - 1);
  size_t element = part == 0 ? ms_type_of(partition->type)->size : sizeof(int32_t);
  ms_job_operand operand = vector(id, data, partition->entries, element, partition->count);
  operand.operand.version = partition->version;
  operand.offsets = partition->start;
  return add(operands, &operand, err);
}

int ms_operands_starts(ms_operands *operands, const ms_partition *partition, ms_error *err) {
  ms_job_operand operand = vector(PARTITIONS + (partition->id + 1) * VECTORS - 1, partition->start,
                                  partition->offsets, sizeof(int64_t), partition->blocks + 1);
  operand.operand.version = partition->version;
  return add(operands, &operand, err);
}

int ms_operands_constant(ms_operands *operands, const ms_array *array, ms_error *err) {
  ms_job_operand operand = dense(array);
  operand.operand.movement = MS_MOVE_CACHED;
  operand.operand.version = 1;
  operand.store = 0;
  return add(operands, &operand, err);
}

/* All rows may be written. */
static ms_writes writes_of(const ms_operand *operand) {
  ms_writes writes = {.blind = MS_WRITES_SEEN};
  for (uint32_t d = 0; d < operand->dim_count; d++) writes.high[d] = operand->dims[d];
  if (operand->movement == MS_MOVE_LOCAL || operand->movement == MS_MOVE_ROTATED) {
    writes.follows = 1;
    writes.follow[0] = (ms_follow){.dim = operand->array_dim,
                                   .axis = operand->cut,
                                   .scale = operand->scale,
                                   .offset = operand->offset};
  }
  return writes;
}

void ms_operands_move(ms_operands *operands, uint32_t number, const ms_operand_move *move) {
  ms_operand *operand = &operands->list[number - 1].operand;
  operand->movement = move->movement;
  operand->written = move->written;
  operand->array_dim = move->array_dim;
  operand->cut = move->cut;
  operand->scale = move->scale;
  operand->offset = move->offset;
  operand->slot = move->slot;
  operand->depth = move->depth;
  operand->by_number = move->by_number;
  if (move->written != 0) operand->writes = writes_of(operand);
}

size_t ms_operands_print(const ms_operands *operands, uint32_t number, uint64_t print[2]) {
  const ms_job_operand *each = &operands->list[number - 1];
  const ms_operand *operand = &each->operand;
  uint32_t dims = operand->dim_count;
  bool whole = operand->section_count == 0;
  if (whole && ms_array_is_row_major(dims, operand->dims, operand->strides)) {
    size_t bytes = ms_operand_bytes(operand);
    ms_fingerprint(each->data, bytes, print);
    return bytes;
  }
  print[0] = print[1] = 0;
  for (uint32_t n = 0; n < ms_operand_sections(operand); n++) {
    ms_section section = ms_operand_section(operand, n);
    ms_strided box = ms_operand_part(operand, &section, each->data, false);
    ms_strided_fingerprint(box.data, box.element, dims, box.dims, box.strides, print);
  }
  return 0;
}
