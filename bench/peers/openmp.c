/* SPDX-License-Identifier: MIT
 *
 * What bench/peers.lua compares Meissa with: OpenMP, as one writes it first.
 *
 *   openmp stencil GRID.npy N PASSES ROUNDS | openmp monte_carlo N ROUNDS
 *
 * GRID.npy has N x N doubles. Prints the least seconds of ROUNDS runs and what the last
 * one gave. */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double stencil(double *U, double *V, long n, long passes) {
  for (long pass = 0; pass < passes; pass++) {
#pragma omp parallel for
    for (long i = 1; i < n - 1; i++) {
      for (long j = 1; j < n - 1; j++) {
        const double *u = U + i * n + j;
        V[i * n + j] = u[0] + 0.2 * (u[-n] + u[n] + u[-1] + u[1] - 4 * u[0]);
      }
    }
    double *swap = U;
    U = V;
    V = swap;
  }
  double total = 0;
  for (long k = 0; k < n * n; k++) total += U[k];
  return total;
}

/* xorshift64*, one sequence a thread. */
static double draw(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (double)(*state * 0x2545F4914F6CDD1Du >> 11) * 0x1p-53;
}

static double monte_carlo(long n) {
  long inside = 0;
#pragma omp parallel reduction(+ : inside)
  {
    uint64_t state = 88172645463325252u + 0x9E3779B97F4A7C15u * (uint64_t)omp_get_thread_num();
#pragma omp for
    for (long i = 0; i < n; i++) {
      double x = draw(&state), y = draw(&state);
      inside += x * x + y * y < 1;
    }
  }
  return 4 * (double)inside / (double)n;
}

/* N x N doubles of a file in NumPy's format, version 1: the length of its header is at byte 8. */
static double *read_grid(const char *path, long n) {
  double *grid = malloc((size_t)(n * n) * sizeof *grid);
  FILE *file = fopen(path, "rb");
  unsigned char start[10];
  if (grid == NULL || file == NULL || fread(start, 1, sizeof start, file) != sizeof start ||
      fseek(file, 10 + start[8] + 256 * start[9], SEEK_SET) != 0 ||
      fread(grid, sizeof *grid, (size_t)(n * n), file) != (size_t)(n * n)) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  fclose(file);
  return grid;
}

int main(int count, char **given) {
  double best = INFINITY, result = 0;
  int grids = count == 6;
  long n = count > 3 ? atol(given[grids ? 3 : 2]) : 0,
       rounds = count > 3 ? atol(given[count - 1]) : 0;
  double *grid = grids ? read_grid(given[2], n) : NULL;
  size_t bytes = grids ? (size_t)(n * n) * sizeof *grid : 0;
  double *U = malloc(bytes + 1), *V = malloc(bytes + 1);
  for (long r = 0; r <= rounds; r++) {
    if (grids) {
      memcpy(U, grid, bytes);
      memcpy(V, grid, bytes);
    }
    double started = omp_get_wtime();
    result = grids ? stencil(U, V, n, atol(given[4])) : monte_carlo(n);
    double seconds = omp_get_wtime() - started;
    if (seconds < best) best = seconds;
  }
  printf("%.9f %.17g\n", best, result);
  return 0;
}
