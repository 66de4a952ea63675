/* SPDX-License-Identifier: MIT
 *
 * Writing C: fetching the rows of coming entries. See writer.h.
 *
 * The entries of a block name rows at random, in memory that exceeds the first cache. Which rows is
 * known long before they are needed, so each iteration fetches those of an entry some way ahead. */
#include <inttypes.h>

#include "kernel/writer.h"

#define AHEAD 8u /* entries: more than the memory's delay takes, fewer than the cache holds */
#define LINE  64 /* bytes */
#define LINES 8u /* of a row; what follows, the processor fetches by itself */

/* The dimension of the space whose index a node is, or MS_MAX_DIMS. */
static uint32_t index_of(const ms_writer *w, const ms_node *node) {
  while (node->kind == MS_PAREN) node = node->kid[0];
  for (uint32_t d = 0; node->kind == MS_NAME && d < w->draft->dims; d++) {
    const ms_symbol *symbol = w->draft->indices[d];
    if (symbol != NULL && symbol == node->symbol && !symbol->assigned) return d;
  }
  return MS_MAX_DIMS;
}

/* Lines of a row that are fetched. For rows of one line that costs as much as it saves. */
static uint32_t lines_of(const ms_writer *w, uint32_t array) {
  const ms_binding *binding = &w->draft->job->bindings[array];
  int32_t type = w->draft->job->elements[array].type;
  int64_t bytes = type == MS_FLOAT || type == MS_INT32 ? 4 : 8;
  for (uint32_t d = 1; d < binding->dim_count; d++) {
    if (bytes * binding->dims[d] >= LINE * LINES || binding->dims[d] >= LINE * LINES) return LINES;
    bytes *= binding->dims[d];
  }
  return bytes > LINE ? (uint32_t)((bytes + LINE - 1) / LINE) : 0;
}

void ms_c_note_row(ms_writer *w, uint32_t capture, const ms_node *key) {
  if (w->careful > 0 || !ms_draft_entries(w->draft->job)) return;
  ms_ahead row = {.array = ms_c_array(w, capture), .dim = index_of(w, key)};
  if (row.dim == MS_MAX_DIMS || lines_of(w, row.array) == 0) return;
  for (uint32_t a = 0; a < w->ahead_count; a++) {
    if (w->ahead[a].array == row.array && w->ahead[a].dim == row.dim) return;
  }
  if (w->ahead_count < MS_AHEAD) w->ahead[w->ahead_count++] = row;
}

void ms_c_fetch_ahead(ms_writer *w) {
  if (w->ahead_count == 0) return;
  ms_c_line(w, "const int64_t ms_ahead = x1 + %u <= last ? x1 + %u : last - 1;", AHEAD, AHEAD - 1);
  for (uint32_t a = 0; a < w->ahead_count; a++) {
    const ms_ahead *row = &w->ahead[a];
    const char *at =
        ms_c_text(w, "%s + (ms_coord%u[ms_ahead] - 1) * %s", ms_c_memory(w, row->array),
                  row->dim + 1, ms_c_stride(w, row->array, 0));
    for (uint32_t line = 0; line < lines_of(w, row->array); line++)
      ms_c_line(w, "__builtin_prefetch((const char *)(%s) + %u);", at, line * LINE);
  }
  w->ahead_count = 0;
}
