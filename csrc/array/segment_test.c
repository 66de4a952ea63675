/* SPDX-License-Identifier: MIT
 *
 * Segments: alignment, zeroing, pooling, release; and the memory limits they are checked against,
 * read from made-up /proc and /sys trees. */
#include "array/segment.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/test.h"

static uint64_t gone_count, gone_last;

static void on_gone(uint64_t id, void *context) {
  gone_count++;
  gone_last = id;
  CHECK(context == &gone_count);
}

static bool all_zero(const ms_segment_block *block) {
  const unsigned char *at = ms_segment_block_at(block);
  for (size_t i = 0; i < block->size; i++) {
    if (at[i] != 0) return false;
  }
  return true;
}

static void test_sizes(void) {
  static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 65537, (size_t)4 << 20, (size_t)5 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    ms_segment_block block = {0};
    ms_error err = {0};
    for (int round = 0; round < 2; round++) {
      CHECK(ms_segment_block_take(&block, sizes[i], &err) == 0);
      CHECK((uintptr_t)ms_segment_block_at(&block) % 64 == 0);
      CHECK(block.size == sizes[i] && all_zero(&block));
      memset(ms_segment_block_at(&block), 0xAB, sizes[i]);
      ms_segment_block_release(&block);
      CHECK(block.segment == NULL);
    }
  }
  CHECK(ms_segment_bytes() == 0);
  ms_segment_trim();
}

/* What is released is taken again by who wants as much: the last one first, zeroed, and the oldest
 * ones go when there are too many. */
static void test_kept(void) {
  enum { BLOCKS = 12 };
  static const size_t sizes[] = {(size_t)1 << 20, (size_t)6 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    ms_segment_block blocks[BLOCKS], again;
    void *at[BLOCKS];
    ms_error err = {0};
    uint32_t before = ms_segment_count();
    for (int b = 0; b < BLOCKS; b++) {
      CHECK(ms_segment_block_take(&blocks[b], sizes[i], &err) == 0);
      at[b] = ms_segment_block_at(&blocks[b]);
      memset(at[b], 0xAB, sizes[i]);
    }
    uint32_t mapped = ms_segment_count();
    for (int b = 0; b < BLOCKS; b++) ms_segment_block_release(&blocks[b]);
    uint32_t left = ms_segment_count();
    CHECK(ms_segment_bytes() == 0 && left > 0 && (sizes[i] < (size_t)4 << 20 || left < mapped));
    CHECK(ms_segment_block_take(&again, sizes[i] - 5000, &err) == 0);
    CHECK((ms_segment_block_at(&again) == at[BLOCKS - 1]) == (sizes[i] < (size_t)4 << 20));
    ms_segment_block_release(&again);
    for (int b = BLOCKS - 1; b >= BLOCKS - 3; b--) {
      CHECK(ms_segment_block_take(&blocks[b], sizes[i], &err) == 0 && all_zero(&blocks[b]));
      CHECK(ms_segment_block_at(&blocks[b]) == at[b]);
    }
    for (int b = BLOCKS - 1; b >= BLOCKS - 3; b--) ms_segment_block_release(&blocks[b]);
    ms_segment_trim();
    CHECK(ms_segment_count() == before);
  }
}

static int open_descriptors(void) {
  int count = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (directory != NULL && readdir(directory) != NULL) count++;
  if (directory != NULL) closedir(directory);
  return count;
}

static void test_many_small(void) {
  enum { MANY = 5000 };
  static ms_segment_block blocks[MANY];
  ms_error err = {0};
  int before = open_descriptors();
  bool taken = true, kept = true;
  for (int i = 0; i < MANY; i++) {
    taken = taken && ms_segment_block_take(&blocks[i], 1 + (size_t)i % 3000, &err) == 0;
    memset(ms_segment_block_at(&blocks[i]), i % 251, blocks[i].size);
  }
  CHECK(taken);
  CHECK(open_descriptors() - before < 30);
  for (int i = 0; i < MANY; i++) {
    const unsigned char *at = ms_segment_block_at(&blocks[i]);
    for (size_t k = 0; k < blocks[i].size; k++) kept = kept && at[k] == i % 251;
  }
  CHECK(kept);
  for (int i = 0; i < MANY; i++) ms_segment_block_release(&blocks[i]);
  CHECK(ms_segment_bytes() == 0);
  ms_segment_trim();
  CHECK(open_descriptors() - before < 10);
}

static void test_listener(void) {
  ms_error err = {0};
  ms_segment_block block;
  ms_segment_listen(on_gone, &gone_count);
  CHECK(ms_segment_block_take(&block, (size_t)8 << 20, &err) == 0);
  uint64_t id = block.segment->id;
  CHECK(block.segment->blocks == 1 && block.segment->size == (size_t)8 << 20);
  uint64_t before = gone_count;
  ms_segment_block_release(&block);
  CHECK(gone_count == before);
  ms_segment_trim();
  CHECK(gone_count == before + 1 && gone_last == id);
  ms_segment_listen(NULL, NULL);
  ms_segment_block again;
  CHECK(ms_segment_block_take(&again, (size_t)8 << 20, &err) == 0 && again.segment->id > id);
  ms_segment_block_release(&again);
}

static void test_too_much(void) {
  ms_error err = {0};
  ms_segment_block block = {0};
  ms_segment_trim();
  uint64_t before = ms_segment_count();
  CHECK(ms_segment_block_take(&block, (size_t)1 << 46, &err) == -1);
  CHECK(err.code == MS_ARR && strstr(err.message, "available") != NULL);
  CHECK(strstr(err.message, "cgroup") != NULL);
  ms_error_clear(&err);
  CHECK(ms_segment_block_take(&block, SIZE_MAX, &err) == -1 && err.code == MS_ARR);
  CHECK(ms_segment_count() == before);
}

/* A made-up tree below a temporary directory. */
static char tree[PATH_MAX];

static void put(const char *path, const char *text) {
  char full[PATH_MAX + 256];
  snprintf(full, sizeof full, "%s%s", tree, path);
  for (char *at = full + strlen(tree) + 1; (at = strchr(at, '/')) != NULL; at++) {
    *at = '\0';
    mkdir(full, 0700);
    *at = '/';
  }
  FILE *file = fopen(full, "w");
  if (file != NULL) {
    fputs(text, file);
    fclose(file);
  }
}

static void new_tree(void) {
  snprintf(tree, sizeof tree, "%s", "/tmp/meissa-test-XXXXXX");
  CHECK(mkdtemp(tree) != NULL);
  put("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable:   500 kB\n");
}

static void remove_tree(void) {
  char command[PATH_MAX + 16];
  snprintf(command, sizeof command, "rm -rf '%s'", tree);
  CHECK(system(command) == 0);
}

static void test_memory_none(void) {
  new_tree();
  ms_memory memory = ms_memory_read(tree);
  CHECK(memory.available == 500 * 1024);
  CHECK(memory.group_free == UINT64_MAX && memory.group_limit == UINT64_MAX);
  remove_tree();
  memory = ms_memory_read("/nowhere-at-all");
  CHECK(memory.available == UINT64_MAX && memory.group_free == UINT64_MAX);
}

static void test_memory_version_2(void) {
  new_tree();
  put("/proc/self/cgroup", "0::/a/b\n");
  put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  put("/sys/fs/cgroup/a/b/memory.current", "100\n");
  put("/sys/fs/cgroup/a/memory.max", "10000\n");
  put("/sys/fs/cgroup/a/memory.current", "4000\n");
  put("/sys/fs/cgroup/a/memory.stat", "anon 3000\ninactive_file 1000\n");
  ms_memory memory = ms_memory_read(tree);
  CHECK(memory.group_limit == 10000 && memory.group_free == 7000);
  remove_tree();
}

static void test_memory_version_1(void) {
  new_tree();
  put("/proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/hidden/y\n0::/\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "8000\n");
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "9000\n");
  ms_memory memory = ms_memory_read(tree);
  CHECK(memory.group_limit == 8000 && memory.group_free == 0);
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  memory = ms_memory_read(tree);
  CHECK(memory.group_limit == UINT64_MAX);
  remove_tree();
}

static void give_back(void *context) {
  ms_segment_block_release(context);
}

/* Who keeps something for later is asked for it when memory is short, and not before. */
static void test_reclaim(void) {
  ms_segment_block kept = {0}, other = {0};
  ms_error err = {0};
  ms_segment_trim();
  uint32_t before = ms_segment_count();
  ms_segment_reclaim(give_back, &kept);
  CHECK(ms_segment_block_take(&kept, (size_t)8 << 20, &err) == 0);
  CHECK(ms_segment_block_take(&other, (size_t)8 << 20, &err) == 0 && kept.segment != NULL);
  ms_segment_block_release(&other);
  CHECK(ms_segment_block_take(&other, (size_t)1 << 50, &err) != 0 && err.code == MS_ARR);
  CHECK(kept.segment == NULL && ms_segment_bytes() == 0);
  CHECK(ms_segment_count() == before);
  CHECK(ms_segment_check((size_t)8 << 20, &err) == 0 && ms_segment_bytes() == 0);
  CHECK(ms_segment_check((size_t)1 << 50, &err) != 0 && err.code == MS_ARR);
  ms_segment_reclaim(NULL, NULL);
}

int main(void) {
  test_sizes();
  test_kept();
  test_many_small();
  test_listener();
  test_too_much();
  test_reclaim();
  test_memory_none();
  test_memory_version_2();
  test_memory_version_1();
  return ms_test_end();
}
