/* SPDX-License-Identifier: MIT
 *
 * Topology, its weights as a matrix: whether a mean is kept, and how fast replicas come together.
 * See topology.h.
 *
 * The largest singular value of a matrix A is the root of the largest eigenvalue of A'A, which is
 * made tridiagonal by Householder's reflections and then enclosed by counting sign changes (Golub,
 * Van Loan, "Matrix computations", 8.3 and 8.4). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sync/topology.h"

#define NEAR 1e-9

void ms_topology_matrix(const ms_topology *topology, uint64_t round, double *weights) {
  size_t n = topology->count, first = (size_t)(round % topology->period) * n;
  if (topology->reduces) {
    for (size_t e = 0; e < n * n; e++) weights[e] = 1.0 / (double)n;
    return;
  }
  memset(weights, 0, n * n * sizeof *weights);
  for (size_t i = 0; i < n; i++) {
    weights[i * n + i] = topology->own[first + i];
    for (uint32_t k = topology->start[first + i]; k < topology->start[first + i + 1]; k++) {
      weights[i * n + topology->from[k]] = topology->weight[k];
    }
  }
}

/* ---- faults ---- */

/* What is wrong with the weights of a phase; `columns` has room for a sum of each. */
static int faults_of(const ms_topology *topology, uint32_t phase, double *columns) {
  size_t n = topology->count;
  int faults = 0;
  memset(columns, 0, n * sizeof *columns);
  for (size_t i = 0; i < n; i++) {
    size_t number = phase * n + i;
    double own = topology->own[number], row = own;
    columns[i] += own;
    if (!(own >= 0)) faults |= MS_TOPOLOGY_NEGATIVE;
    if (!(own > 0)) faults |= MS_TOPOLOGY_NO_SELF;
    for (uint32_t k = topology->start[number]; k < topology->start[number + 1]; k++) {
      row += topology->weight[k];
      columns[topology->from[k]] += topology->weight[k];
      if (!(topology->weight[k] >= 0)) faults |= MS_TOPOLOGY_NEGATIVE;
    }
    if (!(fabs(row - 1) <= NEAR)) faults |= MS_TOPOLOGY_ROWS;
  }
  for (size_t i = 0; i < n; i++) {
    if (!(fabs(columns[i] - 1) <= NEAR)) faults |= MS_TOPOLOGY_COLUMNS;
  }
  return faults;
}

/* Edges of all phases by one of their ends: those of i lead to to[k], start[i] <= k < start[i + 1].
 */
typedef struct neighbours {
  uint32_t *start, *to;
} neighbours;

/* Fills `known` with the edges that count, by receiver or by sender. `start` is n + 1 zeros. */
static void fill_neighbours(const ms_topology *topology, bool by_sender, neighbours *known) {
  size_t n = topology->count;
  for (int counts = 1; counts >= 0; counts--) {
    for (size_t number = 0; number < topology->period * n; number++) {
      uint32_t to = (uint32_t)(number % n);
      for (uint32_t k = topology->start[number]; k < topology->start[number + 1]; k++) {
        uint32_t here = by_sender ? topology->from[k] : to;
        if (counts)
          known->start[here]++;
        else
          known->to[--known->start[here]] = by_sender ? to : topology->from[k];
      }
    }
    for (size_t i = 1; counts && i <= n; i++) known->start[i] += known->start[i - 1];
  }
}

/* Whether all are reached from the first one; `seen` is n zeros, `list` has room for n. */
static bool reaches_all(const neighbours *known, uint32_t n, uint8_t *seen, uint32_t *list) {
  uint32_t count = 1;
  seen[0] = 1;
  list[0] = 0;
  for (uint32_t at = 0; at < count; at++) {
    for (uint32_t k = known->start[list[at]]; k < known->start[list[at] + 1]; k++) {
      if (seen[known->to[k]]) continue;
      seen[known->to[k]] = 1;
      list[count++] = known->to[k];
    }
  }
  return count == n;
}

/* Whether everyone hears of the first one, or the first one of everyone; -1: memory is out. */
static int is_connected(const ms_topology *topology, bool by_sender) {
  size_t n = topology->count, edges = topology->start[topology->period * n];
  neighbours known = {.start = calloc(n + 1, sizeof *known.start),
                      .to = calloc(edges + 1, sizeof *known.to)};
  uint8_t *seen = calloc(n, 1);
  uint32_t *list = calloc(n, sizeof *list);
  int connected = -1;
  if (known.start != NULL && known.to != NULL && seen != NULL && list != NULL) {
    fill_neighbours(topology, by_sender, &known);
    connected = reaches_all(&known, topology->count, seen, list);
  }
  free(known.start);
  free(known.to);
  free(seen);
  free(list);
  return connected;
}

int ms_topology_faults(const ms_topology *topology) {
  if (topology->reduces) return 0;
  double *columns = calloc(topology->count, sizeof *columns);
  if (columns == NULL) return -1;
  int faults = 0;
  for (uint32_t phase = 0; phase < topology->period; phase++) {
    faults |= faults_of(topology, phase, columns);
  }
  free(columns);
  for (int by_sender = 0; by_sender <= 1; by_sender++) {
    int connected = is_connected(topology, by_sender);
    if (connected < 0) return -1;
    if (!connected) faults |= MS_TOPOLOGY_UNCONNECTED;
  }
  return faults;
}

/* ---- the gap ---- */

/* c = a b */
static void multiply(size_t n, const double *a, const double *b, double *c) {
  memset(c, 0, n * n * sizeof *c);
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < n; k++) {
      double each = a[i * n + k];
      if (each == 0) continue;
      for (size_t j = 0; j < n; j++) c[i * n + j] += each * b[k * n + j];
    }
  }
}

/* Makes a symmetric matrix tridiagonal: its diagonal, and what is beside it. */
static void tridiagonal(size_t n, double *a, double *diagonal, double *beside, double *v,
                        double *p) {
  for (size_t k = 0; k + 2 < n; k++) {
    double norm = 0, scale, factor = 0;
    for (size_t i = k + 1; i < n; i++) norm += a[i * n + k] * a[i * n + k];
    norm = sqrt(norm);
    if (norm == 0) continue;
    double alpha = a[(k + 1) * n + k] > 0 ? -norm : norm;
    for (size_t i = k + 1; i < n; i++) v[i] = a[i * n + k];
    v[k + 1] -= alpha;
    scale = 0;
    for (size_t i = k + 1; i < n; i++) scale += v[i] * v[i];
    if (scale == 0) continue;
    for (size_t i = k; i < n; i++) {
      p[i] = 0;
      for (size_t j = k + 1; j < n; j++) p[i] += a[i * n + j] * v[j];
      p[i] *= 2 / scale;
      if (i > k) factor += v[i] * p[i];
    }
    v[k] = 0;
    for (size_t i = k; i < n; i++) p[i] -= factor / scale * v[i];
    for (size_t i = k; i < n; i++) {
      for (size_t j = k; j < n; j++) a[i * n + j] -= v[i] * p[j] + p[i] * v[j];
    }
  }
  for (size_t i = 0; i < n; i++) {
    diagonal[i] = a[i * n + i];
    beside[i] = i + 1 < n ? a[(i + 1) * n + i] : 0;
  }
}

/* Whether a tridiagonal matrix has an eigenvalue beyond x (Sturm). */
static bool exceeds(size_t n, const double *diagonal, const double *beside, double x) {
  double q = diagonal[0] - x;
  for (size_t i = 0;; i++) {
    if (q > 0) return true;
    if (i + 1 == n) return false;
    if (q == 0) q = -1e-300;
    q = diagonal[i + 1] - x - beside[i] * beside[i] / q;
  }
}

static double largest(size_t n, const double *diagonal, const double *beside) {
  double high = 0, low = 0;
  for (size_t i = 0; i < n; i++) {
    double row = fabs(diagonal[i]) + fabs(beside[i]) + (i > 0 ? fabs(beside[i - 1]) : 0);
    if (row > high) high = row;
  }
  for (int step = 0; step < 200; step++) {
    double middle = low + (high - low) / 2;
    if (exceeds(n, diagonal, beside, middle)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high;
}

/* The stationary distribution of a stochastic matrix, by repeated steps of half of it. */
static void stationary(size_t n, const double *w, double *p, double *next) {
  for (size_t i = 0; i < n; i++) p[i] = 1.0 / (double)n;
  for (int step = 0; step < 100000; step++) {
    double moved = 0;
    for (size_t j = 0; j < n; j++) next[j] = 0.5 * p[j];
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) next[j] += 0.5 * p[i] * w[i * n + j];
    }
    for (size_t j = 0; j < n; j++) {
      moved += fabs(next[j] - p[j]);
      p[j] = next[j];
    }
    if (moved < 1e-16 * (double)n) return;
  }
}

/* Room: w, product, square (n x n each) and four vectors. */
static double gap(const ms_topology *topology, size_t n, double *room) {
  double *w = room, *product = w + n * n, *square = product + n * n;
  double *diagonal = square + n * n, *beside = diagonal + n, *v = beside + n, *p = v + n;
  ms_topology_matrix(topology, 0, product);
  for (uint32_t phase = 1; phase < topology->period; phase++) {
    ms_topology_matrix(topology, phase, w);
    multiply(n, w, product, square);
    memcpy(product, square, n * n * sizeof *product);
  }
  if ((ms_topology_faults(topology) & MS_TOPOLOGY_COLUMNS) == 0) {
    for (size_t i = 0; i < n; i++) v[i] = 1.0 / (double)n;
  } else {
    stationary(n, product, v, p);
  }
  for (size_t e = 0; e < n * n; e++) product[e] -= v[e % n];
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) w[j * n + i] = product[i * n + j];
  }
  multiply(n, w, product, square);
  tridiagonal(n, square, diagonal, beside, v, p);
  double norm = sqrt(largest(n, diagonal, beside));
  if (norm < 1e-12) return 1; /* what rounding leaves of the exact mean */
  double each = pow(norm, 1.0 / topology->period);
  return each < 1 - 1e-14 ? 1 - each : 0;
}

double ms_topology_gap(const ms_topology *topology) {
  size_t n = topology->count;
  double *room = calloc(3 * n * n + 4 * n, sizeof *room);
  if (room == NULL) return -1;
  double found = n == 1 ? 1 : gap(topology, n, room);
  free(room);
  return found;
}
