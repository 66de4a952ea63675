/* SPDX-License-Identifier: MIT
 *
 * Ids: numbers the ids of a column while a file is read, in order of first appearance.
 *
 * As long as every id is an integer in plain form it is kept as a number; the first other one
 * turns all into strings. At the end numbers are put in order. The caller owns the record. */
#ifndef MS_READ_IDS_H
#define MS_READ_IDS_H

#include <stdbool.h>
#include <stddef.h>

#include "array/labels.h"

/* Twice as many slots must be a uint32. */
#define MS_IDS_MOST ((int64_t)1 << 30)

typedef struct ms_ids {
  bool strings;
  uint64_t *table; /* by hash: hash << 32 | position + 1, 0 empty; linear probing */
  uint32_t mask;
  int64_t hashed; /* how many ids are in the table */
  int64_t count, capacity;
  int64_t *numbers;    /* while not `strings` */
  uint32_t *direct;    /* position + 1 of the numbers 0 .. direct_size - 1, 0 for none: these */
  int64_t direct_size; /* need not be in the table */
  uint64_t *offsets;   /* strings: id p is bytes[offsets[p] .. offsets[p+1]) */
  char *bytes;
  uint64_t byte_capacity;
  ms_labels *fixed;     /* not owned: only these ids are known, nothing is added */
  int64_t fixed_extent; /* without labels: ids are the integers 1..fixed_extent; 0: not fixed */
} ms_ids;

/* An id on its way to its position. Looking it up waits for memory; of several ids that are all
 * approached, then neared, then placed, that is fetched at the same time. */
typedef struct ms_id {
  const char *text; /* the caller's */
  size_t length;
  bool integer;
  int64_t number; /* if it is an integer */
  uint32_t hash;  /* of the text, if it is no integer */
} ms_id;

/* Reads an id for a map and has its place in the table fetched. */
void ms_ids_approach(const ms_ids *ids, const char *text, size_t length, ms_id *id);

/* Has fetched what that place tells of. */
void ms_ids_near(const ms_ids *ids, const ms_id *id);

/* The position of an id, which is added when it is new. -1 with an error: memory, more than
 * MS_IDS_MOST ids (MS_ARR); -2 when the map is fixed and does not have it. */
int64_t ms_ids_place(ms_ids *ids, const ms_id *id, ms_error *err);

/* So many ids are worth approaching together. */
#define MS_IDS_GROUP 32

/* Adds the ids of another record in their order, as if each had been met; place[p] becomes the
 * position of its p-th. -1 with MS_ARR: memory, more than MS_IDS_MOST ids. */
int ms_ids_join(ms_ids *ids, const ms_ids *other, uint32_t *place, ms_error *err);

/* How many positions there are. */
int64_t ms_ids_count(const ms_ids *ids);

/* Hands the ids over as labels (the record is empty afterwards). For numbers, which are put in
 * order, *place is the new position of each old one (from malloc); for strings it is NULL. */
ms_labels *ms_ids_labels(ms_ids *ids, uint32_t **place, ms_error *err);

/* Frees what the record holds. */
void ms_ids_free(ms_ids *ids);

#endif
