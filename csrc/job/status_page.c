/* SPDX-License-Identifier: MIT
 *
 * Status page: see status_page.h. */
#include "job/status_page.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/memory_file.h"

#define PAGE 4096u

/* Bytes of a shelf that keep their memory. */
#define KEPT ((size_t)1 << 20)

/* Bytes of the slots, as pages. */
static size_t slots_size(uint32_t workers) {
  return ((size_t)workers * sizeof(ms_status_page) + PAGE - 1) / PAGE * PAGE;
}

size_t ms_status_page_size(uint32_t workers) {
  return slots_size(workers) + (size_t)workers * MS_SHELF_SIZE;
}

char *ms_status_page_shelf(ms_status_page *page, uint32_t workers, uint32_t worker) {
  return (char *)page + slots_size(workers) + (size_t)worker * MS_SHELF_SIZE;
}

void ms_status_page_clear_shelf(ms_status_page *page, uint32_t workers, uint32_t worker,
                                size_t used) {
  if (used <= KEPT || used > MS_SHELF_SIZE) return;
  madvise(ms_status_page_shelf(page, workers, worker) + KEPT,
          (used - KEPT + PAGE - 1) / PAGE * PAGE, MADV_REMOVE);
}

static ms_status_page *map(uint32_t workers, int fd) {
  void *pages = mmap(NULL, ms_status_page_size(workers), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

ms_status_page *ms_status_page_make(uint32_t workers, int *fd, ms_error *err) {
  *fd = ms_memory_file_make("meissa-status", ms_status_page_size(workers), MS_WRK, err);
  if (*fd < 0) return NULL;
  ms_status_page *page = map(workers, *fd);
  if (page != NULL) return page;
  ms_error_set(err, MS_WRK, "no shared memory for the status of workers: %s", strerror(errno));
  close(*fd);
  *fd = -1;
  return NULL;
}

ms_status_page *ms_status_page_map(uint32_t workers, int fd) {
  struct stat about; /* beyond a file's end a mapping kills who touches it */
  if (fstat(fd, &about) != 0 || (size_t)about.st_size < ms_status_page_size(workers)) return NULL;
  return map(workers, fd);
}

void ms_status_page_unmap(ms_status_page *page, uint32_t workers) {
  if (page != NULL) munmap(page, ms_status_page_size(workers));
}

void ms_status_page_clear(ms_status_page *slot) {
  atomic_store(&slot->cancel, 0);
  atomic_store(&slot->running, 0);
  atomic_store(&slot->awaiting, 0);
  atomic_store(&slot->asleep, 0);
}

/* Where the registers lie in a slot. */
static const size_t places[MS_STATUS_COUNT] = {
    [MS_STATUS_CANCEL] = offsetof(ms_status_page, cancel),
    [MS_STATUS_LIMIT] = offsetof(ms_status_page, limit),
    [MS_STATUS_RUNNING] = offsetof(ms_status_page, running),
    [MS_STATUS_AWAITING] = offsetof(ms_status_page, awaiting),
    [MS_STATUS_BEGAN] = offsetof(ms_status_page, began),
    [MS_STATUS_FAILURES] = offsetof(ms_status_page, failures),
    [MS_STATUS_PROGRESS] = offsetof(ms_status_page, progress),
    [MS_STATUS_MEETING] = offsetof(ms_status_page, meeting),
    [MS_STATUS_POSTS] = offsetof(ms_status_page, posts),
    [MS_STATUS_SEEN] = offsetof(ms_status_page, seen)};

void ms_status_page_publish(ms_status_page *slot, ms_status which, uint64_t value) {
  _Atomic uint64_t *at = (_Atomic uint64_t *)(void *)((char *)slot + places[which]);
  if (which == MS_STATUS_RUNNING || which == MS_STATUS_BEGAN) { /* nobody sleeps until then */
    atomic_store_explicit(at, value, memory_order_release);
  } else {
    atomic_store(at, value);
  }
}

uint64_t ms_status_page_status(const ms_status_page *slot, ms_status which) {
  const char *at = (const char *)slot + places[which];
  return atomic_load((const _Atomic uint64_t *)(const void *)at);
}

void ms_status_page_ring(ms_status_page *slot) {
  if (atomic_load(&slot->asleep) == 0) return;
  atomic_fetch_add(&slot->bell, 1);
  syscall(SYS_futex, &slot->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

uint32_t ms_status_page_listen(ms_status_page *own) {
  uint32_t heard = atomic_load(&own->bell);
  atomic_store(&own->asleep, 1);
  return heard;
}

void ms_status_page_sleep(ms_status_page *own, uint32_t heard, int timeout) {
  struct timespec most = {.tv_sec = timeout / 1000, .tv_nsec = (timeout % 1000) * 1000000L};
  syscall(SYS_futex, &own->bell, FUTEX_WAIT, heard, &most, NULL, 0);
}

void ms_status_page_wake(ms_status_page *own) {
  atomic_store(&own->asleep, 0);
}
