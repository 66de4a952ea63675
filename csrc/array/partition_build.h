/* SPDX-License-Identifier: MIT
 *
 * Between partition.c, which builds partitions, and partition_cache.c, which keeps them. */
#ifndef MS_ARRAY_PARTITION_BUILD_H
#define MS_ARRAY_PARTITION_BUILD_H

#include "array/partition.h"

/* A new partition of a readable sparse array for a well-formed cut, with one reference and no id;
 * NULL with MS_ARR or MS_OPT. */
ms_partition *ms_partition_build(const ms_array *array, const ms_cut *cut, ms_error *err);

#endif
