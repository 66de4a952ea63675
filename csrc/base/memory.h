/* SPDX-License-Identifier: MIT
 *
 * Memory: how many more bytes this process may use before the machine or its cgroup runs out.
 *
 * Asked before a large allocation, because memory that is promised but not there gets some process
 * killed later, often a bystander. Keeps nothing. */
#ifndef MS_BASE_MEMORY_H
#define MS_BASE_MEMORY_H

#include <stdint.h>

/* UINT64_MAX stands for "no limit known". */
typedef struct ms_memory {
  uint64_t available;   /* MemAvailable of the machine */
  uint64_t group_free;  /* what the tightest cgroup above us still grants */
  uint64_t group_limit; /* that cgroup's limit */
} ms_memory;

/* Reads the state of memory. `root` is "" for this machine; tests pass a directory that holds a
 * made-up /proc and /sys. Files that are missing count as no limit. */
ms_memory ms_memory_read(const char *root);

/* Gives memory that was freed in many pieces back to the system, which the C library keeps
 * otherwise: for the end of a large read. */
void ms_memory_trim(void);

#endif
