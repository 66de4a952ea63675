/* SPDX-License-Identifier: MIT
 *
 * Listed: the elements of an operand that are on a block's list (element_lists.h), one after the
 * other, as they are logged and as they go back to the driver. Pure functions on caller's memory.
 */
#ifndef MS_JOB_LISTED_H
#define MS_JOB_LISTED_H

#include "job/elements.h"
#include "plan/element_lists.h"
#include "plan/schedule.h"

/* A place in a block's list. */
typedef struct ms_listed {
  ms_element_walk walk;
  ms_span rest; /* of the present run */
} ms_listed;

/* The beginning of a block's list. */
ms_listed ms_listed_begin(const ms_element_lists *lists, int64_t block);

/* Copies the next elements, at most `count`, of `all` to `out`, or from `in`, and moves the place
 * on; how many there were. */
int64_t ms_listed_gather(ms_listed *place, const ms_elements *all, int64_t count, void *out);
int64_t ms_listed_scatter(ms_listed *place, const ms_elements *all, int64_t count, const void *in);

/* A place in the lists of a worker's blocks, or some of them, in the order in which it runs them.
 */
typedef struct ms_listed_share {
  const ms_element_lists *lists;
  const ms_schedule *schedule;
  uint32_t worker, block, final; /* the present block, and the last one */
  ms_listed place;
  int64_t done, count; /* how many elements have been gone through, of how many */
} ms_listed_share;

/* The beginning of a worker's lists. */
ms_listed_share ms_listed_share_begin(const ms_element_lists *lists, const ms_schedule *schedule,
                                      uint32_t worker);

/* The same of its blocks `first` .. `final` alone. */
ms_listed_share ms_listed_share_between(const ms_element_lists *lists, const ms_schedule *schedule,
                                        uint32_t worker, uint32_t first, uint32_t final);

/* As above, and false where there are not so many elements. */
bool ms_listed_share_gather(ms_listed_share *share, const ms_elements *all, int64_t count,
                            void *out);
bool ms_listed_share_scatter(ms_listed_share *share, const ms_elements *all, int64_t count,
                             const void *in);

#endif
