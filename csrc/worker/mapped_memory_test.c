/* SPDX-License-Identifier: MIT
 *
 * Held copies: what a worker holds of arrays that travel, and what it refuses to hold. */
#include "worker/mapped_memory.h"

#include <string.h>
#include <unistd.h>

#include "base/test.h"

/* An operand of so many bytes. */
static ms_operand bytes_of(size_t size) {
  return (ms_operand){.element = 1, .dim_count = 1, .dims = {(int64_t)size}, .strides = {1}};
}

static void test_copies(void) {
  ms_mapped_memory mapped = {0};
  ms_error err = {0};
  ms_mapped_memory_piece *one = ms_mapped_memory_copy(&mapped, 7, 100, 1, false, &err);
  CHECK(one != NULL && one->size == 100);
  if (one == NULL) return;
  memset(one->base, 5, 100);
  CHECK(ms_mapped_memory_copy(&mapped, 7, 100, 2, false, &err) ==
        ms_mapped_memory_find(&mapped, 7)); /* the same one */
  one = ms_mapped_memory_copy(&mapped, 7, 100, 2, false, &err);
  ms_operand operand = bytes_of(100);
  ms_elements all = ms_elements_of(&operand, one->base, true);
  CHECK(one->base[99] == 5 && ms_mapped_memory_remember(one, &all, &err) == 0 &&
        one->pristine[99] == 5);
  static const ms_section two[] = {{{3}, {5}}, {{90}, {91}}};
  operand.sections = two;
  operand.section_count = 2;
  one->base[4] = 6;
  one->base[90] = 7;
  CHECK(ms_mapped_memory_remember(one, &all, &err) == 0 && memcmp(one->pristine, "\5\6\7", 3) == 0);
  CHECK(ms_mapped_memory_copy(&mapped, 7, 200, 2, false, &err)->base[99] ==
        0); /* of another size: anew */
  CHECK(ms_mapped_memory_copy(&mapped, 8, 0, 2, true, &err) != NULL);
  ms_mapped_memory_sweep(&mapped, 3);
  CHECK(ms_mapped_memory_find(&mapped, 7) == NULL && ms_mapped_memory_find(&mapped, 8) != NULL);
  CHECK(err.code == MS_OK);
  ms_mapped_memory_release(&mapped);
}

/* Linux would promise more than there is, and end the process that uses it. */
static void test_more_than_memory(void) {
  ms_mapped_memory mapped = {0};
  ms_error err = {0};
  size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  CHECK(ms_mapped_memory_copy(&mapped, 1, memory + 4096, 1, false, &err) == NULL &&
        err.code == MS_WRK);
  ms_error_clear(&err);
  CHECK(ms_mapped_memory_copy(&mapped, 1, (size_t)1 << 46, 1, false, &err) == NULL &&
        err.code == MS_WRK);
  ms_error_clear(&err);
  ms_mapped_memory_piece *most =
      ms_mapped_memory_copy(&mapped, 2, memory / 4 * 3, 1, false, &err); /* never touched */
  CHECK(most != NULL && err.code == MS_OK);
  if (most == NULL) return;
  ms_operand operand = bytes_of(most->size);
  ms_elements all = ms_elements_of(&operand, most->base, true);
  CHECK(ms_mapped_memory_remember(most, &all, &err) != 0 && err.code == MS_WRK);
  ms_mapped_memory_release(&mapped);
}

int main(void) {
  test_copies();
  test_more_than_memory();
  return ms_test_end();
}
