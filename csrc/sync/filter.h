/* SPDX-License-Identifier: MIT
 *
 * Filter: which elements of a replica's values go into a message along one edge of a topology.
 *
 * An edge has a baseline: what the sender last sent, by element. The change of an element is its
 * value less the baseline (payload state), or what has been produced and not been sent (payload
 * delta). Changes that pass the rule are sent, of more than there is room for those of highest
 * priority; a change beyond the bound is sent in any case. What stays behind is kept, or dropped.
 * What is sent is exact: a receiver's cache holds, by element, the last value sent.
 *
 * Sources: the relative threshold and its invalidation, Herb, Jungnickel, Alt, "Harmonization of
 * replicated machine learning models"; quotas by priority, Alt, "Adaptive consistency management
 * for distributed machine learning", 2017. A message of m of n elements counts as 16 + min(12 m,
 * 8 n) bytes on all roads.
 *
 * Ledger, of delta payloads and by element: produced = sent + pending + dropped + invalidated, each
 * kept to twice the precision of a double. One thread. */
#ifndef MS_SYNC_FILTER_H
#define MS_SYNC_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"
#include "base/error.h"

typedef enum ms_filter_kind {
  MS_FILTER_NONE,
  MS_FILTER_RELATIVE, /* |change| >= eps max(|baseline|, floor), or eps where that is 0 */
  MS_FILTER_MAGNITUDE /* |change| >= eps */
} ms_filter_kind;

typedef enum ms_filter_priority {
  MS_PRIORITY_RANDOM,
  MS_PRIORITY_ROUND_ROBIN,
  MS_PRIORITY_MAGNITUDE,
  MS_PRIORITY_RELATIVE
} ms_filter_priority;

typedef enum ms_filter_residual {
  MS_RESIDUAL_KEEP,
  MS_RESIDUAL_DROP,
  MS_RESIDUAL_INVALIDATE /* kept until a remote update changes the element */
} ms_filter_residual;

typedef struct MS_API_TYPE ms_filter_rule {
  uint32_t kind, priority, residual;
  uint32_t delta; /* payload: 0 state, 1 delta */
  double eps, floor;
  double bound; /* changes beyond it are sent in any case; may be infinite */
  uint64_t seed;
} ms_filter_rule;

/* Sums of one element, or of all. */
typedef struct MS_API_TYPE ms_ledger {
  double produced, sent, pending, dropped, invalidated;
} ms_ledger;

typedef struct ms_filter ms_filter;

/* A filter of `count` elements whose receiver knows `value`; with a ledger if asked. NULL: MS_OPT
 * for a rule that is none, MS_ARR when memory is out. */
MS_API ms_filter *ms_filter_new(const ms_filter_rule *rule, int64_t count, const double *value,
                                bool ledger, ms_error *err);
MS_API void ms_filter_free(ms_filter *filter);

/* What a filter goes on from, as ms_filter_state_size numbers: so that it may go on elsewhere, or
 * begin again where it was. Restored, it works there, and has all but the place of its messages in
 * them, which are the caller's until it is restored from others, or freed; `save` to where it works
 * completes them. */
int64_t ms_filter_state_size(const ms_filter *filter);
MS_API void ms_filter_save(const ms_filter *filter, double *state);
MS_API void ms_filter_restore(ms_filter *filter, double *state);

/* Another rule from the next message on: what is pending stays so. -1: MS_OPT. */
MS_API int ms_filter_set_rule(ms_filter *filter, const ms_filter_rule *rule, ms_error *err);

/* Makes the message of a round, of at most `room` bytes. `value` is what the elements are; `delta`,
 * of delta payloads, what the round has changed in them. Returns how many elements it has; what it
 * brings is in ms_filter_received. */
MS_API int64_t ms_filter_send(ms_filter *filter, const double *value, const double *delta,
                              double room);

/* The same for another receiver, who has been sent all that `other`'s has: what is chosen is what
 * `other` has sent last. */
MS_API int64_t ms_filter_send_as(ms_filter *filter, const ms_filter *other, const double *value,
                                 const double *delta);

/* What the receiver has after the last message, by element: of state payloads the sender's values
 * as it knows them, of delta payloads the changes of that message, 0 for elements it leaves out. */
MS_API const double *ms_filter_received(const ms_filter *filter);

/* A merge has made `value` of the sender's elements, which were `before`. Where the two differ a
 * remote update has changed the element: under MS_RESIDUAL_INVALIDATE what is pending there is
 * forgotten. `known`, where all hear all, is what the merge makes of what the sender has told, by
 * which all know it: the baseline moves there, or what the merge has done would be sent again, and
 * with it what the receiver takes for elements that are left out. NULL: the baseline stays. */
MS_API void ms_filter_settle(ms_filter *filter, const double *before, const double *value,
                             const double *known);

/* Canonical bytes of a message of `sent` of `count` elements. */
MS_API double ms_filter_bytes(int64_t sent, int64_t count);

/* The ledger of an element, or of all (-1), and how far it is from being balanced: the largest of
 * |produced - sent - pending - dropped - invalidated|. Zero without a ledger. */
MS_API double ms_filter_ledger(const ms_filter *filter, int64_t element, ms_ledger *ledger);

#endif
