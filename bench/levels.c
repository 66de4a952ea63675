/* SPDX-License-Identifier: MIT
 *
 * A sparse triangular solve level by level as one writes it in C, for bench/rounds.lua: x[i] is
 * b[i] less what the row's entries make of earlier x, halved. Two threads share each level out,
 * and meet after it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

typedef struct solve {
  const int64_t *starts; /* of each level in `rows` */
  const int32_t *rows;   /* level by level */
  int64_t levels;
  const int32_t *first, *column; /* CSR, from 1 */
  const double *value, *b;
  double *x;
  atomic_long arrived;
  int threads;
} solve;

typedef struct part {
  solve *all;
  int number;
} part;

double levels_solve(const int64_t *starts, const int32_t *rows, double levels, const int32_t *first,
                    const int32_t *column, const double *value, const double *b, double *x,
                    int threads);

static void solve_rows(const solve *s, int64_t from, int64_t to) {
  for (int64_t r = from; r < to; r++) {
    int32_t i = s->rows[r];
    double sum = s->b[i];
    for (int32_t k = s->first[i]; k < s->first[i + 1]; k++) {
      sum -= s->value[k - 1] * s->x[s->column[k - 1] - 1];
    }
    s->x[i] = sum * 0.5;
  }
}

static void *run(void *argument) {
  const part *own = argument;
  solve *s = own->all;
  for (int64_t l = 0; l < s->levels; l++) {
    int64_t first = s->starts[l], count = s->starts[l + 1] - first;
    solve_rows(s, first + count * own->number / s->threads,
               first + count * (own->number + 1) / s->threads);
    atomic_fetch_add(&s->arrived, 1);
    for (long spins = 0; atomic_load(&s->arrived) < (l + 1) * s->threads; spins++) {
      __builtin_ia32_pause();
    }
  }
  return NULL;
}

double levels_solve(const int64_t *starts, const int32_t *rows, double levels, const int32_t *first,
                    const int32_t *column, const double *value, const double *b, double *x,
                    int threads) {
  solve all = {starts, rows, (int64_t)levels, first, column, value, b, x, 0, threads};
  part parts[2] = {{&all, 0}, {&all, 1}};
  pthread_t other;
  int started = threads > 1 && pthread_create(&other, NULL, run, &parts[1]) == 0;
  if (threads > 1 && !started) return -1;
  run(&parts[0]);
  if (started) pthread_join(other, NULL);
  return 0;
}
