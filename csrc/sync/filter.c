/* SPDX-License-Identifier: MIT
 *
 * Filter: see filter.h. */
#include "sync/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"

#define HEAD_BYTES    16.0
#define ELEMENT_BYTES 12.0 /* a number and its element */

/* A sum to twice the precision of a double (Dekker's and Knuth's exact addition). */
typedef struct account {
  double high, low;
} account;

typedef struct accounts {
  account produced, sent, dropped, invalidated;
} accounts;

struct ms_filter {
  ms_filter_rule rule;
  int64_t count, begin; /* where round-robin goes on */
  int64_t sent;         /* of the candidates, the first ones: in the last message */
  uint64_t round;
  double *base;     /* by element, what changes are taken from */
  double *received; /* state: the receiver's cache; delta: the last message */
  account *pending; /* delta: produced and not yet sent; what rounding takes from a message stays */
  accounts *ledger; /* or NULL */
  double *state;    /* base, received or pending, ledger, begin and round, one behind the other: the
                       filter's own, or where it goes on */
  double *own, *message; /* what it frees */
  struct candidate *candidates;
};

/* An element that wants to be sent. */
typedef struct candidate {
  double key; /* the larger the earlier */
  int64_t element;
} candidate;

static void add_to(account *sum, double x) {
  double total = sum->high + x, part = total - sum->high;
  double rest = (sum->high - (total - part)) + (x - part);
  double low = sum->low + rest;
  sum->high = total + low;
  sum->low = low - (sum->high - total);
}

static const char *refusal_of(const ms_filter_rule *rule) {
  if (rule->kind > MS_FILTER_MAGNITUDE || rule->priority > MS_PRIORITY_RELATIVE ||
      rule->residual > MS_RESIDUAL_INVALIDATE || rule->delta > 1) {
    return "a filter of an unknown kind";
  }
  if (!(rule->eps >= 0) || !(rule->floor >= 0)) {
    return "a filter's threshold and floor are numbers from 0 on";
  }
  return rule->bound >= 0 ? NULL : "a bound is a number from 0 on";
}

int ms_filter_set_rule(ms_filter *filter, const ms_filter_rule *rule, ms_error *err) {
  const char *refusal = refusal_of(rule);
  if (refusal == NULL && rule->delta != filter->rule.delta) {
    refusal = "a filter's payload stays what it is";
  }
  if (refusal != NULL) return ms_error_set(err, MS_OPT, "%s", refusal);
  filter->rule = *rule;
  return 0;
}

/* Numbers of an element in a state: its baseline, what the receiver has or the two of what is
 * pending, and its ledger. */
static int64_t state_size(const ms_filter_rule *rule, int64_t count, bool ledger) {
  size_t accounts_size = ledger ? sizeof(accounts) / sizeof(double) : 0;
  return count * ((rule->delta ? 3 : 2) + (int64_t)accounts_size) + 2;
}

/* Has a filter work in a state. */
static void work_in(ms_filter *filter, double *state) {
  double *behind = state + filter->count * (filter->rule.delta ? 3 : 2);
  filter->state = filter->base = state;
  filter->received = filter->rule.delta ? filter->message : state + filter->count;
  filter->pending = filter->rule.delta ? (account *)(state + filter->count) : NULL;
  if (filter->ledger != NULL) filter->ledger = (accounts *)behind;
}

ms_filter *ms_filter_new(const ms_filter_rule *rule, int64_t count, const double *value,
                         bool ledger, ms_error *err) {
  const char *refusal = count < 1 ? "a filter of no element" : refusal_of(rule);
  if (refusal != NULL) {
    ms_error_set(err, MS_OPT, "%s", refusal);
    return NULL;
  }
  ms_filter *made = calloc(1, sizeof *made);
  size_t size = (size_t)count;
  if (made != NULL) {
    *made = (ms_filter){.rule = *rule, .count = count};
    made->own = calloc((size_t)state_size(rule, count, ledger), sizeof *made->own);
    made->message = rule->delta ? calloc(size, sizeof *made->message) : NULL;
    made->candidates = calloc(size, sizeof *made->candidates);
  }
  if (made == NULL || made->own == NULL || made->candidates == NULL ||
      (rule->delta && made->message == NULL)) {
    ms_filter_free(made);
    ms_error_memory(err, MS_ARR, "a filter of %lld elements", (long long)count);
    return NULL;
  }
  made->ledger = ledger ? (accounts *)made->own : NULL;
  work_in(made, made->own);
  memcpy(made->base, value, size * sizeof *value);
  if (!rule->delta) memcpy(made->received, value, size * sizeof *value);
  return made;
}

void ms_filter_free(ms_filter *filter) {
  if (filter == NULL) return;
  free(filter->own);
  free(filter->message);
  free(filter->candidates);
  free(filter);
}

int64_t ms_filter_state_size(const ms_filter *filter) {
  return state_size(&filter->rule, filter->count, filter->ledger != NULL);
}

/* In the end: where round-robin goes on, and the round. */
void ms_filter_save(const ms_filter *filter, double *state) {
  int64_t size = ms_filter_state_size(filter);
  if (state != filter->state) memcpy(state, filter->state, (size_t)size * sizeof *state);
  state[size - 2] = (double)filter->begin;
  state[size - 1] = (double)filter->round;
}

void ms_filter_restore(ms_filter *filter, double *state) {
  const double *last = state + ms_filter_state_size(filter) - 2;
  work_in(filter, state);
  filter->begin = (int64_t)last[0];
  filter->round = (uint64_t)last[1];
}

static double change_of(const ms_filter *f, const double *value, int64_t i) {
  return f->rule.delta ? f->pending[i].high : value[i] - f->base[i];
}

/* What a change is measured by. */
static double scale_of(const ms_filter *f, int64_t i) {
  double scale = fabs(f->base[i]);
  return scale < f->rule.floor ? f->rule.floor : scale;
}

/* Nan and infinite changes pass: a receiver must hear of them. */
static bool passes(const ms_filter *f, int64_t i, double change) {
  double size = fabs(change), eps = f->rule.eps;
  if (f->rule.kind == MS_FILTER_NONE) return true;
  if (f->rule.kind == MS_FILTER_MAGNITUDE) return !(size < eps);
  double scale = scale_of(f, i);
  return scale > 0 ? !(size < eps * scale) : !(size < eps);
}

static double key_of(const ms_filter *f, int64_t i, double change) {
  double size = isnan(change) ? INFINITY : fabs(change), scale;
  if (size > f->rule.bound) return INFINITY;
  switch (f->rule.priority) {
    case MS_PRIORITY_MAGNITUDE:
      return size;
    case MS_PRIORITY_RELATIVE:
      scale = scale_of(f, i);
      return scale > 0 ? size / scale : size;
    case MS_PRIORITY_ROUND_ROBIN:
      return -(double)(i < f->begin ? i + f->count - f->begin : i - f->begin);
    default: {
      ms_philox block = ms_philox_at(f->rule.seed, (uint64_t)i, f->round);
      return ms_philox_unit(ms_philox_half(&block, 0));
    }
  }
}

/* Higher keys first, of equal ones the lower element. */
static int compare(const void *a, const void *b) {
  const candidate *one = a, *other = b;
  if (one->key != other->key) return one->key > other->key ? -1 : 1;
  return one->element < other->element ? -1 : one->element > other->element;
}

static void swap(candidate *a, candidate *b) {
  candidate kept = *a;
  *a = *b;
  *b = kept;
}

/* The one in the middle of three. */
static candidate median(const candidate *a, const candidate *b, const candidate *c) {
  if (compare(a, b) > 0) return compare(c, a) >= 0 ? *a : compare(b, c) > 0 ? *b : *c;
  return compare(c, b) >= 0 ? *b : compare(a, c) > 0 ? *a : *c;
}

/* Puts the first `most` of a list in front, the last of these at their end, the others in any
 * order (Hoare, algorithm 65: find); sorted where pivots are bad. */
static void put_first(candidate *list, int64_t count, int64_t most) {
  int64_t low = 0, high = count - 1, last = most - 1;
  for (int left = 4 * 64; low < high && left > 0; left--) {
    candidate pivot = median(&list[low], &list[low + (high - low) / 2], &list[high]);
    int64_t i = low, j = high;
    while (i <= j) {
      while (compare(&list[i], &pivot) < 0) i++;
      while (compare(&pivot, &list[j]) < 0) j--;
      if (i <= j) swap(&list[i++], &list[j--]);
    }
    if (last > j && last < i) return;
    if (last <= j) high = j;
    if (last >= i) low = i;
  }
  if (low < high) qsort(list + low, (size_t)(high - low + 1), sizeof *list, compare);
}

/* The candidates of a message; how many of them are to be sent stand first. */
static int64_t choose(ms_filter *f, const double *value, double room, int64_t *found) {
  int64_t count = 0, beyond = 0;
  bool limited = ms_filter_bytes(f->count, f->count) > room;
  for (int64_t i = 0; i < f->count; i++) {
    double change = change_of(f, value, i);
    bool forced = fabs(change) > f->rule.bound;
    if (change == 0 || !(forced || passes(f, i, change))) continue;
    f->candidates[count++] = (candidate){limited ? key_of(f, i, change) : 0, i};
    beyond += forced;
  }
  *found = count;
  if (ms_filter_bytes(count, f->count) <= room) return count;
  int64_t most = room < HEAD_BYTES ? 0 : (int64_t)((room - HEAD_BYTES) / ELEMENT_BYTES);
  if (most < beyond) most = beyond;
  if (most >= count) return count;
  if (most > 0) put_first(f->candidates, count, most);
  return most;
}

static void send_element(ms_filter *f, const double *value, int64_t i) {
  if (f->rule.delta) {
    f->received[i] = f->pending[i].high;
    if (f->ledger != NULL) add_to(&f->ledger[i].sent, f->pending[i].high);
    f->pending[i] = (account){.high = f->pending[i].low};
  } else {
    f->received[i] = value[i];
  }
  f->base[i] = value[i];
}

/* What is pending of an element is never sent: it goes to an account of the ledger. */
static void forget(ms_filter *f, int64_t i, account *to) {
  if (to != NULL) add_to(to, f->pending[i].high);
  if (to != NULL) add_to(to, f->pending[i].low);
  f->pending[i] = (account){0};
}

static void drop_rest(ms_filter *f, const double *value) {
  for (int64_t i = 0; i < f->count; i++) {
    if (f->rule.delta) {
      forget(f, i, f->ledger != NULL ? &f->ledger[i].dropped : NULL);
    }
    f->base[i] = value[i];
  }
}

static void take(ms_filter *f, const double *delta) {
  if (!f->rule.delta) return;
  memset(f->received, 0, (size_t)f->count * sizeof *f->received);
  for (int64_t i = 0; i < f->count; i++) {
    add_to(&f->pending[i], delta[i]);
    if (f->ledger != NULL) add_to(&f->ledger[i].produced, delta[i]);
  }
}

/* Sends the first elements of a list. */
static void send_first(ms_filter *f, const double *value, const candidate *list, int64_t count) {
  for (int64_t k = 0; k < count; k++) send_element(f, value, list[k].element);
  if (f->rule.residual == MS_RESIDUAL_DROP) drop_rest(f, value);
  f->round++;
}

int64_t ms_filter_send(ms_filter *f, const double *value, const double *delta, double room) {
  take(f, delta);
  int64_t found, sent = choose(f, value, room, &found);
  send_first(f, value, f->candidates, sent);
  if (f->rule.priority == MS_PRIORITY_ROUND_ROBIN && sent > 0 && sent < found) {
    f->begin = (f->candidates[sent - 1].element + 1) % f->count;
  }
  f->sent = sent;
  return sent;
}

int64_t ms_filter_send_as(ms_filter *f, const ms_filter *other, const double *value,
                          const double *delta) {
  take(f, delta);
  send_first(f, value, other->candidates, other->sent);
  f->begin = other->begin;
  return other->sent;
}

const double *ms_filter_received(const ms_filter *filter) {
  return filter->received;
}

/* Whether what is pending of an element is forgotten when a merge has made `value` of `before`. */
static bool is_forgotten(const ms_filter *f, double before, double value) {
  return f->rule.residual == MS_RESIDUAL_INVALIDATE && value != before;
}

void ms_filter_settle(ms_filter *f, const double *before, const double *value,
                      const double *known) {
  bool delta = f->rule.delta, drops = f->rule.residual == MS_RESIDUAL_DROP;
  for (int64_t i = 0; i < f->count; i++) {
    bool forgotten = is_forgotten(f, before[i], value[i]);
    if (forgotten && delta) forget(f, i, f->ledger != NULL ? &f->ledger[i].invalidated : NULL);
    if (forgotten || (known != NULL && (delta || drops))) {
      f->base[i] = value[i];
    } else if (known != NULL) {
      f->base[i] = known[i];
    }
  }
  if (known != NULL && !delta) memcpy(f->received, known, (size_t)f->count * sizeof *known);
}

double ms_filter_bytes(int64_t sent, int64_t count) {
  double sparse = ELEMENT_BYTES * (double)sent, dense = 8.0 * (double)count;
  return HEAD_BYTES + (sparse < dense ? sparse : dense);
}

/* How far an element's ledger is from being balanced, added to those before. */
static double balance(const ms_filter *f, int64_t i, ms_ledger *ledger) {
  const accounts *sums = &f->ledger[i];
  account rest = sums->produced;
  const account *others[] = {&sums->sent, &sums->dropped, &sums->invalidated};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    add_to(&rest, -others[k]->high);
    add_to(&rest, -others[k]->low);
  }
  add_to(&rest, -f->pending[i].high);
  add_to(&rest, -f->pending[i].low);
  ledger->produced += sums->produced.high;
  ledger->sent += sums->sent.high;
  ledger->pending += f->pending[i].high;
  ledger->dropped += sums->dropped.high;
  ledger->invalidated += sums->invalidated.high;
  return fabs(rest.high);
}

double ms_filter_ledger(const ms_filter *filter, int64_t element, ms_ledger *ledger) {
  double most = 0;
  *ledger = (ms_ledger){0};
  if (filter->ledger == NULL || !filter->rule.delta) return 0;
  int64_t first = element < 0 ? 0 : element, end = element < 0 ? filter->count : element + 1;
  for (int64_t i = first; i < end && i < filter->count; i++) {
    double off = balance(filter, i, ledger);
    if (off > most) most = off;
  }
  return most;
}
