/* SPDX-License-Identifier: MIT
 *
 * Difference constraints: see difference.h. */
#include "depend/difference.h"

#include <string.h>

#include "depend/integer.h"

/* Sums of as many constants as a path has edges stay far below 2^63. */
#define MOST_CONSTANT ((int64_t)1 << 50)
#define MOST_EDGES    (2 * MS_MAX_EQUAL + MS_MAX_INEQUALITY)
#define MOST_NODES    (MS_MAX_COLUMNS + 1)

/* x[to] - x[from] <= most. Node 0 is the number 0. */
typedef struct edge {
  uint32_t from, to;
  int64_t most;
} edge;

typedef struct graph {
  uint32_t node[MS_MAX_COLUMNS]; /* of each column; 0: not used */
  uint32_t nodes, edges;
  edge edge[MOST_EDGES];
} graph;

/* What a row says: 1 something to keep, 0 nothing, -1 that it cannot hold, -2 another form. */
typedef enum verdict { KEEP = 1, IDLE = 0, NEVER = -1, OTHER = -2 } verdict;

/* The coefficients of a row as "most >= factor * (x[to] - x[from])". With s = t + d for d, a * t +
 * b * d is (a - b) * t + b * s. */
static verdict read_row(const graph *g, const ms_constraint *row, edge *out, int64_t *factor) {
  int64_t plus = 0, minus = 0;
  if (row->constant > MOST_CONSTANT || row->constant < -MOST_CONSTANT) return OTHER;
  *out = (edge){.most = row->constant};
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++) {
    int64_t at = row->at[c];
    bool has_later = c >= MS_COLUMN_T(0) && c < MS_COLUMN_T(MS_MAX_DIMS);
    if (has_later) at -= row->at[c - MS_COLUMN_T(0) + MS_COLUMN_D(0)] * (g->node[c] != 0);
    if (at == 0) continue;
    if (g->node[c] == 0 || (at > 0 ? plus : minus) != 0) return OTHER;
    if (at > 0) { /* + x[c] >= ...: it is subtracted on the other side */
      plus = at;
      out->from = g->node[c];
    } else {
      minus = -at;
      out->to = g->node[c];
    }
  }
  if (plus != 0 && minus != 0 && plus != minus) return OTHER;
  *factor = plus != 0 ? plus : minus;
  return *factor == 0 ? IDLE : KEEP;
}

static verdict add_inequality(graph *g, const ms_constraint *row) {
  edge found;
  int64_t factor;
  verdict says = read_row(g, row, &found, &factor);
  if (says == IDLE) return row->constant < 0 ? NEVER : IDLE;
  if (says != KEEP) return says;
  found.most = ms_integer_floor_div(found.most, factor);
  g->edge[g->edges++] = found;
  return KEEP;
}

static verdict add_equality(graph *g, const ms_constraint *row) {
  edge found;
  int64_t factor;
  verdict says = read_row(g, row, &found, &factor);
  if (says == IDLE) return row->constant != 0 ? NEVER : IDLE;
  if (says != KEEP) return says;
  if (found.most % factor != 0) return NEVER;
  found.most /= factor;
  g->edge[g->edges++] = found;
  g->edge[g->edges++] = (edge){.from = found.to, .to = found.from, .most = -found.most};
  return KEEP;
}

/* Shortest paths from everywhere at once; false when a cycle is negative. */
static bool shorten(const graph *g, int64_t *x) {
  bool changed = true;
  for (uint32_t round = 0; changed && round <= g->nodes; round++) {
    changed = false;
    for (uint32_t e = 0; e < g->edges; e++) {
      const edge *each = &g->edge[e];
      if (x[each->from] + each->most >= x[each->to]) continue;
      x[each->to] = x[each->from] + each->most;
      changed = true;
    }
  }
  return !changed;
}

/* The graph of a system; KEEP when it is whole. */
static verdict make_graph(graph *g, const ms_system *system) {
  verdict says = KEEP;
  g->nodes = 1;
  g->edges = 0;
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++) g->node[c] = system->used[c] ? g->nodes++ : 0;
  for (uint32_t r = 0; r < system->equal_count && says >= IDLE; r++) {
    says = add_equality(g, &system->equal[r]);
  }
  for (uint32_t r = 0; r < system->inequality_count && says >= IDLE; r++) {
    says = add_inequality(g, &system->inequality[r]);
  }
  return says;
}

int ms_difference_sample(const ms_system *system, int64_t *values) {
  graph g;
  int64_t x[MOST_NODES] = {0};
  verdict says = make_graph(&g, system);
  if (says == OTHER) return -1;
  memset(values, 0, MS_MAX_COLUMNS * sizeof *values);
  if (says == NEVER || !shorten(&g, x)) return 0;
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++) {
    if (g.node[c] != 0) values[c] = x[g.node[c]] - x[0];
  }
  for (uint32_t k = 0; k < MS_MAX_DIMS; k++) {
    if (g.node[MS_COLUMN_D(k)] != 0) values[MS_COLUMN_D(k)] -= values[MS_COLUMN_T(k)];
  }
  return 1;
}
