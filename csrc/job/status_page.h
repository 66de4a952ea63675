/* SPDX-License-Identifier: MIT
 *
 * Status page: the page of shared memory on which the processes of one host see the status of its
 * workers (ms_status in net/road.h).
 *
 * Each worker has a slot that only it writes, but for two words of the driver's and the bell, which
 * anyone may ring. It needs no message and survives the worker: a dead worker's last block is known
 * exactly. `progress` is also how blocks are handed over on one host: a worker's blocks run in the
 * plan's order, so one number says which of them are finished, and whoever waits for a block
 * compares that number with the block's rank. Storing it releases what the block wrote, loading it
 * acquires that. Who finds nothing for a while sleeps on its own bell (a futex); no wake-up is
 * lost, because the sleeper says so before it looks again, and the other end looks for sleepers
 * after its store (all sequentially consistent). Nothing read from it is an address or an index:
 * any content is harmless to those who read it.
 *
 * Behind the slots each worker has a shelf. What its blocks leave for the driver is laid there when
 * it is more than a frame carries well; the frame that says so makes it the driver's, until the
 * worker gets its next job. */
#ifndef MS_JOB_STATUS_PAGE_H
#define MS_JOB_STATUS_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "net/road.h"

/* Lines that different processes write stay apart. */
typedef struct ms_status_page {
  _Alignas(64) _Atomic uint64_t cancel, limit; /* see ms_status */
  _Alignas(64) _Atomic uint64_t running, awaiting, began, failures;
  _Atomic uint64_t place; /* job (low 32 bits) and number of the core where its first block began */
  _Alignas(64) _Atomic uint64_t progress, meeting, posts, seen;
  _Alignas(64) _Atomic uint32_t asleep; /* it sleeps, or is about to, until its bell rings */
  _Atomic uint32_t bell;                /* changes with every ring */
} ms_status_page;

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "shared between processes: must not need a lock");

/* Bytes of a page for so many workers. */
size_t ms_status_page_size(uint32_t workers);

/* The shelf of a worker: no memory until it is written. */
char *ms_status_page_shelf(ms_status_page *page, uint32_t workers, uint32_t worker);

/* Gives back the memory of a worker's shelf beyond what is kept for the next job; `used` bytes were
 * written, which nobody reads any more. */
void ms_status_page_clear_shelf(ms_status_page *page, uint32_t workers, uint32_t worker,
                                size_t used);

/* Makes a page for `workers`: slot number 0; *fd is for the workers, the caller's to close. NULL:
 * MS_WRK. */
ms_status_page *ms_status_page_make(uint32_t workers, int *fd, ms_error *err);

/* Maps the page behind `fd` (not closed) in a worker; NULL when it is no page of that size. */
ms_status_page *ms_status_page_map(uint32_t workers, int fd);

/* Unmaps a page (NULL: nothing). */
void ms_status_page_unmap(ms_status_page *page, uint32_t workers);

/* Makes the slot that of a new process. What is of a job stays. */
void ms_status_page_clear(ms_status_page *slot);

/* Writes a register of a slot. */
void ms_status_page_publish(ms_status_page *slot, ms_status which, uint64_t value);

/* Reads one. */
uint64_t ms_status_page_status(const ms_status_page *slot, ms_status which);

/* Wakes the worker of `slot` if it sleeps: after publishing, or cancelling. */
void ms_status_page_ring(ms_status_page *slot);

/* Sleeping takes three steps: listen, look whether what is awaited has come, then sleep (at most
 * `timeout` ms; earlier ends without a reason are possible) or not; and always ms_status_page_wake.
 */
uint32_t ms_status_page_listen(ms_status_page *own);
void ms_status_page_sleep(ms_status_page *own, uint32_t heard, int timeout);
void ms_status_page_wake(ms_status_page *own);

#endif
