/* SPDX-License-Identifier: MIT
 *
 * Plan cache: see plan_cache.h. A chained hash table. */
#include "plan/plan_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "depend/verdict.h"

#define MOST_PLANS 1024
#define BUCKETS    1024

/* What a plan was made of, as words. */
typedef struct key {
  uint64_t verdict, partition;
  double entries, delay, merged;
  uint64_t ordered, sparse, asked;
  uint64_t ask[MS_CUTS];
} key;

#define KEY_WORDS (sizeof(key) / sizeof(uint64_t))

typedef struct entry {
  key made_of;
  ms_plan *plan;
  struct entry *next;
} entry;

struct ms_plan_cache {
  uint32_t count;
  entry *bucket[BUCKETS];
};

ms_plan_cache *ms_plan_cache_new(ms_error *err) {
  ms_plan_cache *cache = calloc(1, sizeof *cache);
  if (cache == NULL) ms_error_memory(err, MS_ARR, "plans");
  return cache;
}

/* Forgets all. */
static void forget(ms_plan_cache *cache) {
  for (uint32_t b = 0; b < BUCKETS; b++) {
    for (entry *each = cache->bucket[b], *next; each != NULL; each = next) {
      next = each->next;
      ms_plan_release(each->plan);
      free(each);
    }
    cache->bucket[b] = NULL;
  }
  cache->count = 0;
}

void ms_plan_cache_free(ms_plan_cache *cache) {
  if (cache == NULL) return;
  forget(cache);
  free(cache);
}

static key key_of(const ms_plan_terms *terms) {
  const ms_verdict *verdict = terms->verdict;
  key made_of = {.verdict = verdict->id,
                 .partition = terms->partition != NULL ? terms->partition->id : 0,
                 .entries = terms->entries,
                 .delay = terms->delay,
                 .merged = terms->merged,
                 .ordered = terms->ordered,
                 .sparse = terms->sparse,
                 .asked = terms->asked};
  for (uint32_t a = 0; a < terms->asked && a < MS_CUTS; a++) made_of.ask[a] = terms->ask[a];
  return made_of;
}

static uint32_t bucket_of(const key *made_of) {
  uint64_t word[KEY_WORDS], hash = MS_HASH_EMPTY;
  memcpy(word, made_of, sizeof word);
  for (size_t k = 0; k < KEY_WORDS; k++) hash = ms_hash_word(hash, word[k]);
  return (uint32_t)(hash ^ hash >> 32) % BUCKETS;
}

ms_plan *ms_plan_cache_get(ms_plan_cache *cache, const ms_plan_terms *terms, ms_error *err) {
  key made_of = key_of(terms);
  uint32_t bucket = bucket_of(&made_of);
  for (entry *each = cache->bucket[bucket]; each != NULL; each = each->next) {
    if (memcmp(&each->made_of, &made_of, sizeof made_of) == 0) return each->plan;
  }
  entry *added = calloc(1, sizeof *added);
  ms_plan *plan = added != NULL ? ms_plan_new(terms, err) : NULL;
  if (added == NULL) ms_error_memory(err, MS_ARR, "plans");
  if (plan == NULL) {
    free(added);
    return NULL;
  }
  if (cache->count == MOST_PLANS) forget(cache);
  *added = (entry){.made_of = made_of, .plan = plan, .next = cache->bucket[bucket]};
  cache->bucket[bucket] = added;
  cache->count++;
  return plan;
}
