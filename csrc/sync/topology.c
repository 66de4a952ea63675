/* SPDX-License-Identifier: MIT
 *
 * Topology: see topology.h. A graph is drawn as a matrix of bits, then listed, then weighed. */
#include "sync/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"

/* An edge for each set byte: edge[phase][receiver][sender]. */
typedef struct drawing {
  uint8_t *edge;
  uint32_t count, period;
} drawing;

static void draw(drawing *graph, uint32_t phase, uint32_t from, uint32_t to) {
  if (from == to) return; /* everyone hears itself */
  size_t n = graph->count;
  graph->edge[((size_t)phase * n + to) * n + from] = 1;
}

static bool is_drawn(const drawing *graph, uint32_t phase, uint32_t from, uint32_t to) {
  size_t n = graph->count;
  return graph->edge[((size_t)phase * n + to) * n + from] != 0;
}

static void draw_both(drawing *graph, uint32_t a, uint32_t b) {
  draw(graph, 0, a, b);
  draw(graph, 0, b, a);
}

static void draw_step(drawing *graph, uint32_t phase, uint64_t step) {
  for (uint32_t i = 0; i < graph->count; i++) {
    draw(graph, phase, i, (uint32_t)((i + step) % graph->count));
  }
}

/* ---- random regular graphs ---- */

typedef struct dice {
  uint64_t seed, drawn;
} dice;

static uint32_t roll(dice *source, uint32_t sides) {
  ms_philox block = ms_philox_at(source->seed, source->drawn++, 0x746f706f6c6f6779u);
  return (uint32_t)(ms_philox_unit(ms_philox_half(&block, 0)) * sides);
}

/* Draws the edges i -> to[i], a random permutation that shares none with those that there are;
 * false where mending it by swaps does not end. */
static bool draw_permutation(drawing *graph, uint32_t *to, dice *source) {
  uint32_t n = graph->count, left = 100 * n;
  for (uint32_t i = 0; i < n; i++) to[i] = i;
  for (uint32_t i = n; i-- > 1;) {
    uint32_t other = roll(source, i + 1), kept = to[i];
    to[i] = to[other];
    to[other] = kept;
  }
  for (uint32_t i = 0; i < n;) {
    if (to[i] != i && !is_drawn(graph, 0, i, to[i])) {
      i++;
      continue;
    }
    uint32_t other = roll(source, n), kept = to[i];
    if (left-- == 0) return false;
    to[i] = to[other];
    to[other] = kept;
    if (other < i) i = other;
  }
  for (uint32_t i = 0; i < n; i++) draw(graph, 0, i, to[i]);
  return true;
}

/* Who is reached from replica 0 along all phases' edges, or backwards. */
static bool reaches_all(const drawing *graph, bool backwards, uint32_t *queue, uint8_t *seen) {
  uint32_t n = graph->count, head = 0, tail = 0;
  memset(seen, 0, n);
  queue[tail++] = 0;
  seen[0] = 1;
  while (head < tail) {
    uint32_t at = queue[head++];
    for (uint32_t phase = 0; phase < graph->period; phase++) {
      for (uint32_t i = 0; i < n; i++) {
        bool edge = backwards ? is_drawn(graph, phase, i, at) : is_drawn(graph, phase, at, i);
        if (!edge || seen[i]) continue;
        seen[i] = 1;
        queue[tail++] = i;
      }
    }
  }
  return tail == n;
}

/* 1: everyone hears of everyone in the end; -1: memory is out. */
static int is_connected(const drawing *graph) {
  uint32_t *queue = calloc(graph->count + (size_t)1, sizeof *queue);
  uint8_t *seen = calloc(graph->count + (size_t)1, 1);
  int connected = -1;
  if (queue != NULL && seen != NULL) {
    connected = reaches_all(graph, false, queue, seen) && reaches_all(graph, true, queue, seen);
  }
  free(queue);
  free(seen);
  return connected;
}

#define ATTEMPTS 20

/* The union of `degree` random permutations; where these do not come to be, neighbours on a ring.
 */
static int draw_regular(drawing *graph, uint32_t degree, uint64_t seed, ms_error *err) {
  size_t cells = (size_t)graph->count * graph->count;
  dice source = {.seed = seed};
  uint32_t *to = calloc(graph->count, sizeof *to);
  if (to == NULL) return ms_error_memory(err, MS_ARR, "a topology");
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    uint32_t drawn = 0;
    memset(graph->edge, 0, cells);
    while (drawn < degree && draw_permutation(graph, to, &source)) drawn++;
    if (drawn < degree) continue;
    int connected = is_connected(graph);
    if (connected != 0) {
      free(to);
      return connected > 0 ? 0 : ms_error_memory(err, MS_ARR, "a topology");
    }
  }
  free(to);
  memset(graph->edge, 0, cells);
  for (uint32_t step = 1; step <= degree; step++) draw_step(graph, 0, step);
  return 0;
}

/* ---- kinds ---- */

static uint32_t rounds_to_all(uint32_t count) {
  uint32_t rounds = 0;
  while ((UINT64_C(1) << rounds) < count) rounds++;
  return rounds == 0 ? 1 : rounds;
}

static void draw_all(drawing *graph) {
  for (uint32_t step = 1; step < graph->count; step++) draw_step(graph, 0, step);
}

static int draw_kind(drawing *graph, int kind, uint32_t degree, uint64_t seed, ms_error *err) {
  uint32_t n = graph->count;
  switch (kind) {
    case MS_TOPOLOGY_ALL:
      draw_all(graph);
      return 0;
    case MS_TOPOLOGY_TREE_ALLREDUCE:
      for (uint32_t i = 1; i < n; i++) draw_both(graph, i, (i - 1) / 2);
      return 0;
    case MS_TOPOLOGY_SERVER:
      for (uint32_t i = 1; i < n; i++) draw_both(graph, 0, i);
      return 0;
    case MS_TOPOLOGY_CHAIN:
      for (uint32_t i = 1; i < n; i++) draw_both(graph, i - 1, i);
      return 0;
    case MS_TOPOLOGY_RING_BOTH:
      for (uint32_t i = 0; i < n; i++) draw_both(graph, i, (i + 1) % n);
      return 0;
    case MS_TOPOLOGY_ROOT_EXPANDER:
      draw_step(graph, 0, 1);
      draw_step(graph, 0, (uint64_t)floor(sqrt((double)n) + 0.5));
      return 0;
    case MS_TOPOLOGY_ONE_PEER_EXPONENTIAL:
      for (uint32_t t = 0; t < graph->period; t++) draw_step(graph, t, UINT64_C(1) << t);
      return 0;
    case MS_TOPOLOGY_REGULAR:
      return draw_regular(graph, degree, seed, err);
    default: /* a ring, also of an all-reduce */
      draw_step(graph, 0, 1);
      return 0;
  }
}

/* Lists the edges of a drawing. */
static int list_edges(ms_topology *made, const drawing *graph, ms_error *err) {
  size_t n = graph->count, rows = graph->period * n, edges = 0;
  for (size_t e = 0; e < rows * n; e++) edges += graph->edge[e];
  made->start = calloc(rows + 1, sizeof *made->start);
  made->from = calloc(edges + 1, sizeof *made->from);
  made->weight = calloc(edges + 1, sizeof *made->weight);
  made->own = calloc(rows + 1, sizeof *made->own);
  if (made->start == NULL || made->from == NULL || made->weight == NULL || made->own == NULL) {
    return ms_error_memory(err, MS_ARR, "a topology");
  }
  uint32_t at = 0;
  for (size_t row = 0; row < rows; row++) {
    made->start[row] = at;
    for (uint32_t i = 0; i < n; i++) {
      if (graph->edge[row * n + i]) made->from[at++] = i;
    }
  }
  made->start[rows] = at;
  return 0;
}

/* ---- weights ---- */

static uint32_t degree_of(const ms_topology *made, size_t row) {
  return made->start[row + 1] - made->start[row];
}

static bool is_symmetric(const drawing *graph) {
  for (uint32_t i = 0; i < graph->count; i++) {
    for (uint32_t j = 0; j < i; j++) {
      if (is_drawn(graph, 0, i, j) != is_drawn(graph, 0, j, i)) return false;
    }
  }
  return true;
}

/* Whether in every phase all send to and hear of equally many. */
static bool is_regular(const ms_topology *made, const drawing *graph) {
  uint32_t n = made->count;
  for (uint32_t phase = 0; phase < made->period; phase++) {
    size_t first = (size_t)phase * n;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t receivers = 0;
      for (uint32_t to = 0; to < n; to++) receivers += is_drawn(graph, phase, i, to);
      if (receivers != degree_of(made, first) ||
          degree_of(made, first + i) != degree_of(made, first)) {
        return false;
      }
    }
  }
  return true;
}

static void weigh(ms_topology *made, const drawing *graph) {
  made->weighting = is_regular(made, graph) ? 0 : made->period == 1 && is_symmetric(graph) ? 1 : 3;
  for (size_t row = 0; row < (size_t)made->period * made->count; row++) {
    uint32_t degree = degree_of(made, row);
    double rest = 1;
    for (uint32_t k = made->start[row]; k < made->start[row + 1]; k++) {
      uint32_t other = made->weighting == 1 ? degree_of(made, made->from[k]) : 0;
      made->weight[k] = 1.0 / (1.0 + (other > degree ? other : degree));
      rest -= made->weight[k];
    }
    made->own[row] = made->weighting == 1 ? rest : 1.0 / (1.0 + degree);
  }
}

/* ---- given matrices ---- */

static bool rows_sum_to_1(const double *matrix, uint32_t n) {
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += matrix[i * n + j];
    if (!(fabs(sum - 1) <= 1e-9)) return false;
  }
  return true;
}

static int draw_matrix(drawing *graph, const double *matrix, bool weights, ms_error *err) {
  size_t n = graph->count;
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = 0; j < n; j++) {
      double each = matrix[i * n + j];
      if (!weights && each != 0 && each != 1) {
        return ms_error_set(err, MS_OPT,
                            "the matrix of a topology has rows of weights that sum to 1, one for "
                            "each receiver, or 1 for each edge and 0 elsewhere; row %u has %.17g",
                            i + 1, each);
      }
      if (each != 0) draw(graph, 0, j, i);
    }
  }
  return 0;
}

static void take_weights(ms_topology *made, const double *matrix) {
  size_t n = made->count;
  made->weighting = 2;
  for (size_t i = 0; i < n; i++) {
    made->own[i] = matrix[i * n + i];
    for (uint32_t k = made->start[i]; k < made->start[i + 1]; k++) {
      made->weight[k] = matrix[i * n + made->from[k]];
    }
  }
}

/* ---- making one ---- */

static int make(ms_topology *made, uint32_t degree, uint64_t seed, const double *matrix,
                ms_error *err) {
  drawing graph = {.count = made->count, .period = made->period};
  size_t n = made->count;
  int failed;
  graph.edge = calloc(made->period * n, n);
  if (graph.edge == NULL) return ms_error_memory(err, MS_ARR, "a topology");
  bool weights = matrix != NULL && rows_sum_to_1(matrix, made->count);
  if (matrix != NULL) {
    failed = draw_matrix(&graph, matrix, weights, err);
  } else {
    failed = draw_kind(&graph, (int)made->kind, degree, seed, err);
  }
  if (failed == 0) failed = list_edges(made, &graph, err);
  if (failed == 0 && weights) {
    take_weights(made, matrix);
  } else if (failed == 0) {
    weigh(made, &graph);
  }
  free(graph.edge);
  return failed;
}

ms_topology *ms_topology_new(int kind, uint32_t count, uint32_t degree, uint64_t seed,
                             const double *matrix, ms_error *err) {
  bool known = kind >= MS_TOPOLOGY_ALL && kind <= MS_TOPOLOGY_MATRIX &&
               (kind == MS_TOPOLOGY_MATRIX) == (matrix != NULL);
  if (!known || count < 1 || count > MS_TOPOLOGY_MOST) {
    ms_error_set(err, MS_OPT, "a topology is of 1 to %u replicas, not %u", MS_TOPOLOGY_MOST, count);
    return NULL;
  }
  if (kind == MS_TOPOLOGY_REGULAR && (degree < 1 || degree >= count)) {
    ms_error_set(err, MS_OPT, "each of %u replicas can send to 1 to %u others, not to %u", count,
                 count - 1, degree);
    return NULL;
  }
  ms_topology *made = calloc(1, sizeof *made);
  if (made == NULL) {
    ms_error_memory(err, MS_ARR, "a topology");
    return NULL;
  }
  made->kind = (uint32_t)kind;
  made->count = count;
  made->period = kind == MS_TOPOLOGY_ONE_PEER_EXPONENTIAL ? rounds_to_all(count) : 1;
  made->reduces = kind == MS_TOPOLOGY_TREE_ALLREDUCE || kind == MS_TOPOLOGY_RING_ALLREDUCE;
  if (make(made, degree, seed, matrix, err) == 0) return made;
  ms_topology_free(made);
  return NULL;
}

void ms_topology_free(ms_topology *topology) {
  if (topology == NULL) return;
  free(topology->start);
  free(topology->from);
  free(topology->weight);
  free(topology->own);
  free(topology);
}

void ms_topology_senders(const ms_topology *topology, uint64_t round, uint32_t receiver,
                         uint32_t *first, uint32_t *last) {
  size_t row = (size_t)(round % topology->period) * topology->count + receiver;
  *first = topology->start[row];
  *last = topology->start[row + 1];
}
