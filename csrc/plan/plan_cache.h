/* SPDX-License-Identifier: MIT
 *
 * Plan cache: the plans that were made, by what they were made of.
 *
 * Verdicts and partitions are told apart by ids that are never given twice, so nothing that is kept
 * here keeps anything else alive, and a plan of a partition that is gone is never found again. When
 * there are too many, all are forgotten; those in use live on until they are released. One thread.
 */
#ifndef MS_PLAN_PLAN_CACHE_H
#define MS_PLAN_PLAN_CACHE_H

#include "plan/plan.h"

typedef struct ms_plan_cache ms_plan_cache;

/* NULL and MS_ARR when memory is out. */
MS_API ms_plan_cache *ms_plan_cache_new(ms_error *err);

/* Releases all plans. */
MS_API void ms_plan_cache_free(ms_plan_cache *cache);

/* The plan for these terms, found or made: the cache's, good until the next call, or as long as it
 * is kept (ms_plan_keep). Errors as ms_plan_new. */
MS_API ms_plan *ms_plan_cache_get(ms_plan_cache *cache, const ms_plan_terms *terms, ms_error *err);

#endif
