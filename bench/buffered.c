/* SPDX-License-Identifier: MIT
 *
 * The loops of bench/lda.lua and bench/slr.lua as somebody would write them by hand in C, one
 * function a block: kernels.c says how they are called. What goes to a buffer is added to a vector
 * of doubles that is zero when a block begins. Random numbers are the project's own. */
#include <math.h>
#include <stdint.h>

#include "kernel/emit/draws.h"
#include "number.h"

/* Collapsed Gibbs sampling of RANK topics. p: documents, words, places, then the counts of
 * documents and words by topic, topics by document and place, totals, their changes; c: alpha,
 * beta, number of words, of places in a document, seed, ordinal of the loop. */
double lda(const int64_t *block, void *const *p, const double *c) {
  const int32_t *i = p[0], *j = p[1], *place = p[2];
  int32_t *topic = p[5];
  const double *RESTRICT totals = p[6];
  double *RESTRICT changes = p[7];
  number alpha = (number)c[0], beta = (number)c[1], whole = (number)c[2] * beta;
  int64_t longest = (int64_t)c[3];
  ms_draws draws = {.seed = (uint64_t)c[4], .ordinal = (uint32_t)c[5]};
  for (int64_t e = block[0] - 1; e < block[1]; e++) {
    int32_t *RESTRICT document = (int32_t *)p[3] + (int64_t)(i[e] - 1) * RANK;
    int32_t *RESTRICT word = (int32_t *)p[4] + (int64_t)(j[e] - 1) * RANK;
    int32_t *z = topic + (i[e] - 1) * longest + place[e] - 1;
    int32_t old = *z - 1, fresh = 0;
    document[old]--;
    word[old]--;
    changes[old]--;
    number sums[RANK], sum = 0;
    for (int k = 0; k < RANK; k++) {
      sum += (document[k] + alpha) * (word[k] + beta) / (totals[k] + changes[k] + whole);
      sums[k] = sum;
    }
    ms_draws_begin(&draws, 1, (const double[]){(double)(e + 1)});
    number target = (number)ms_draw_unit(ms_draws_next(&draws)) * sum;
    while (sums[fresh] < target && fresh < RANK - 1) fresh++;
    document[fresh]++;
    word[fresh]++;
    changes[fresh]++;
    *z = fresh + 1;
  }
  return 0;
}

/* Logistic regression. p: where each row begins among the entries, columns (from 1), values,
 * weights, labels, gradients. */
double slr(const int64_t *block, void *const *p, const double *c) {
  const int64_t *start = p[0];
  const int32_t *RESTRICT column = p[1];
  const ELEMENT *RESTRICT value = p[2], *RESTRICT w = p[3], *RESTRICT y = p[4];
  double *RESTRICT gradient = p[5];
  double loss = 0;
  (void)c;
  for (int64_t i = block[0] - 1; i < block[1]; i++) {
    number margin = 0;
    for (int64_t e = start[i]; e < start[i + 1]; e++) margin += (number)w[column[e] - 1] * value[e];
    double q = 1 / (1 + exp(-(double)margin));
    number g = (number)((y[i] > 0) - q);
    loss -= log((y[i] > 0 ? q : 1 - q) + 1e-12);
    for (int64_t e = start[i]; e < start[i + 1]; e++) gradient[column[e] - 1] += g * value[e];
  }
  return loss;
}
