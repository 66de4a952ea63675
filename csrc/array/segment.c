/* SPDX-License-Identifier: MIT
 *
 * Segments: see segment.h.
 *
 * Pooled segments are slabs: all slots of one have the same size, a power of two, and a bitmap
 * says which are taken. What is released goes to the kernel after a while only: the last blocks of
 * whole pages are kept, still taken from their segments, for who wants as much next. Pages from the
 * kernel are dearer than zeroing the old ones, twenty times in shared memory, and each process that
 * maps a segment pays for them anew. Owner of all segments is this file; the lists are static
 * because memory of a process is. One thread. */
#include "array/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/memory_file.h"

#define PAGE          ((size_t)4096)
#define SMALLEST_SLOT ((size_t)64)
/* Beyond this size a block has a segment, and so a descriptor, of its own. */
#define LARGEST_SLOT ((size_t)4 << 20)
#define TIERS        17
#define POOL_SIZE    ((size_t)1 << 20)
#define POOL_SLOTS   16 /* at least so many slots in a pool */
/* Smaller blocks are granted without asking how much memory there is (it takes 30 us). */
#define CHECKED ((size_t)256 << 10)
/* What is left to the rest of the machine: a sixteenth of what is free, at most this. */
#define RESERVE ((uint64_t)256 << 20)

/* Released blocks that are kept: so many, and so many bytes in all, or this part of the memory that
 * was free at first. */
#define KEPT_BLOCKS 256
#define KEPT_BYTES  ((uint64_t)64 << 20)
#define KEPT_PART   32

/* A segment with what only this file knows. `slot` is 0 for one that belongs to a large block. */
typedef struct mapping {
  ms_segment segment; /* first, so that a segment's address is its mapping's */
  struct mapping *next;
  size_t slot;
  uint32_t slots, fresh; /* slots at or above `fresh` were never used: still zero */
  uint64_t *taken;
} mapping;

static mapping *pools[TIERS];
static mapping *larges;
static ms_segment_block kept[KEPT_BLOCKS]; /* in the order in which they were released */
static uint32_t kept_count;
static uint64_t kept_bytes, kept_most;
static uint64_t last_id, bytes_taken;
static uint32_t segment_count;
static void (*gone_listener)(uint64_t, void *);
static void *gone_context;
static void (*reclaim_listener)(void *);
static void *reclaim_context;

void ms_segment_listen(void (*gone)(uint64_t id, void *context), void *context) {
  gone_listener = gone;
  gone_context = context;
}

void ms_segment_reclaim(void (*give_back)(void *context), void *context) {
  reclaim_listener = give_back;
  reclaim_context = context;
}

uint64_t ms_segment_bytes(void) {
  return bytes_taken;
}

uint32_t ms_segment_count(void) {
  return segment_count;
}

/* Bytes of a list's blocks that were granted but not touched yet: MemAvailable still has them. */
static uint64_t promised_in(const mapping *list) {
  uint64_t promised = 0;
  for (const mapping *each = list; each != NULL; each = each->next) {
    struct stat state;
    if (fstat(each->segment.fd, &state) != 0) continue;
    uint64_t touched = (uint64_t)state.st_blocks * 512;
    uint64_t granted = each->slot == 0 ? each->segment.size : each->segment.blocks * each->slot;
    if (touched < granted) promised += granted - touched;
  }
  return promised;
}

static uint64_t promised_bytes(void) {
  uint64_t promised = promised_in(larges);
  for (unsigned tier = 0; tier < TIERS; tier++) promised += promised_in(pools[tier]);
  return promised;
}

static uint64_t less(uint64_t from, uint64_t amount) {
  return amount < from ? from - amount : 0;
}

/* What the machine and the cgroup can still hold, and whether `size` fits. */
typedef struct room {
  ms_memory memory;
  uint64_t machine, group;
  bool enough;
} room;

static room look_at_memory(size_t size) {
  room found = {.memory = ms_memory_read("")};
  uint64_t promised = promised_bytes();
  found.machine = less(found.memory.available, promised);
  found.group = less(found.memory.group_free, promised);
  uint64_t least = found.machine < found.group ? found.machine : found.group;
  uint64_t reserve = least / 16 < RESERVE ? least / 16 : RESERVE;
  found.enough = size <= least - reserve;
  return found;
}

static int check_memory(size_t size, ms_error *err) {
  if (size < CHECKED) return 0;
  room found = look_at_memory(size);
  if (!found.enough) {
    if (reclaim_listener != NULL) reclaim_listener(reclaim_context);
    ms_segment_trim();
    found = look_at_memory(size);
  }
  if (found.enough) return 0;
  char limit[64] = "none";
  if (found.memory.group_limit != UINT64_MAX) {
    snprintf(limit, sizeof limit, "%" PRIu64 " MB, %" PRIu64 " MB of it free",
             found.memory.group_limit / 1000000, found.group / 1000000);
  }
  return ms_error_set(err, MS_ARR,
                      "not enough memory for %zu MB: the machine has %" PRIu64
                      " MB available, the cgroup's limit is %s; free arrays with A:free(), or use "
                      "type = \"float\"",
                      size / 1000000 + 1, found.machine / 1000000, limit);
}

int ms_segment_check(size_t size, ms_error *err) {
  return size <= kept_bytes ? 0 : check_memory(size, err);
}

static int map_memory(ms_segment *segment, size_t size, ms_error *err) {
  int fd = ms_memory_file_make("meissa", size, MS_ARR, err);
  if (fd < 0) return -1;
  void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    ms_error_set(err, MS_ARR, "cannot map %zu MB of shared memory: %s", size / 1000000 + 1,
                 strerror(errno));
    close(fd);
    return -1;
  }
  *segment = (ms_segment){.id = ++last_id, .fd = fd, .base = base, .size = size};
  segment_count++;
  return 0;
}

static mapping *new_mapping(size_t size, ms_error *err) {
  mapping *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL) {
    ms_error_memory(err, MS_ARR, "shared memory");
    return NULL;
  }
  if (map_memory(&fresh->segment, size, err) != 0) {
    free(fresh);
    return NULL;
  }
  return fresh;
}

static void unlink_mapping(mapping **list, mapping *gone) {
  while (*list != gone) list = &(*list)->next;
  *list = gone->next;
}

static void drop_mapping(mapping **list, mapping *gone) {
  uint64_t id = gone->segment.id;
  unlink_mapping(list, gone);
  munmap(gone->segment.base, gone->segment.size);
  close(gone->segment.fd);
  free(gone->taken);
  free(gone);
  segment_count--;
  if (gone_listener != NULL) gone_listener(id, gone_context);
}

static unsigned tier_of(size_t size) {
  unsigned tier = 0;
  while (SMALLEST_SLOT << tier < size) tier++;
  return tier;
}

static mapping *new_pool(unsigned tier, ms_error *err) {
  size_t slot = SMALLEST_SLOT << tier;
  size_t size = slot * POOL_SLOTS > POOL_SIZE ? slot * POOL_SLOTS : POOL_SIZE;
  mapping *pool = new_mapping(size, err);
  if (pool == NULL) return NULL;
  pool->slot = slot;
  pool->slots = (uint32_t)(size / slot);
  pool->taken = calloc((pool->slots + 63) / 64, sizeof *pool->taken);
  pool->next = pools[tier];
  pools[tier] = pool;
  if (pool->taken == NULL) {
    drop_mapping(&pools[tier], pool);
    ms_error_memory(err, MS_ARR, "shared memory");
    return NULL;
  }
  return pool;
}

static uint32_t free_slot(const mapping *pool) {
  for (uint32_t word = 0; word < (pool->slots + 63) / 64; word++) {
    if (pool->taken[word] == UINT64_MAX) continue;
    uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(~pool->taken[word]);
    return slot < pool->slots ? slot : pool->slots;
  }
  return pool->slots;
}

static void take_slot(ms_segment_block *block, mapping *pool, size_t size) {
  uint32_t slot = free_slot(pool);
  pool->taken[slot / 64] |= (uint64_t)1 << slot % 64;
  pool->segment.blocks++;
  *block = (ms_segment_block){&pool->segment, (size_t)slot * pool->slot, size};
  if (slot >= pool->fresh) {
    pool->fresh = slot + 1;
  } else if (pool->slot < PAGE) {
    memset(ms_segment_block_at(block), 0, pool->slot);
  }
}

static int take_large(ms_segment_block *block, size_t size, ms_error *err) {
  if (size > SIZE_MAX / 2) return ms_error_set(err, MS_ARR, "%zu bytes are too many", size);
  if (check_memory(size, err) != 0) return -1;
  mapping *own = new_mapping((size + PAGE - 1) / PAGE * PAGE, err);
  if (own == NULL) return -1;
  own->next = larges;
  larges = own;
  own->segment.blocks = 1;
  *block = (ms_segment_block){&own->segment, 0, size};
  return 0;
}

static int take_fresh(ms_segment_block *block, size_t size, ms_error *err) {
  if (size > LARGEST_SLOT) return take_large(block, size, err);
  if (check_memory(size, err) != 0) return -1;
  unsigned tier = tier_of(size);
  mapping *pool = pools[tier];
  while (pool != NULL && pool->segment.blocks == pool->slots) pool = pool->next;
  if (pool == NULL && (pool = new_pool(tier, err)) == NULL) return -1;
  take_slot(block, pool, size);
  return 0;
}

/* Frees the memory of a released slot of whole pages; reading it gives zeros again. */
static void give_back_pages(mapping *pool, size_t offset) {
  if (pool->slot < PAGE) return;
  int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (fallocate(pool->segment.fd, mode, (off_t)offset, (off_t)pool->slot) != 0) {
    memset(pool->segment.base + offset, 0, pool->slot);
  }
}

/* Whether another pool of the tier has a free slot, so that an empty one is not needed. */
static bool has_room_elsewhere(const mapping *list, const mapping *pool) {
  for (; list != NULL; list = list->next) {
    if (list != pool && list->segment.blocks < list->slots) return true;
  }
  return false;
}

static mapping *mapping_of(const ms_segment_block *block) {
  return (mapping *)(void *)block->segment;
}

static void give_back(const ms_segment_block *block) {
  mapping *from = mapping_of(block);
  from->segment.blocks--;
  if (from->slot == 0) {
    drop_mapping(&larges, from);
    return;
  }
  size_t slot = block->offset / from->slot;
  unsigned tier = tier_of(from->slot);
  from->taken[slot / 64] &= ~((uint64_t)1 << slot % 64);
  if (from->segment.blocks == 0 &&
      (from->slot > POOL_SIZE / POOL_SLOTS || has_room_elsewhere(pools[tier], from))) {
    drop_mapping(&pools[tier], from);
  } else {
    give_back_pages(from, block->offset);
  }
}

/* What a block takes of its segment: that of another one of as much can take its place. */
static size_t room_of(const ms_segment_block *block) {
  const mapping *from = mapping_of(block);
  return from->slot == 0 ? from->segment.size : from->slot;
}

static ms_segment_block remove_kept(uint32_t at) {
  ms_segment_block block = kept[at];
  kept_bytes -= room_of(&block);
  kept_count--;
  memmove(&kept[at], &kept[at + 1], (kept_count - at) * sizeof *kept);
  return block;
}

void ms_segment_trim(void) {
  while (kept_count > 0) {
    ms_segment_block block = remove_kept(kept_count - 1);
    give_back(&block);
  }
}

static uint64_t most_to_keep(void) {
  if (kept_most > 0) return kept_most;
  ms_memory memory = ms_memory_read("");
  uint64_t least = memory.available < memory.group_free ? memory.available : memory.group_free;
  kept_most = least / KEPT_PART < KEPT_BYTES ? least / KEPT_PART + 1 : KEPT_BYTES;
  return kept_most;
}

/* Keeps a released block, and gives back those that have been kept longest instead; whether it
 * does. */
static bool keep(const ms_segment_block *block) {
  size_t size = room_of(block);
  if (size < PAGE || size > most_to_keep()) return false;
  while (kept_count == KEPT_BLOCKS || kept_bytes + size > kept_most) {
    ms_segment_block oldest = remove_kept(0);
    give_back(&oldest);
  }
  kept[kept_count++] = *block;
  kept_bytes += size;
  return true;
}

/* Takes a kept block of which `size` bytes would take all; whether there is one. */
static bool take_kept(ms_segment_block *block, size_t size) {
  size_t wanted =
      size > LARGEST_SLOT ? (size - 1) / PAGE * PAGE + PAGE : SMALLEST_SLOT << tier_of(size);
  for (uint32_t at = kept_count; at-- > 0;) {
    if (room_of(&kept[at]) != wanted) continue;
    *block = remove_kept(at);
    block->size = size;
    memset(ms_segment_block_at(block), 0, size);
    return true;
  }
  return false;
}

int ms_segment_block_take(ms_segment_block *block, size_t size, ms_error *err) {
  if (!take_kept(block, size) && take_fresh(block, size, err) != 0) return -1;
  bytes_taken += size;
  return 0;
}

void ms_segment_block_release(ms_segment_block *block) {
  if (block->segment == NULL) return;
  bytes_taken -= block->size;
  if (!keep(block)) give_back(block);
  *block = (ms_segment_block){0};
}
