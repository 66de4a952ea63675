/* SPDX-License-Identifier: MIT
 *
 * Arrays: shapes, views, references, lost contents, copies and splits. */
#include "array/array.h"

#include <stdlib.h>
#include <string.h>

#include "array/index.h"
#include "array/labels.h"
#include "array/random_fill.h"
#include "array/watch.h"
#include "base/test.h"

static const int64_t small[] = {3, 4, 5};

static ms_array *numbered(void) {
  ms_error err = {0};
  ms_array *array = ms_array_dense(MS_DOUBLE, 3, small, &err);
  for (int64_t i = 0; i < array->count; i++) ((double *)array->data)[i] = (double)i;
  return array;
}

static double at(const ms_array *array, int64_t i, int64_t j) {
  return ((double *)array->data)[i * array->strides[0] + j * array->strides[1]];
}

static void test_shapes(void) {
  ms_error err = {0};
  ms_array *array = numbered();
  CHECK(array->count == 60 && array->strides[0] == 20 && array->strides[2] == 1);
  CHECK(ms_array_contiguous(array) && ms_array_bytes(array) == 480);
  ms_array_release(array);
  const int64_t negative[] = {-1}, wide[] = {INT64_C(1) << 31},
                huge[] = {1 << 30, 1 << 30, 1 << 30}, none[] = {0, 1 << 30, 1 << 30, 1 << 30},
                few[] = {1 << 30, 0, 1 << 20};
  CHECK(ms_array_dense(MS_DOUBLE, 1, negative, &err) == NULL && err.code == MS_ARR);
  ms_error_clear(&err);
  CHECK(ms_array_dense(MS_DOUBLE, 1, wide, &err) == NULL && err.code == MS_ARR);
  ms_error_clear(&err);
  CHECK(ms_array_dense(MS_DOUBLE, 3, huge, &err) == NULL && err.code == MS_ARR);
  ms_error_clear(&err);
  /* Without elements, too: strides are products of extents. */
  CHECK(ms_array_dense(MS_DOUBLE, 4, none, &err) == NULL && err.code == MS_ARR);
  ms_error_clear(&err);
  array = ms_array_dense(MS_DOUBLE, 3, few, &err);
  CHECK(array->count == 0 && array->strides[1] == 1 << 20);
  ms_array *copy = ms_array_clone(array, &err);
  CHECK(copy->count == 0);
  ms_array_release(copy);
  ms_array_release(array);
  CHECK(ms_array_dense(MS_OBJECT, 1, small, &err) == NULL && err.code == MS_ARR);
  ms_error_clear(&err);
  CHECK(ms_array_dense(MS_FLOAT, 0, small, &err) == NULL && err.code == MS_ARR);
  CHECK(ms_array_dense(MS_FLOAT, 9, small, &err) == NULL);
  CHECK(ms_segment_bytes() == 0);
}

static void test_views(void) {
  ms_error err = {0};
  ms_array *array = numbered();
  ms_array *row = ms_array_select(array, 0, 2, &err);
  CHECK(row->dim_count == 2 && row->dims[0] == 4 && at(row, 1, 2) == 47);
  ms_array *part = ms_array_narrow(row, 1, 1, 3, &err);
  CHECK(part->count == 12 && at(part, 0, 0) == 41 && at(part, 3, 2) == 58);
  ms_array *turned = ms_array_transpose(part, 0, 1, &err);
  CHECK(turned->dims[0] == 3 && at(turned, 2, 3) == 58 && !ms_array_contiguous(turned));
  CHECK(array->store->references == 4);
  ms_array_free(array); /* the memory stays for the views */
  CHECK(at(turned, 2, 3) == 58);
  ms_array *copy = ms_array_clone(turned, &err);
  CHECK(ms_array_contiguous(copy) && at(copy, 2, 3) == 58 && copy->store != turned->store);
  CHECK(ms_array_narrow(copy, 0, 2, 2, &err) == NULL && err.code == MS_ARR);
  CHECK(strstr(err.message, "3..4") != NULL && strstr(err.message, "1..3") != NULL);
  ms_error_clear(&err);
  CHECK(ms_array_select(copy, 2, 0, &err) == NULL && err.code == MS_ARR);
  ms_error_clear(&err);
  CHECK(ms_array_select(array, 0, 0, &err) == NULL && strstr(err.message, "freed") != NULL);
  ms_array_release(array);
  ms_array_release(row);
  ms_array_release(part);
  ms_array_release(turned);
  ms_array_release(copy);
  CHECK(ms_segment_bytes() == 0);
}

static void test_generations(void) {
  ms_array *array = numbered();
  int32_t generation = array->generation;
  uint64_t id = array->id;
  CHECK(array->readable == generation && generation != 0);
  ms_array_free(array);
  CHECK(array->id == 0 && array->readable == 0 && array->generation != generation);
  CHECK(array->dims[0] == 0);
  ms_array_release(array);
  ms_array *again = numbered();
  CHECK(again == array && again->generation != generation && again->id > id);
  ms_array_release(again);
}

/* Of views that are found unused, and that nobody drains, thousands wait and no more. */
static void test_released(void) {
  enum { VIEWS = 10000 };
  ms_error err;
  ms_array *base = numbered(), *last = NULL;
  for (int v = 0; v < VIEWS; v++) {
    ms_array *view = ms_array_narrow(base, 0, 0, 1, &err);
    CHECK(view != NULL && view->id != 0);
    ms_array_release_later(view);
    CHECK(view->id != 0);
    last = view;
  }
  uint32_t alive = 0;
  for (ms_array *each = base->store->arrays; each != NULL; each = each->next) alive++;
  CHECK(alive > 1000 && alive < VIEWS / 2);
  ms_array_drain();
  CHECK(last->id == 0 && base->store->arrays == base && base->next == NULL);
  ms_array_release(base);
}

static void test_lost_contents(void) {
  ms_error err = {0};
  ms_array *array = numbered();
  ms_array *part = ms_array_narrow(array, 0, 0, 1, &err);
  ms_array_invalidate(array, "loop at x.lua:3 failed");
  CHECK(array->readable == 0 && part->readable == 0);
  CHECK(ms_array_check(part, &err) == -1 && strstr(err.message, "x.lua:3") != NULL);
  ms_array_overwritten(part); /* a part does not make the whole valid */
  CHECK(array->readable == 0 && part->readable == 0);
  ms_array_overwritten(array);
  CHECK(array->readable == array->generation && part->readable == part->generation);
  ms_array *rest = ms_array_narrow(array, 0, 1, 1, &err);
  ms_array *left = ms_array_narrow(array, 1, 0, 1, &err),
           *right = ms_array_narrow(array, 1, 1, 1, &err);
  ms_array_invalidate(part, "lost by a loop over the part");
  CHECK(array->readable == 0 && left->readable == 0 && rest->readable != 0);
  ms_array_overwritten(part);
  ms_array_invalidate(left, "lost by a loop over a column");
  CHECK(array->readable == 0 && part->readable == 0 && rest->readable == 0 && right->readable != 0);
  ms_array_invalidate(right, "and by one over the next");
  ms_array_overwritten(right); /* the first is still lost */
  CHECK(left->readable == 0 && array->readable == 0);
  ms_array_overwritten(array);
  ms_array_release(rest);
  ms_array_release(left);
  ms_array_release(right);
  ms_array_invalidate(part, "lost by a loop over the part");
  CHECK(array->readable == 0);
  ms_array_overwritten(part); /* but what the part lost, the part restores */
  CHECK(array->readable != 0 && part->readable != 0 && array->invalid == NULL);
  ms_array_release(part);
  ms_array_release(array);
}

static void fill_sparse(ms_array *array) {
  for (int64_t e = 0; e < array->count; e++) {
    array->coords[0][e] = (int32_t)(e * 7 % array->dims[0]);
    array->coords[1][e] = (int32_t)(e * 5 % array->dims[1]);
    ((float *)array->data)[e] = (float)e;
  }
}

static void test_split(void) {
  ms_error err = {0};
  const int64_t dims[] = {10, 11};
  ms_array *array = ms_array_sparse(MS_FLOAT, 2, dims, 105, &err);
  fill_sparse(array);
  CHECK(ms_array_check_coords(array, &err) == 0);
  ms_array *one, *other;
  CHECK(ms_array_split(array, 0.9, 1, &one, &other, &err) == 0);
  CHECK(one->count + other->count == 105 && (one->count == 94 || one->count == 95));
  double sum = 0;
  bool ascending = true;
  for (int64_t e = 0; e < one->count; e++) {
    sum += (double)((float *)one->data)[e];
    ascending = ascending && (e == 0 || ((float *)one->data)[e] > ((float *)one->data)[e - 1]);
  }
  for (int64_t e = 0; e < other->count; e++) sum += (double)((float *)other->data)[e];
  CHECK(sum == 104 * 105 / 2 && ascending);
  ms_array *first = NULL, *second = NULL;
  CHECK(ms_array_split(array, 1.5, 1, &first, &second, &err) == -1 && err.code == MS_ARR);
  ms_array_release(one);
  ms_array_release(other);
  array->coords[1][50] = 11;
  ms_error_clear(&err);
  CHECK(ms_array_check_coords(array, &err) == -1 && strstr(err.message, "entry 51") != NULL);
  ms_array_release(array);
}

static void test_index(void) {
  ms_error err = {0};
  const int64_t dims[] = {10, 70000};
  ms_array *array = ms_array_sparse(MS_FLOAT, 2, dims, 300, &err);
  for (int64_t e = 0; e < 300; e++) {
    array->coords[0][e] = (int32_t)(9 - e / 30);
    array->coords[1][e] = (int32_t)(e * 40009 % 70000);
    ((float *)array->data)[e] = (float)e;
  }
  for (int64_t e = 0; e < 300; e++) {
    const int32_t here[] = {array->coords[0][e], array->coords[1][e]};
    CHECK(ms_index_find(array, here, &err) == e);
  }
  const int32_t nowhere[] = {0, 1};
  CHECK(ms_index_find(array, nowhere, &err) == -1);
  int64_t first, last;
  CHECK(ms_index_range(array, nowhere, 1, &first, &last, &err) == 0 && last - first == 30);
  ms_array_release(array);
  array = ms_array_sparse(MS_FLOAT, 2, dims, 2, &err);
  const int32_t both[] = {0, 0};
  CHECK(ms_index_find(array, both, &err) == -2 && err.code == MS_ARR);
  ms_array_release(array);
}

static void test_random(void) {
  ms_error err = {0};
  const int64_t dims[] = {10000}, half[] = {5000};
  ms_array *all = ms_array_dense(MS_DOUBLE, 1, dims, &err);
  ms_array *some = ms_array_dense(MS_DOUBLE, 1, half, &err);
  CHECK(ms_random_fill_normal(all, 7, 2.0, &err) == 0 &&
        ms_random_fill_normal(some, 7, 2.0, &err) == 0);
  CHECK(memcmp(all->data, some->data, 5000 * sizeof(double)) == 0);
  double sum = 0, squares = 0;
  for (int i = 0; i < 10000; i++) {
    double x = ((double *)all->data)[i];
    sum += x;
    squares += x * x;
  }
  CHECK(sum / 10000 > -0.1 && sum / 10000 < 0.1);
  CHECK(squares / 10000 > 3.8 && squares / 10000 < 4.2);
  CHECK(ms_random_fill_uniform(all, 7, 3.0, &err) == 0);
  bool inside = true;
  for (int i = 0; i < 10000; i++) {
    double x = ((double *)all->data)[i];
    inside = inside && x >= 0 && x < 3.0;
  }
  CHECK(inside);
  ms_array_release(all);
  ms_array_release(some);
  ms_array *whole = ms_array_dense(MS_INT32, 1, dims, &err);
  CHECK(ms_random_fill_uniform(whole, 1, 6, &err) == 0);
  int seen = 0;
  for (int i = 0; i < 10000; i++) seen |= 1 << ((int32_t *)whole->data)[i];
  CHECK(seen == 63);
  CHECK(ms_random_fill_uniform(whole, 1, 1e12, &err) == -1 && err.code == MS_ARR);
  ms_error_clear(&err);
  CHECK(ms_random_fill_normal(whole, 1, 1, &err) == -1 && err.code == MS_ARR);
  ms_array_release(whole);
}

static void test_labels(void) {
  ms_error err = {0};
  int64_t *numbers = malloc(3 * sizeof *numbers);
  memcpy(numbers, (int64_t[]){-5, 7, 100}, 3 * sizeof *numbers);
  ms_labels *labels = ms_labels_numbers(numbers, 3, &err);
  CHECK(ms_labels_find_number(labels, 7) == 1 && ms_labels_find_number(labels, 8) == -1);
  CHECK(ms_labels_find_string(labels, "7", 1) == -1);
  ms_labels_release(&labels);
  CHECK(labels == NULL);
  numbers = malloc(2 * sizeof *numbers);
  numbers[0] = numbers[1] = 4;
  CHECK(ms_labels_numbers(numbers, 2, &err) == NULL && err.code == MS_FIL);
  uint64_t *offsets = malloc(4 * sizeof *offsets);
  memcpy(offsets, (uint64_t[]){0, 1, 3, 3}, 4 * sizeof *offsets);
  labels = ms_labels_strings(strdup("abc"), offsets, 3, &err);
  CHECK(ms_labels_find_string(labels, "bc", 2) == 1 && ms_labels_find_string(labels, "", 0) == 2);
  CHECK(ms_labels_find_string(labels, "c", 1) == -1 && ms_labels_find_number(labels, 0) == -1);
  ms_labels *some = ms_labels_slice(labels, 1, 2, &err);
  ms_labels_release(&labels);
  CHECK(some->table == NULL && ms_labels_find_number(some, 0) == -1 && some->table == NULL);
  CHECK(ms_labels_find_string(some, "bc", 2) == 0 && ms_labels_find_string(some, "", 0) == 1);
  CHECK(some->table != NULL && ms_labels_find_string(some, "a", 1) == -1);
  CHECK(ms_labels_prepare(some, &err) == 0);
  ms_labels_release(&some);
  CHECK(some == NULL);
}

static void test_watch(void) {
  ms_error err = {0};
  ms_array *array = numbered(), *view = ms_array_narrow(array, 0, 1, 1, &err);
  ms_watch *watch = ms_watch_open(array, &err), *same = ms_watch_open(view, &err);
  CHECK(watch == same && !ms_watch_gone(watch));
  ms_watch_release(same);
  ms_array_free(array);
  ms_array_release(array);
  CHECK(!ms_watch_gone(watch));
  ms_array_release(view);
  CHECK(ms_watch_gone(watch));
  ms_watch_release(watch);
  array = numbered();
  ms_watch_release(ms_watch_open(array, &err)); /* the array is the last to go */
  watch = ms_watch_open(array, &err);
  CHECK(!ms_watch_gone(watch));
  ms_watch_release(watch);
  ms_array_release(array);
  double numbers[60];
  array = ms_array_foreign(MS_DOUBLE, 3, small, NULL, numbers, NULL, 0, &err);
  CHECK(ms_watch_open(array, &err) == NULL && err.code == MS_ARR);
  ms_error_clear(&err);
  ms_array_release(array);
}

int main(void) {
  test_shapes();
  test_views();
  test_generations();
  test_watch();
  test_released();
  test_lost_contents();
  test_split();
  test_index();
  test_random();
  test_labels();
  return ms_test_end();
}
