/* SPDX-License-Identifier: MIT
 *
 * Topologies: closed forms of their gaps, doubly stochastic weights, kept means, and the rounds
 * that replicas take to agree, against what the gap promises. */
#include "sync/topology.h"

#include <math.h>
#include <string.h>

#include "base/test.h"

#define PI 3.14159265358979323846

static ms_topology *make(int kind, uint32_t n) {
  ms_error err = {0};
  ms_topology *made = ms_topology_new(kind, n, 3, 7, NULL, &err);
  CHECK(made != NULL);
  if (made == NULL) abort();
  return made;
}

static double gap_of(int kind, uint32_t n) {
  ms_topology *made = make(kind, n);
  double gap = ms_topology_gap(made);
  ms_topology_free(made);
  return gap;
}

static bool near(double a, double b, double by) {
  return fabs(a - b) <= by;
}

static void test_closed_forms(void) {
  for (uint32_t n = 2; n <= 40; n++) {
    CHECK(near(gap_of(MS_TOPOLOGY_ALL, n), 1, 1e-9));
    CHECK(gap_of(MS_TOPOLOGY_TREE_ALLREDUCE, n) == 1);
    CHECK(gap_of(MS_TOPOLOGY_RING_ALLREDUCE, n) == 1);
    CHECK(near(gap_of(MS_TOPOLOGY_RING, n), 1 - cos(PI / n), 1e-9));
    if (n > 2) CHECK(near(gap_of(MS_TOPOLOGY_SERVER, n), 1.0 / n, 1e-9));
  }
  CHECK(near(gap_of(MS_TOPOLOGY_ROOT_EXPANDER, 25), 0.1419, 5e-5));
  double six = gap_of(MS_TOPOLOGY_ROOT_EXPANDER, 6);
  CHECK(near(six, 1.0 / 3, 1e-9) || near(six, 0.4226, 5e-5));
  CHECK(near(gap_of(MS_TOPOLOGY_RING, 25), 0.008, 2e-4));
  CHECK(gap_of(MS_TOPOLOGY_RING, 1) == 1);
  for (uint32_t k = 1; k <= 6; k++) {
    CHECK(gap_of(MS_TOPOLOGY_ONE_PEER_EXPONENTIAL, 1u << k) == 1);
  }
}

static void fill(double *x, uint32_t n) {
  uint32_t seed = 17 + n;
  for (uint32_t i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (double)(seed >> 8) / 65536 - 100;
  }
}

static double mean_of(const double *x, uint32_t n) {
  double sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += x[i];
  return sum / n;
}

static double distance(const double *x, uint32_t n, double mean) {
  double sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
  return sqrt(sum);
}

static void step(const ms_topology *made, uint64_t round, double *x) {
  uint32_t n = made->count;
  double *w = calloc((size_t)n * n + n, sizeof *w), *next = w + (size_t)n * n;
  if (w == NULL) abort();
  ms_topology_matrix(made, round, w);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = 0; j < n; j++) next[i] += w[i * n + j] * x[j];
  }
  memcpy(x, next, n * sizeof *x);
  free(w);
}

/* The mean stays, and the replicas agree to 1e-6 within the rounds that the gap allows. */
static void test_means(void) {
  for (int kind = MS_TOPOLOGY_ALL; kind < MS_TOPOLOGY_MATRIX; kind++) {
    for (uint32_t n = 4; n <= 21; n += n < 9 ? 1 : 3) {
      ms_topology *made = make(kind, n);
      double x[32], gap = ms_topology_gap(made);
      CHECK(ms_topology_faults(made) == 0);
      CHECK(gap > 0);
      fill(x, n);
      double mean = mean_of(x, n), far = distance(x, n, mean);
      int most = gap >= 1 ? (int)made->period : (int)ceil(log(1e-6) / log(1 - gap));
      most = (most + (int)made->period - 1) / (int)made->period * (int)made->period;
      for (int t = 0; t < most; t++) step(made, (uint64_t)t, x);
      CHECK(near(mean_of(x, n), mean, 1e-12 * (1 + fabs(mean))));
      CHECK(distance(x, n, mean) <= 1e-6 * far * (1 + 1e-9) + 1e-12);
      ms_topology_free(made);
    }
  }
}

static bool has_edge(const ms_topology *made, uint64_t round, uint32_t from, uint32_t to) {
  uint32_t first, last;
  ms_topology_senders(made, round, to, &first, &last);
  for (uint32_t k = first; k < last; k++) {
    if (made->from[k] == from) return true;
  }
  return false;
}

static void test_edges(void) {
  ms_topology *ring = make(MS_TOPOLOGY_RING, 5), *peer = make(MS_TOPOLOGY_ONE_PEER_EXPONENTIAL, 8);
  for (uint32_t i = 0; i < 5; i++) {
    for (uint32_t j = 0; j < 5; j++) CHECK(has_edge(ring, 3, i, j) == (j == (i + 1) % 5));
  }
  for (uint64_t t = 0; t < 9; t++) {
    for (uint32_t i = 0; i < 8; i++) CHECK(has_edge(peer, t, i, (i + (1u << t % 3)) % 8));
  }
  ms_topology *expander = make(MS_TOPOLOGY_ROOT_EXPANDER, 10);
  for (uint32_t i = 0; i < 10; i++) {
    for (uint32_t j = 0; j < 10; j++) {
      CHECK(has_edge(expander, 0, i, j) == (j == (i + 1) % 10 || j == (i + 3) % 10));
    }
  }
  ms_topology_free(expander);
  ms_topology_free(ring);
  ms_topology_free(peer);
}

static void test_regular(void) {
  for (uint32_t n = 2; n <= 12; n++) {
    for (uint32_t degree = 1; degree < n; degree++) {
      ms_error err = {0};
      ms_topology *made = ms_topology_new(MS_TOPOLOGY_REGULAR, n, degree, n * degree, NULL, &err);
      CHECK(made != NULL && made->weighting == 0 && ms_topology_faults(made) == 0);
      for (uint32_t i = 0; made != NULL && i < n; i++) {
        uint32_t first, last;
        ms_topology_senders(made, 0, i, &first, &last);
        CHECK(last - first == degree);
      }
      ms_topology_free(made);
    }
  }
}

static void test_matrices(void) {
  ms_error err = {0};
  /* In-degree weights of a star lead to a wrong mean. */
  const double star[] = {1.0 / 3, 1.0 / 3, 1.0 / 3, 0.5, 0.5, 0, 0.5, 0, 0.5};
  ms_topology *made = ms_topology_new(MS_TOPOLOGY_MATRIX, 3, 0, 0, star, &err);
  CHECK(made != NULL && ms_topology_faults(made) == MS_TOPOLOGY_COLUMNS);
  ms_topology_free(made);
  const double edges[] = {0, 1, 0, 1, 1, 1, 0, 1, 1}; /* a chain */
  made = ms_topology_new(MS_TOPOLOGY_MATRIX, 3, 0, 0, edges, &err);
  CHECK(made != NULL && made->weighting == 1 && ms_topology_faults(made) == 0);
  ms_topology_free(made);
  const double apart[] = {1, 0, 0, 1};
  made = ms_topology_new(MS_TOPOLOGY_MATRIX, 2, 0, 0, apart, &err);
  CHECK(made != NULL && ms_topology_faults(made) == MS_TOPOLOGY_UNCONNECTED);
  CHECK(made != NULL && ms_topology_gap(made) == 0);
  ms_topology_free(made);
  const double none[] = {0, 1, 1, 0};
  made = ms_topology_new(MS_TOPOLOGY_MATRIX, 2, 0, 0, none, &err);
  CHECK(made != NULL && ms_topology_faults(made) == MS_TOPOLOGY_NO_SELF);
  ms_topology_free(made);
  const double bad[] = {1, 0.3, 0.3, 1};
  CHECK(ms_topology_new(MS_TOPOLOGY_MATRIX, 2, 0, 0, bad, &err) == NULL && err.code == MS_OPT);
}

enum { MOST = 7 };

/* What is wrong with a matrix, by its rows and columns and Warshall's closure. */
static int expected_faults(const double *w, size_t n) {
  int faults = 0;
  bool reach[MOST * MOST];
  for (size_t i = 0; i < n; i++) {
    double row = 0, column = 0;
    for (size_t j = 0; j < n; j++) {
      row += w[i * n + j];
      column += w[j * n + i];
      if (w[i * n + j] < 0) faults |= MS_TOPOLOGY_NEGATIVE;
      reach[i * n + j] = i == j || w[i * n + j] != 0;
    }
    if (!near(row, 1, 1e-9)) faults |= MS_TOPOLOGY_ROWS;
    if (!near(column, 1, 1e-9)) faults |= MS_TOPOLOGY_COLUMNS;
    if (w[i * n + i] <= 0) faults |= MS_TOPOLOGY_NO_SELF;
  }
  for (size_t k = 0; k < n; k++) {
    for (size_t e = 0; e < n * n; e++) {
      reach[e] = reach[e] || (reach[e / n * n + k] && reach[k * n + e % n]);
    }
  }
  for (size_t e = 0; e < n * n; e++) {
    if (!reach[e]) faults |= MS_TOPOLOGY_UNCONNECTED;
  }
  return faults;
}

/* Random edges, and random weights whose rows sum to 1, some below 0. */
static void test_random_matrices(void) {
  int connected = 0;
  srand(7);
  for (int t = 0; t < 4000; t++) {
    uint32_t n = 1 + (uint32_t)(rand() % MOST);
    double given[MOST * MOST] = {0}, weights[MOST * MOST];
    for (uint32_t e = 0; e < n * n; e++) given[e] = rand() % 3 == 0;
    for (uint32_t i = 0; t % 2 == 0 && i < n; i++) {
      double sum = 0;
      for (uint32_t j = 0; j < n; j++) sum += given[i * n + j] *= (double)(rand() % 8) - 1;
      given[i * n + (uint32_t)rand() % n] += 1 - sum;
    }
    ms_error err = {0};
    ms_topology *made = ms_topology_new(MS_TOPOLOGY_MATRIX, n, 0, 0, given, &err);
    CHECK(made != NULL);
    if (made == NULL) return;
    ms_topology_matrix(made, 0, weights);
    int faults = ms_topology_faults(made);
    CHECK(faults == expected_faults(weights, n));
    connected += (faults & MS_TOPOLOGY_UNCONNECTED) == 0;
    ms_topology_free(made);
  }
  CHECK(connected > 500 && connected < 3500);
}

static void test_refusals(void) {
  ms_error err = {0};
  CHECK(ms_topology_new(MS_TOPOLOGY_RING, 0, 0, 0, NULL, &err) == NULL && err.code == MS_OPT);
  ms_error_clear(&err);
  CHECK(ms_topology_new(MS_TOPOLOGY_REGULAR, 4, 4, 0, NULL, &err) == NULL && err.code == MS_OPT);
  ms_error_clear(&err);
  CHECK(ms_topology_new(99, 4, 1, 0, NULL, &err) == NULL && err.code == MS_OPT);
}

int main(void) {
  ms_test_limit(60);
  test_closed_forms();
  test_means();
  test_edges();
  test_regular();
  test_matrices();
  test_random_matrices();
  test_refusals();
  return ms_test_end();
}
