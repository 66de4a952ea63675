/* SPDX-License-Identifier: MIT
 *
 * Writing C: prefetching the rows of coming entries. See c_cache_prefetch.h.
 *
 * The entries of a block name rows at random, in memory that exceeds the first cache. Which rows is
 * known long before they are needed, so each iteration fetches those of an entry some way ahead. */
#include "kernel/native/c_cache_prefetch.h"

#include <inttypes.h>

#include "kernel/native/c_array.h"

#define AHEAD 8u /* entries: more than the memory's delay takes, fewer than the cache holds */
#define LINE  64 /* bytes */
#define LINES 8u /* of a row; what follows, the processor fetches by itself */
#define ROOM  (1 << 17) /* bytes of an array that stays in the caches */

/* The dimension of the space whose index a node is, or MS_MAX_DIMS. */
static uint32_t index_of(const ms_writer *w, const ms_node *node) {
  while (node->kind == MS_PAREN) node = node->kid[0];
  for (uint32_t d = 0; node->kind == MS_NAME && d < w->emitter->dims; d++) {
    const ms_symbol *symbol = w->emitter->indices[d];
    if (symbol != NULL && symbol == node->symbol && !symbol->assigned) return d;
  }
  return MS_MAX_DIMS;
}

/* Lines of a row that are fetched. For rows of one line that costs as much as it saves. */
static uint32_t lines_of(const ms_writer *w, uint32_t array) {
  const ms_binding *binding = &w->emitter->job->bindings[array];
  int32_t type = w->emitter->job->elements[array].type;
  int64_t bytes = type == MS_FLOAT || type == MS_INT32 ? 4 : 8;
  for (uint32_t d = 1; d < binding->dim_count; d++) {
    if (bytes * binding->dims[d] >= LINE * LINES || binding->dims[d] >= LINE * LINES) return LINES;
    bytes *= binding->dims[d];
  }
  return bytes > LINE ? (uint32_t)((bytes + LINE - 1) / LINE) : 0;
}

/* Whether a node changes within an iteration: a loop's variable, or one that is assigned. */
static bool varies(const ms_node *node) {
  const ms_symbol *symbol = node->kind == MS_NAME ? node->symbol : NULL;
  const ms_node *declared = symbol != NULL ? symbol->declaration : NULL;
  if (symbol != NULL &&
      (symbol->assigned || (declared != NULL && declared->kind == MS_FOR_NUMERIC)))
    return true;
  for (uint32_t k = 0; k < node->kids; k++) {
    if (node->kid[k] != NULL && varies(node->kid[k])) return true;
  }
  return false;
}

/* Of an element X[i][t] whose place in a row is known as early as the row: where it is known from;
 * MS_AHEAD_ROW if it is not, or the array is so small that it stays in the cache. */
static uint32_t column_of(const ms_writer *w, uint32_t array, const ms_node *key) {
  const ms_kernel_job *job = w->emitter->job;
  const ms_binding *binding = &job->bindings[array];
  if (binding->dim_count != 2 || binding->dims[0] * binding->dims[1] < ROOM / 8)
    return MS_AHEAD_ROW;
  while (key->kind == MS_PAREN) key = key->kid[0];
  const ms_symbol *value = w->emitter->value;
  bool whole = job->entry_type == MS_INT32 || job->entry_type == MS_INT64;
  if (key->kind == MS_NAME && key->symbol == value && value != NULL && whole && !value->assigned)
    return MS_AHEAD_VALUE;
  uint32_t d = index_of(w, key);
  return d == MS_MAX_DIMS ? MS_AHEAD_ROW : d;
}

void ms_c_cache_prefetch_note(ms_writer *w, uint32_t capture, const ms_node *const *key,
                              uint32_t count) {
  if (w->careful > 0 || !ms_emitter_entries(w->emitter->job)) return;
  ms_cache_prefetch use = {ms_c_array(w, capture), index_of(w, key[0]), MS_AHEAD_ROW};
  bool row = count == 1;
  for (uint32_t k = 1; k < count; k++) row = row || varies(key[k]);
  if (!row) use.column = column_of(w, use.array, key[1]);
  if (use.dim == MS_MAX_DIMS || (row ? lines_of(w, use.array) == 0 : use.column == MS_AHEAD_ROW))
    return;
  for (uint32_t a = 0; a < w->ahead_count; a++) {
    const ms_cache_prefetch *known = &w->ahead[a];
    if (known->array == use.array && known->dim == use.dim && known->column == use.column) return;
  }
  if (w->ahead_count < MS_AHEAD) w->ahead[w->ahead_count++] = use;
}

/* Whatever the entry's value is: an address that no array has is fetched to no effect. */
static void fetch_element(ms_writer *w, const ms_cache_prefetch *use) {
  const char *column = "ms_entries[ms_cache_prefetch]", *memory = ms_c_array_memory(w, use->array);
  if (use->column == MS_AHEAD_VALUE) {
    w->entries_used = true;
  } else {
    column = ms_c_text(w, "ms_coord%u[ms_cache_prefetch]", use->column + 1);
  }
  ms_c_line(w,
            "__builtin_prefetch((const void *)((uintptr_t)%s + sizeof *%s * "
            "((uint64_t)(ms_coord%u[ms_cache_prefetch] - 1) * (uint64_t)%s + (uint64_t)%s - 1)));",
            memory, memory, use->dim + 1, ms_c_array_stride(w, use->array, 0), column);
}

static void fetch_row(ms_writer *w, const ms_cache_prefetch *use) {
  const char *at = ms_c_text(w, "%s + (ms_coord%u[ms_cache_prefetch] - 1) * %s",
                             ms_c_array_memory(w, use->array), use->dim + 1,
                             ms_c_array_stride(w, use->array, 0));
  for (uint32_t line = 0; line < lines_of(w, use->array); line++)
    ms_c_line(w, "__builtin_prefetch((const char *)(%s) + %u);", at, line * LINE);
}

void ms_c_cache_prefetch(ms_writer *w) {
  if (w->ahead_count == 0) return;
  ms_c_line(w, "const int64_t ms_cache_prefetch = x1 + %u <= last ? x1 + %u : last - 1;", AHEAD,
            AHEAD - 1);
  for (uint32_t a = 0; a < w->ahead_count; a++) {
    if (w->ahead[a].column == MS_AHEAD_ROW) {
      fetch_row(w, &w->ahead[a]);
    } else {
      fetch_element(w, &w->ahead[a]);
    }
  }
  w->ahead_count = 0;
}
