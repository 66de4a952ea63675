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

static int faults_of(const double *weights, size_t n) {
  int faults = 0;
  for (size_t i = 0; i < n; i++) {
    double row = 0, column = 0;
    for (size_t j = 0; j < n; j++) {
      row += weights[i * n + j];
      column += weights[j * n + i];
      if (!(weights[i * n + j] >= 0)) faults |= MS_TOPOLOGY_NEGATIVE;
    }
    if (!(fabs(row - 1) <= NEAR)) faults |= MS_TOPOLOGY_ROWS;
    if (!(fabs(column - 1) <= NEAR)) faults |= MS_TOPOLOGY_COLUMNS;
    if (!(weights[i * n + i] > 0)) faults |= MS_TOPOLOGY_NO_SELF;
  }
  return faults;
}

/* Adds to `reach`, who has heard of whom, what a phase's weights bring. */
static void add_reach(const double *weights, size_t n, uint8_t *reach) {
  for (size_t e = 0; e < n * n; e++) reach[e] |= weights[e] != 0;
}

/* Warshall's closure; whether it is all. */
static bool is_closed(uint8_t *reach, size_t n) {
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < n; i++) {
      if (!reach[i * n + k]) continue;
      for (size_t j = 0; j < n; j++) reach[i * n + j] |= reach[k * n + j];
    }
  }
  for (size_t e = 0; e < n * n; e++) {
    if (!reach[e] && e % n != e / n) return false;
  }
  return true;
}

int ms_topology_faults(const ms_topology *topology) {
  size_t n = topology->count;
  double *weights = calloc(n * n, sizeof *weights);
  uint8_t *reach = calloc(n * n, 1);
  int faults = weights == NULL || reach == NULL ? -1 : 0;
  for (uint32_t phase = 0; faults >= 0 && phase < topology->period; phase++) {
    ms_topology_matrix(topology, phase, weights);
    faults |= faults_of(weights, n);
    add_reach(weights, n, reach);
  }
  if (faults >= 0 && !is_closed(reach, n)) faults |= MS_TOPOLOGY_UNCONNECTED;
  free(weights);
  free(reach);
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
