/* SPDX-License-Identifier: MIT
 *
 * Tests of id maps: positions in the order of first appearance, maps that are joined, and the order
 * of numbers, against a plain list that is searched from its start. The ids are such that numbers
 * are looked up by themselves, by their hash, and by both; some become strings on the way. */
#include "read/ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "base/test.h"

#define MOST 3000 /* lines */
#define KEEP 24   /* bytes of an id */

static uint64_t seed;

static int64_t draw(uint64_t *state, int64_t below) {
  ms_philox block = ms_philox_at(seed, (*state)++, 0);
  return (int64_t)(ms_philox_unit(ms_philox_half(&block, 0)) * (double)below);
}

/* One id of a kind: near 0, far apart, negative, growing, any of these, or now and then a word. */
static void make_id(char *text, int kind, int line, uint64_t *state) {
  int64_t number = draw(state, 400);
  if (kind == 4) kind = (int)draw(state, 4);
  if (kind == 1) number = draw(state, 900) * INT64_C(5000000000011);
  if (kind == 2) number = draw(state, 500) - 250;
  if (kind == 3) number = draw(state, 20) + (int64_t)line * 700;
  if (kind == 5 && draw(state, 200) == 0) {
    snprintf(text, KEEP, "w%" PRId64, number);
  } else {
    snprintf(text, KEEP, "%" PRId64, number);
  }
}

/* The ids in the order of first appearance. */
typedef struct list {
  char (*text)[KEEP];
  int64_t count;
} list;

static int64_t find(list *known, const char *text) {
  for (int64_t p = 0; p < known->count; p++) {
    if (strcmp(known->text[p], text) == 0) return p;
  }
  strcpy(known->text[known->count], text);
  return known->count++;
}

static int compare(const void *a, const void *b) {
  long long x = strtoll(*(char *const *)a, NULL, 10), y = strtoll(*(char *const *)b, NULL, 10);
  return x < y ? -1 : x > y;
}

/* The labels of a map whose ids are all in `known`. */
static void check_labels(ms_ids *ids, const list *known) {
  ms_error err = {0};
  uint32_t *place;
  int64_t count = known->count;
  bool strings = ids->strings;
  ms_labels *labels = ms_ids_labels(ids, &place, &err);
  CHECK(labels != NULL && labels->count == count && (place == NULL) == strings);
  char **sorted = malloc(((size_t)count + 1) * sizeof *sorted);
  for (int64_t p = 0; p < count; p++) sorted[p] = known->text[p];
  if (!strings) qsort(sorted, (size_t)count, sizeof *sorted, compare);
  bool same = true;
  for (int64_t p = 0; p < count; p++) {
    if (strings) {
      same = same && ms_labels_find_string(labels, sorted[p], strlen(sorted[p])) == p;
    } else {
      same = same && labels->numbers[p] == strtoll(sorted[p], NULL, 10) &&
             strcmp(known->text[p], sorted[place[p]]) == 0;
    }
  }
  CHECK(same);
  free(sorted);
  free(place);
  ms_labels_release(&labels);
}

static int64_t position_of(ms_ids *ids, const char *text, ms_error *err) {
  ms_id id;
  ms_ids_approach(ids, text, strlen(text), &id);
  return ms_ids_place(ids, &id, err);
}

/* Reads the same ids into one map, and into three that are joined. */
static void test_kind(int kind, uint64_t *state) {
  ms_error err = {0};
  ms_ids whole = {0}, parts[3] = {{0}}, all = {0};
  list known = {.text = calloc(MOST, KEEP)};
  uint32_t *place[3];
  int64_t(*at)[2] = calloc(MOST, sizeof *at);
  int lines = 1 + (int)draw(state, MOST - 1);
  bool same = true, joined = true;
  for (int l = 0; l < lines; l++) {
    char text[KEEP];
    make_id(text, kind, l, state);
    int64_t expected = find(&known, text);
    same = same && position_of(&whole, text, &err) == expected;
    at[l][0] = expected;
    at[l][1] = position_of(&parts[l * 3 / lines], text, &err);
  }
  CHECK(same && ms_ids_count(&whole) == known.count && err.code == MS_OK);
  for (int k = 0; k < 3; k++) {
    place[k] = calloc((size_t)parts[k].count + 1, sizeof *place[k]);
    CHECK(ms_ids_join(&all, &parts[k], place[k], &err) == 0);
    ms_ids_free(&parts[k]);
  }
  for (int l = 0; l < lines; l++) joined = joined && place[l * 3 / lines][at[l][1]] == at[l][0];
  CHECK(joined);
  check_labels(&whole, &known);
  check_labels(&all, &known);
  for (int k = 0; k < 3; k++) free(place[k]);
  free(at);
  free(known.text);
}

/* Far more ids than the other test's list could search. */
static void test_many(int64_t step) {
  ms_error err = {0};
  ms_ids ids = {0};
  const int64_t count = 300000;
  bool same = true;
  for (int round = 0; round < 2; round++) {
    for (int64_t k = 0; k < count; k++) {
      char text[KEEP];
      snprintf(text, sizeof text, "%" PRId64, k * 7919 % count * step);
      same = same && position_of(&ids, text, &err) == k;
    }
  }
  CHECK(same && ids.count == count);
  uint32_t *place;
  ms_labels *labels = ms_ids_labels(&ids, &place, &err);
  CHECK(labels != NULL);
  for (int64_t k = 0; labels != NULL && k < count; k++) {
    same = same && labels->numbers[k] == k * step && place[k] == (uint32_t)(k * 7919 % count);
  }
  CHECK(same);
  free(place);
  ms_labels_release(&labels);
}

int main(void) {
  const char *given = getenv("MEISSA_TEST_SEED");
  seed = given != NULL ? strtoull(given, NULL, 10) : 1;
  ms_test_limit(60);
  uint64_t state = 0;
  for (int round = 0; round < 20; round++) {
    for (int kind = 0; kind < 6; kind++) test_kind(kind, &state);
  }
  const int64_t steps[] = {1, 3, 40, 1000003};
  for (int s = 0; s < 4; s++) test_many(steps[s]);
  return ms_test_end();
}
