/* SPDX-License-Identifier: MIT
 *
 * Versions: where the blocks of a loop that runs in rounds find the arrays that it makes anew.
 *
 * Each round makes a version of an array from the version of the round before. The first round of a
 * job reads `start`, which nothing writes; round k (from 0) writes ring[k % depth], and the next
 * one reads that. What a block does not write keeps its value: unless each round writes the same
 * elements, the block's rows are copied before the body runs. A kernel knows an array by two
 * addresses, of the last version and of the next; where it keeps them they are set before each
 * block.
 *
 * So a block that is run again, after its worker has died in it, gives what it would have given:
 * what it reads is there until all who read it are finished. Plain memory, that of the caller; one
 * thread. */
#ifndef MS_JOB_VERSION_H
#define MS_JOB_VERSION_H

#include <stdint.h>

#include "base/api.h"
#include "plan/layout.h"

/* An array: `outer` times `rows` rows of `row` bytes, all one behind the other. */
typedef struct MS_API_TYPE ms_version_array {
  const void *start;
  void *const *ring;
  void *image; /* a copy in which ranges may be of different rounds; NULL: none */
  uint32_t depth;
  uint32_t steady; /* 1: each round writes the same elements; start and ring have equal others */
  int64_t outer, rows, row;
  int64_t anew;          /* first bytes of each row that a block writes, whatever was there */
  const int64_t *starts; /* of each range, its first 1-based row, and the end; NULL: */
  int64_t scale, offset; /* index i of the ranges makes the 1-based row scale * i + offset */
  const void *last;      /* that the present block reads, */
  void *next;            /* and writes */
} ms_version_array;

/* A pointer of the kernel's to a version of an array, or to the part of it that a block works on.
 */
typedef struct MS_API_TYPE ms_version_place {
  void **at;
  uint32_t array, next; /* 1: of the next version, 0: of the last one */
  uint32_t own;         /* 1: to the row that the block's range has, where ranges have one each, */
  int64_t offset;       /* and so many bytes behind */
} ms_version_place;

typedef struct MS_API_TYPE ms_versions {
  ms_version_array *arrays;
  ms_version_place *places;
  const ms_layout *layout;
  uint32_t array_count, place_count;
  uint32_t ranges;  /* blocks of a round */
  uint32_t first;   /* the job's first block */
  uint32_t present; /* range of the present block */
  uint32_t at;      /* of a range's two bounds among the block's, the first one's index */
  int64_t *wanted;  /* by range: the version that a block is to see of it, */
  int64_t *held;    /* and the one that the images have; 0 is `start`. NULL: there are no images */
  const uint16_t *lags; /* lags[round * ranges + range], both from 0: by how many rounds others are
                         * to see an older version of a range than that of the round before. NULL:
                         * they see what there is */
  uint32_t imaged;      /* 0: the images have yet to be filled */
  uint32_t filled;      /* 0: the ring has yet to be filled from `start` */
} ms_versions;

/* Puts the version of a range that is wanted into the images, unless they have it. `block` is any
 * block of the job. */
MS_API void ms_versions_load(ms_versions *versions, uint32_t block, uint32_t range);

/* Sets the kernel's pointers for `block`, which begins now, and copies rows that it keeps. */
MS_API void ms_versions_begin(ms_versions *versions, uint32_t block);

/* The same for a block that is left out, or has failed: its rows are those of the round before. */
void ms_versions_carry(ms_versions *versions, uint32_t block);

#endif
