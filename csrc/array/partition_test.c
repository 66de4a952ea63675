/* SPDX-License-Identifier: MIT
 *
 * Partitions: every entry in its block, once; balanced and repeatable; order inside blocks. */
#include "array/partition.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "array/partition_build.h"
#include "base/philox.h"
#include "base/test.h"
#include "base/threads.h"

static uint64_t seed;

static uint32_t draw(uint64_t i, uint32_t below) {
  ms_philox block = ms_philox_at(seed, i, 77);
  return (uint32_t)((uint64_t)block.word[0] * below >> 32);
}

/* A random array whose values number the entries; skewed, so that weights matter. */
static ms_array *random_array(int type, int dim_count, const int64_t *dims, int64_t count) {
  ms_error err = {0};
  ms_array *array = ms_array_sparse(type, dim_count, dims, count, &err);
  CHECK(array != NULL);
  for (int64_t e = 0; e < count; e++) {
    for (int d = 0; d < dim_count; d++) {
      uint32_t a = draw((uint64_t)(e * 16 + d), (uint32_t)dims[d]);
      uint32_t b = draw((uint64_t)(e * 16 + d + 8), (uint32_t)dims[d]);
      array->coords[d][e] = (int32_t)(a < b ? a : b);
    }
    if (type == MS_FLOAT) {
      ((float *)array->data)[e] = (float)e;
    } else {
      ((double *)array->data)[e] = (double)e;
    }
  }
  return array;
}

static int64_t value_at(const ms_partition *made, int64_t place) {
  const void *values = ms_partition_values(made);
  return made->type == MS_FLOAT ? (int64_t)((const float *)values)[place]
                                : (int64_t)((const double *)values)[place];
}

/* Whether place p's entry lies in block `block`, with the coordinates of the array's entry. */
static bool entry_is_right(const ms_array *array, const ms_partition *made, int64_t block,
                           int64_t p) {
  int64_t entry = value_at(made, p), rest = block;
  for (int32_t d = 0; d < made->dim_count; d++) {
    if (ms_partition_coords(made, d)[p] != array->coords[d][entry] + 1) return false;
  }
  for (uint32_t c = made->cut.count; c-- > 0;) {
    int64_t range = rest % made->cut.ranges[c];
    rest /= made->cut.ranges[c];
    int64_t at = ms_partition_coords(made, (int)made->cut.dims[c])[p];
    if (at < made->bounds[c][range] || at >= made->bounds[c][range + 1]) return false;
  }
  return true;
}

static void check_partition(const ms_array *array, const ms_partition *made) {
  bool *seen = calloc((size_t)array->count + 1, sizeof *seen);
  bool right = seen != NULL && made->start[0] == 0 && made->start[made->blocks] == array->count;
  for (int64_t block = 0; right && block < made->blocks; block++) {
    for (int64_t p = made->start[block]; right && p < made->start[block + 1]; p++) {
      right = !seen[value_at(made, p)] && entry_is_right(array, made, block, p);
      seen[value_at(made, p)] = true;
    }
  }
  CHECK(right);
  for (uint32_t c = 0; c < made->cut.count; c++) {
    bool ascending = made->bounds[c][0] == 1;
    for (uint32_t r = 0; r < made->cut.ranges[c]; r++) {
      ascending = ascending && made->bounds[c][r] < made->bounds[c][r + 1];
    }
    CHECK(ascending);
    CHECK(made->bounds[c][made->cut.ranges[c]] == array->dims[made->cut.dims[c]] + 1);
  }
  free(seen);
}

static void test_blocks(void) {
  ms_error err = {0};
  const int64_t dims[] = {50, 40, 7};
  for (int type = MS_FLOAT; type <= MS_DOUBLE; type++) {
    ms_array *array = random_array(type, 3, dims, 5000);
    const ms_cut cuts[] = {
        {2, {0, 1}, {16, 16}, 0}, {2, {1, 0}, {3, 8}, 1},       {1, {2}, {64}, 0},
        {1, {0}, {1}, 1},         {3, {0, 1, 2}, {2, 3, 4}, 0},
    };
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
      ms_partition *made = ms_partition_get(array, &cuts[i], &err);
      CHECK(made != NULL);
      if (made != NULL) check_partition(array, made);
      ms_partition_release(&made);
    }
    ms_array_release(array);
  }
}

/* Row-major inside a block, duplicates as in the file: the values number the entries. */
static void test_ordered(void) {
  ms_error err = {0};
  const int64_t dims[] = {30, 20};
  ms_array *array = random_array(MS_DOUBLE, 2, dims, 4000);
  ms_cut cut = {2, {0, 1}, {4, 5}, 1};
  ms_partition *made = ms_partition_get(array, &cut, &err);
  bool ordered = made != NULL;
  for (int64_t block = 0; ordered && block < made->blocks; block++) {
    for (int64_t p = made->start[block] + 1; p < made->start[block + 1]; p++) {
      int64_t i = ms_partition_coords(made, 0)[p], i0 = ms_partition_coords(made, 0)[p - 1];
      int64_t j = ms_partition_coords(made, 1)[p], j0 = ms_partition_coords(made, 1)[p - 1];
      bool later = value_at(made, p) > value_at(made, p - 1);
      ordered = ordered && (i > i0 || (i == i0 && (j > j0 || (j == j0 && later))));
    }
  }
  CHECK(ordered);
  ms_partition_release(&made);
  ms_array_release(array);
}

static void test_shuffled_and_repeatable(void) {
  ms_error err = {0};
  const int64_t dims[] = {100, 100};
  ms_array *array = random_array(MS_DOUBLE, 2, dims, 10000);
  ms_array *again = random_array(MS_DOUBLE, 2, dims, 10000);
  ms_cut cut = {2, {0, 1}, {4, 4}, 0};
  ms_partition *one = ms_partition_get(array, &cut, &err);
  ms_partition *other = ms_partition_get(again, &cut, &err);
  CHECK(one != NULL && other != NULL);
  CHECK(memcmp(ms_partition_values(one), ms_partition_values(other), 10000 * 8) == 0);
  int64_t ascents = 0;
  for (int64_t p = 1; p < one->start[1]; p++) ascents += value_at(one, p) > value_at(one, p - 1);
  /* In file order all would ascend; in random order about half do. */
  CHECK(ascents > one->start[1] / 3 && ascents < one->start[1] * 2 / 3);
  ms_partition_release(&one);
  ms_partition_release(&other);
  ms_array_release(array);
  ms_array_release(again);
}

/* Large enough for a second thread to fault the pages in. */
static void test_large(void) {
  ms_error err = {0};
  const int64_t dims[] = {3000, 2000};
  ms_array *array = random_array(MS_DOUBLE, 2, dims, 200000);
  ms_cut cut = {2, {0, 1}, {16, 16}, 0};
  ms_partition *made = ms_partition_get(array, &cut, &err);
  CHECK(made != NULL);
  if (made != NULL) {
    check_partition(array, made);
    int64_t most = 0;
    for (uint32_t a = 0; a < 16; a++) {
      int64_t row = made->start[(a + 1) * 16] - made->start[a * 16];
      if (row > most) most = row;
    }
    CHECK(most < 200000 / 16 * 11 / 10); /* equal weight, though small indices are frequent */
  }
  ms_partition_release(&made);
  ms_array_release(array);
}

static void test_cache(void) {
  ms_error err = {0};
  const int64_t dims[] = {100, 100};
  ms_array *array = random_array(MS_DOUBLE, 2, dims, 1000);
  ms_cut cut = {2, {0, 1}, {4, 4}, 0};
  ms_partition *first = ms_partition_get(array, &cut, &err);
  ms_partition *again = ms_partition_get(array, &cut, &err);
  CHECK(first == again);
  uint64_t id = first->id;
  ms_partition_release(&again);
  for (uint32_t n = 5; n < 12; n++) {
    ms_cut more = {1, {0}, {n}, 0};
    ms_partition *made = ms_partition_get(array, &more, &err);
    CHECK(made != NULL);
    ms_partition_release(&made);
  }
  int kept = 0;
  for (ms_partition *each = array->partitions; each != NULL; each = each->next) kept++;
  CHECK(kept == 2);
  CHECK(first->count == 1000); /* evicted, but held by us */
  ms_partition_release(&first);
  array->version++;
  first = ms_partition_get(array, &cut, &err);
  CHECK(first->id != id);
  CHECK(array->partitions == first && first->next == NULL);
  ms_partition_release(&first);
  ms_array_release(array);
}

static void test_edges(void) {
  ms_error err = {0};
  const int64_t dims[] = {3, 2000000000};
  ms_array *empty = ms_array_sparse(MS_DOUBLE, 2, dims, 0, &err);
  ms_cut cut = {2, {0, 1}, {16, 16}, 0};
  ms_partition *made = ms_partition_get(empty, &cut, &err);
  CHECK(made != NULL && made->blocks == 48 && made->start[48] == 0);
  ms_partition_release(&made);
  ms_array_release(empty);
  ms_array *array = random_array(MS_DOUBLE, 2, dims, 3000);
  made = ms_partition_get(array, &cut, &err);
  CHECK(made != NULL);
  if (made != NULL) check_partition(array, made);
  ms_partition_release(&made);
  const ms_cut bad[] = {
      {0, {0}, {1}, 0}, {3, {0, 1, 1}, {1, 1, 1}, 0}, {2, {0, 0}, {2, 2}, 0}, {1, {2}, {2}, 0},
      {1, {0}, {0}, 0},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    ms_error_clear(&err);
    CHECK(ms_partition_get(array, &bad[i], &err) == NULL && err.code == MS_OPT);
  }
  ms_array_free(array);
  ms_error_clear(&err);
  CHECK(ms_partition_get(array, &cut, &err) == NULL && err.code == MS_ARR);
  ms_array_release(array);
}

static void test_weights(void) {
  int64_t bounds[8];
  const int64_t even[] = {1, 1, 1, 1, 1, 1}, heavy[] = {100, 1, 1, 1}, late[] = {0, 0, 0, 9};
  CHECK(ms_cut_weights(even, 6, 3, bounds) == 3);
  CHECK(bounds[1] == 2 && bounds[2] == 4 && bounds[3] == 6);
  CHECK(ms_cut_weights(heavy, 4, 3, bounds) == 3);
  CHECK(bounds[1] == 1 && bounds[2] > 1 && bounds[2] < 4 && bounds[3] == 4);
  CHECK(ms_cut_weights(late, 4, 2, bounds) == 2);
  CHECK(bounds[1] == 3 && bounds[2] == 4);
  CHECK(ms_cut_weights(even, 2, 7, bounds) == 2);
}

/* A partition made on one processor and on all that there are: the same bytes. */
static void test_threads(void) {
  static const struct {
    uint32_t ranges[2];
    int32_t ordered;
  } cuts[] = {{{16, 16}, 0}, {{7, 90}, 0}, {{1, 1}, 0}, {{300, 200}, 0}, {{16, 16}, 1}};
  cpu_set_t all, one;
  int64_t dims[] = {3000, 2000};
  ms_error err = {0};
  ms_array *array = random_array(MS_FLOAT, 2, dims, 300007);
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  for (size_t cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  for (size_t k = 0; k < sizeof cuts / sizeof cuts[0]; k++) {
    ms_cut cut = {.count = 2, .dims = {0, 1}, .ordered = cuts[k].ordered};
    memcpy(cut.ranges, cuts[k].ranges, sizeof cuts[k].ranges);
    ms_partition *made[2];
    for (int run = 0; run < 2; run++) {
      CHECK(sched_setaffinity(0, sizeof all, run == 0 ? &one : &all) == 0);
      CHECK(ms_threads_count() == CPU_COUNT(run == 0 ? &one : &all));
      made[run] = ms_partition_build(array, &cut, &err);
      CHECK(made[run] != NULL);
    }
    size_t starts = (size_t)(made[0]->blocks + 1) * sizeof *made[0]->start;
    CHECK(made[0]->blocks == made[1]->blocks);
    CHECK(memcmp(made[0]->start, made[1]->start, starts) == 0);
    const ms_segment_block *a = &made[0]->entries->block, *b = &made[1]->entries->block;
    CHECK(a->size == b->size &&
          memcmp(ms_segment_block_at(a), ms_segment_block_at(b), a->size) == 0);
    for (int d = 0; d < 2; d++) CHECK((uintptr_t)ms_partition_coords(made[0], d) % 64 == 0);
    CHECK((uintptr_t)ms_partition_values(made[0]) % 64 == 0);
    ms_partition_release(&made[0]);
    ms_partition_release(&made[1]);
  }
  ms_array_release(array);
}

int main(void) {
  const char *replay = getenv("MEISSA_TEST_SEED");
  seed = replay != NULL ? strtoull(replay, NULL, 10) : 20240229;
  printf("seed %llu (MEISSA_TEST_SEED replays)\n", (unsigned long long)seed);
  test_blocks();
  test_ordered();
  test_shuffled_and_repeatable();
  test_large();
  test_cache();
  test_edges();
  test_weights();
  test_threads();
  return ms_test_end();
}
