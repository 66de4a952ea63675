/* SPDX-License-Identifier: MIT
 *
 * Written: the box of an array that a loop may write, and whether it surely writes all of it.
 *
 * By interval arithmetic over the iterations and inner loops: what a failed loop has to put back,
 * so it may be too large, never too small. Pure. */
#ifndef MS_DEPEND_WRITTEN_H
#define MS_DEPEND_WRITTEN_H

#include "depend/walk_state.h"

/* Fills the box and `whole` of what the accesses for which `concerns` is true write of the array
 * that `binding` is. */
void ms_written_find(const ms_walk *walk, const ms_domain *domain, uint32_t binding,
                     bool (*concerns)(const ms_walk *walk, const ms_access *access,
                                      uint32_t binding),
                     ms_written *written);

#endif
