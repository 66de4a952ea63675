/* SPDX-License-Identifier: MIT
 *
 * Mapped memory: see mapped_memory.h. */
#include "worker/mapped_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static ms_mapped_memory_piece *find(ms_mapped_memory_piece *pieces, uint32_t count, uint64_t id) {
  for (uint32_t i = 0; i < count; i++) {
    if (pieces[i].id == id) return &pieces[i];
  }
  return NULL;
}

/* Adds an empty entry at the end of a list; NULL when memory is out. */
static ms_mapped_memory_piece *append(ms_mapped_memory_piece **pieces, uint32_t *count,
                                      ms_error *err) {
  ms_mapped_memory_piece *grown = realloc(*pieces, ((size_t)*count + 1) * sizeof *grown);
  if (grown == NULL) {
    ms_error_memory(err, MS_WRK, "shared memory");
    return NULL;
  }
  *pieces = grown;
  grown[*count] = (ms_mapped_memory_piece){0};
  return &grown[(*count)++];
}

static void unmap(ms_mapped_memory_piece *piece) {
  if (piece->size == 0) return;
  munmap(piece->base, piece->size);
  if (piece->pristine != NULL) munmap(piece->pristine, piece->pristine_size);
}

static void drop(ms_mapped_memory_piece *pieces, uint32_t *count, ms_mapped_memory_piece *gone) {
  unmap(gone);
  *gone = pieces[--*count];
}

int ms_mapped_memory_map(ms_mapped_memory *mapped, uint64_t id, uint64_t size, int fd,
                         ms_error *err) {
  struct stat about;
  void *base = MAP_FAILED;
  int failed = fd < 0 || fstat(fd, &about) != 0 || size == 0 || size > (uint64_t)about.st_size;
  if (!failed) base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  int reason = errno;
  if (fd >= 0) close(fd);
  if (base == MAP_FAILED) {
    return ms_error_set(err, MS_WRK, "shared memory of %llu bytes cannot be mapped: %s",
                        (unsigned long long)size, failed ? "bad segment" : strerror(reason));
  }
  ms_mapped_memory_unmap(mapped, id);
  ms_mapped_memory_piece *piece = append(&mapped->segments, &mapped->segment_count, err);
  if (piece == NULL) {
    munmap(base, size);
    return -1;
  }
  *piece = (ms_mapped_memory_piece){.id = id, .size = size, .base = base};
  return 0;
}

void ms_mapped_memory_unmap(ms_mapped_memory *mapped, uint64_t id) {
  ms_mapped_memory_piece *piece = find(mapped->segments, mapped->segment_count, id);
  if (piece != NULL) drop(mapped->segments, &mapped->segment_count, piece);
}

unsigned char *ms_mapped_memory_segment(const ms_mapped_memory *mapped, uint64_t id,
                                        uint64_t size) {
  ms_mapped_memory_piece *piece = find(mapped->segments, mapped->segment_count, id);
  return piece != NULL && piece->size == size ? piece->base : NULL;
}

/* Memory for one of `copies` copies of an array. The system promises more than it has, and ends
 * whoever uses that. */
static void *map_zeroes(size_t size, size_t copies, ms_error *err) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0 && size > (size_t)pages * (size_t)page / copies) {
    ms_error_set(err, MS_WRK, "a copy of %zu bytes is more than this machine's memory has room for",
                 size);
    return NULL;
  }
  void *base =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base != MAP_FAILED) return base;
  ms_error_set(err, MS_WRK, "no room for a copy of %zu bytes: %s", size, strerror(errno));
  return NULL;
}

ms_mapped_memory_piece *ms_mapped_memory_copy(ms_mapped_memory *mapped, uint64_t id, size_t size,
                                              uint64_t job, bool keep, ms_error *err) {
  ms_mapped_memory_piece *piece = find(mapped->copies, mapped->copy_count, id);
  if (piece != NULL && piece->size != size) {
    drop(mapped->copies, &mapped->copy_count, piece);
    piece = NULL;
  }
  if (piece == NULL) {
    unsigned char *base = size == 0 ? (unsigned char *)"" : map_zeroes(size, 1, err);
    if (base == NULL) return NULL;
    piece = append(&mapped->copies, &mapped->copy_count, err);
    if (piece == NULL) {
      if (size > 0) munmap(base, size);
      return NULL;
    }
    *piece = (ms_mapped_memory_piece){.id = id, .size = size, .base = base};
  }
  piece->job = job;
  piece->keep = keep;
  return piece;
}

const ms_mapped_memory_piece *ms_mapped_memory_find(const ms_mapped_memory *mapped, uint64_t id) {
  return find(mapped->copies, mapped->copy_count, id);
}

int ms_mapped_memory_remember(ms_mapped_memory_piece *copy, const ms_elements *all, ms_error *err) {
  int64_t count = ms_elements_count(all);
  size_t size = (size_t)count * all->operand->element;
  if (size == 0) return 0;
  if (copy->pristine != NULL && copy->pristine_size != size) {
    munmap(copy->pristine, copy->pristine_size);
    copy->pristine = NULL;
  }
  copy->pristine_size = size;
  if (copy->pristine == NULL) copy->pristine = map_zeroes(size, 2, err);
  if (copy->pristine == NULL) return -1;
  ms_elements_gather(all, 0, count, copy->pristine);
  return 0;
}

void ms_mapped_memory_forget(ms_mapped_memory *mapped, uint64_t id, uint64_t job) {
  ms_mapped_memory_piece *piece = find(mapped->copies, mapped->copy_count, id);
  if (piece != NULL && (job == 0 || piece->job != job))
    drop(mapped->copies, &mapped->copy_count, piece);
}

void ms_mapped_memory_sweep(ms_mapped_memory *mapped, uint64_t job) {
  for (uint32_t i = mapped->copy_count; i-- > 0;) {
    ms_mapped_memory_piece *piece = &mapped->copies[i];
    if (!piece->keep && piece->job != job) drop(mapped->copies, &mapped->copy_count, piece);
  }
}

void ms_mapped_memory_release(ms_mapped_memory *mapped) {
  while (mapped->segment_count > 0)
    drop(mapped->segments, &mapped->segment_count, mapped->segments);
  while (mapped->copy_count > 0) drop(mapped->copies, &mapped->copy_count, mapped->copies);
  free(mapped->segments);
  free(mapped->copies);
  *mapped = (ms_mapped_memory){0};
}
