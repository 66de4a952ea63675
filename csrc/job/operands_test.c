/* SPDX-License-Identifier: MIT
 *
 * Operands: each piece once, of the right memory, and the versions of what travels: fingerprints
 * see each element that does, and none that does not. */
#include "job/operands.h"

#include <stdlib.h>
#include <string.h>

#include "base/test.h"

static ms_error err;

/* An array of rows x columns doubles, 1, 2, ... */
static ms_array *new_array(int64_t rows, int64_t columns) {
  int64_t dims[] = {rows, columns};
  ms_array *array = ms_array_dense(MS_DOUBLE, 2, dims, &err);
  for (int64_t k = 0; k < array->count; k++) ((double *)array->data)[k] = (double)k + 1;
  return array;
}

static void test_once(void) {
  ms_array *a = new_array(3, 4), *b = new_array(2, 2);
  ms_operands *operands = ms_operands_new(0, &err);
  CHECK(ms_operands_array(operands, a, 0, NULL, &err) == 1);
  CHECK(ms_operands_array(operands, b, 5, NULL, &err) == 2);
  CHECK(ms_operands_array(operands, a, 7, NULL, &err) == 1 && operands->count == 2);
  CHECK(ms_operands_number(operands, b->id) == 2 && ms_operands_number(operands, 1u << 30) == 0);
  const ms_job_operand *first = &operands->list[0], *second = &operands->list[1];
  CHECK(first->operand.movement == MS_MOVE_BROADCAST && first->binding == 0);
  CHECK(second->binding == 5 && second->data == b->data && second->operand.element == 8);
  CHECK(first->operand.dims[1] == 4 && first->operand.strides[0] == 4);
  CHECK(first->segment == a->store->block.segment && first->store == a->store->id);
  for (int k = 0; k < 100; k++) { /* the list grows */
    ms_array *each = new_array(1, 1);
    CHECK(ms_operands_constant(operands, each, &err) == k + 3);
    ms_array_release(each);
  }
  CHECK(operands->list[50].operand.movement == MS_MOVE_CACHED);
  CHECK(operands->list[0].data == a->data && ms_operands_number(operands, b->id) == 2);
  ms_operands_free(operands);
  ms_operands_free(NULL);
  ms_array_release(a);
  ms_array_release(b);
}

/* Whether changing an element changes the fingerprint of operand 1. */
static bool sees(const ms_operands *operands, double *element) {
  uint64_t before[2], after[2];
  ms_operands_print(operands, 1, before);
  *element += 1;
  ms_operands_print(operands, 1, after);
  *element -= 1;
  return memcmp(before, after, sizeof before) != 0;
}

static void test_prints(void) {
  ms_array *whole = new_array(6, 5);
  double *data = whole->data;
  uint64_t print[2];
  ms_operands *operands = ms_operands_new(1, &err);
  ms_array *view = ms_array_narrow(whole, 1, 1, 2, &err);
  CHECK(ms_operands_array(operands, view, 0, NULL, &err) == 1);
  CHECK(operands->list[0].operand.movement == MS_MOVE_CACHED);
  CHECK(ms_operands_print(operands, 1, print) == 0); /* it lies apart */
  for (int k = 0; k < 30; k++) CHECK(sees(operands, &data[k]) == (k % 5 == 1 || k % 5 == 2));
  ms_operands_free(operands);
  operands = ms_operands_new(1, &err);
  CHECK(ms_operands_array(operands, whole, 0, NULL, &err) == 1);
  CHECK(ms_operands_print(operands, 1, print) == 240);
  for (int k = 0; k < 30; k++) CHECK(sees(operands, &data[k]));
  ms_operands_free(operands);
  ms_array_release(view);
  ms_array_release(whole);
}

/* Rows 1 and 4, and columns 0 and 1 of rows 0 .. 2, which have two elements in common. */
static const ms_section parts[] = {
    {.low = {1, 0}, .high = {2, 5}}, {.low = {4, 0}, .high = {5, 5}}, {.low = {0}, .high = {3, 2}}};

static void test_parts(void) {
  ms_array *whole = new_array(6, 5);
  double *data = whole->data;
  ms_view_base base = {.id = 77, .dim_count = 2, .part_count = 3, .parts = parts};
  base.place = (unsigned char *)whole->data - whole->store->block.segment->base;
  memcpy(base.dims, whole->dims, sizeof base.dims);
  memcpy(base.strides, whole->strides, sizeof base.strides);
  ms_operands *operands = ms_operands_new(1, &err);
  CHECK(ms_operands_base(operands, whole, &base, 0, &err) == 1);
  CHECK(ms_operands_base(operands, whole, &base, 3, &err) == 1 && operands->count == 1);
  const ms_operand *operand = &operands->list[0].operand;
  CHECK(operands->list[0].data == whole->data && operand->id == 77);
  CHECK(ms_operand_elements(operand) == 14);
  for (int k = 0; k < 30; k++) {
    bool in = k / 5 == 1 || k / 5 == 4 || (k / 5 < 3 && k % 5 < 2);
    CHECK(sees(operands, &data[k]) == in);
  }
  base.id = 78;
  base.part_count = 0;
  CHECK(ms_operands_base(operands, whole, &base, 3, &err) == 2);
  CHECK(operands->list[1].operand.sections == NULL && operands->list[1].binding == 3);
  ms_operands_free(operands);
  ms_array_release(whole);
}

static void test_moves(void) {
  static const struct {
    const char *name;
    uint32_t follows;
  } movements[] = {{"local", 1}, {"rotated", 1}, {"exchanged", 0}, {"versioned", 0}};
  ms_array *a = new_array(6, 5);
  ms_operands *operands = ms_operands_new(0, &err);
  CHECK(ms_operands_array(operands, a, 0, NULL, &err) == 1);
  for (size_t k = 0; k < sizeof movements / sizeof *movements; k++) {
    ms_operand_move move = {.movement = ms_movement_find(movements[k].name),
                            .written = 1,
                            .array_dim = 1,
                            .cut = 1,
                            .scale = -1,
                            .offset = 6};
    ms_operands_move(operands, 1, &move);
    const ms_operand *operand = &operands->list[0].operand;
    CHECK(operand->movement == move.movement && operand->written == 1);
    CHECK(operand->writes.low[1] == 0 && operand->writes.high[0] == 6);
    CHECK(operand->writes.follows == movements[k].follows);
    if (movements[k].follows == 0) continue;
    const ms_follow *follow = &operand->writes.follow[0];
    CHECK(follow->dim == 1 && follow->axis == 1 && follow->scale == -1 && follow->offset == 6);
  }
  CHECK(ms_movement_find("carried") == MS_MOVEMENTS);
  ms_operands_free(operands);
  ms_array_release(a);
}

int main(void) {
  ms_test_limit(60);
  test_once();
  test_prints();
  test_parts();
  test_moves();
  return ms_test_end();
}
