/* SPDX-License-Identifier: MIT
 *
 * The loops of bench/kernels.lua as somebody would write them by hand in C, one function a block,
 * for comparison with what Meissa makes of the Lua text. The bench compiles this file anew for
 * every rank, element type and mode:
 *   -DRANK=32        length of a row, a constant
 *   -DELEMENT=float  element type of the arrays
 *   -DFAST           arithmetic in the element type; without it in double, in the written order
 *
 * All functions have one form, so that the bench calls them alike: `block` is first and last entry
 * (from 1), or lo1, hi1, lo2, hi2 for ranges; `p` the arrays; `c` the captured numbers. They return
 * the block's part of the loop's sum. Arrays do not overlap. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "number.h"

/* gcc peels short loops of constant length completely before it vectorises, which makes them half
 * as fast; longer ones gain from unrolling. */
#if RANK <= 32
#define SHORT_LOOP _Pragma("GCC unroll 1")
#else
#define SHORT_LOOP
#endif

#ifdef FAST
static inline number dot(const ELEMENT *RESTRICT x, const ELEMENT *RESTRICT y) {
  number sum = 0;
  SHORT_LOOP
  for (int k = 0; k < RANK; k++) sum += x[k] * y[k];
  return sum;
}
#else
/* The defined order of addition: four vectors of 16 bytes, in the elements' own precision. */
#define WIDTH ((int)(16 / sizeof(ELEMENT)))
typedef ELEMENT lanes __attribute__((vector_size(16)));

static inline lanes product(const ELEMENT *x, const ELEMENT *y) {
  lanes a, b;
  memcpy(&a, x, sizeof a);
  memcpy(&b, y, sizeof b);
  return a * b;
}

static inline number dot(const ELEMENT *RESTRICT x, const ELEMENT *RESTRICT y) {
  lanes s[4] = {{0}};
  int k = 0;
  for (; k + 4 * WIDTH <= RANK; k += 4 * WIDTH) {
    for (int l = 0; l < 4; l++) s[l] += product(x + k + l * WIDTH, y + k + l * WIDTH);
  }
  for (int l = 0; k < RANK; l++, k += WIDTH) {
    if (k + WIDTH <= RANK) {
      s[l] += product(x + k, y + k);
    } else {
      for (int m = 0; m < RANK - k; m++) s[l][m] += x[k + m] * y[k + m];
    }
  }
  lanes sum = (s[0] + s[2]) + (s[1] + s[3]);
  return WIDTH == 4 ? (sum[0] + sum[WIDTH - 2]) + (sum[1] + sum[WIDTH - 1]) : sum[0] + sum[1];
}
#endif

/* Matrix factorization by SGD. p: users, items, ratings, W, H; c: mu, lr, reg. */
double mf_sgd(const int64_t *block, void *const *p, const double *c) {
  const int32_t *i = p[0], *j = p[1];
  const ELEMENT *r = p[2];
  number mu = (number)c[0], lr = (number)c[1], reg = (number)c[2];
  double sse = 0; /* of many terms */
  for (int64_t e = block[0] - 1; e < block[1]; e++) {
    ELEMENT *RESTRICT w = (ELEMENT *)p[3] + (int64_t)(i[e] - 1) * RANK;
    ELEMENT *RESTRICT h = (ELEMENT *)p[4] + (int64_t)(j[e] - 1) * RANK;
    number d = r[e] - mu - dot(w, h);
    sse += d * d;
    SHORT_LOOP
    for (int k = 0; k < RANK; k++) {
      number wk = w[k], hk = h[k];
      w[k] = (ELEMENT)(wk + lr * (d * hk - reg * wk));
      h[k] = (ELEMENT)(hk + lr * (d * wk - reg * hk));
    }
  }
  return sse;
}

/* The same by AdaGrad, LIBMF's rule: a step size a row, which shrinks with the root of the sum of
 * its squared gradients. p: users, items, ratings, W, H, their sums; c: mu, rate, reg. */
double mf_adagrad(const int64_t *block, void *const *p, const double *c) {
  const int32_t *i = p[0], *j = p[1];
  const ELEMENT *r = p[2];
  ELEMENT *RESTRICT sums_w = p[5], *RESTRICT sums_h = p[6];
  number mu = (number)c[0], rate = (number)c[1], reg = (number)c[2];
  double sse = 0; /* of many terms */
  for (int64_t e = block[0] - 1; e < block[1]; e++) {
    ELEMENT *RESTRICT w = (ELEMENT *)p[3] + (int64_t)(i[e] - 1) * RANK;
    ELEMENT *RESTRICT h = (ELEMENT *)p[4] + (int64_t)(j[e] - 1) * RANK;
    number d = r[e] - mu - dot(w, h);
    sse += d * d;
#ifdef FAST
    number step_w = rate / (number)sqrtf((float)sums_w[i[e] - 1]);
    number step_h = rate / (number)sqrtf((float)sums_h[j[e] - 1]);
#else
    number step_w = rate / sqrt(sums_w[i[e] - 1]), step_h = rate / sqrt(sums_h[j[e] - 1]);
#endif
    number sum_w = 0, sum_h = 0;
    SHORT_LOOP
    for (int k = 0; k < RANK; k++) {
      number wk = w[k], hk = h[k];
      number gw = reg * wk - d * hk, gh = reg * hk - d * wk;
      sum_w += gw * gw;
      sum_h += gh * gh;
      w[k] = (ELEMENT)(wk - step_w * gw);
      h[k] = (ELEMENT)(hk - step_h * gh);
    }
    sums_w[i[e] - 1] = (ELEMENT)(sums_w[i[e] - 1] + sum_w / RANK);
    sums_h[j[e] - 1] = (ELEMENT)(sums_h[j[e] - 1] + sum_h / RANK);
  }
  return sse;
}

/* CP factorization by SGD. p: i, j, k, values, A, B, C; c: lr, reg. */
double cp(const int64_t *block, void *const *p, const double *c) {
  const int32_t *i = p[0], *j = p[1], *k = p[2];
  const ELEMENT *v = p[3];
  number lr = (number)c[0], reg = (number)c[1];
  double sse = 0;
  for (int64_t n = block[0] - 1; n < block[1]; n++) {
    ELEMENT *RESTRICT a = (ELEMENT *)p[4] + (int64_t)(i[n] - 1) * RANK;
    ELEMENT *RESTRICT b = (ELEMENT *)p[5] + (int64_t)(j[n] - 1) * RANK;
    ELEMENT *RESTRICT d = (ELEMENT *)p[6] + (int64_t)(k[n] - 1) * RANK;
    number e = v[n];
    SHORT_LOOP
    for (int r = 0; r < RANK; r++) e -= (number)a[r] * b[r] * d[r];
    sse += e * e;
    SHORT_LOOP
    for (int r = 0; r < RANK; r++) {
      number ar = a[r], br = b[r], dr = d[r];
      a[r] = (ELEMENT)(ar + lr * (e * br * dr - reg * ar));
      b[r] = (ELEMENT)(br + lr * (e * ar * dr - reg * br));
      d[r] = (ELEMENT)(dr + lr * (e * ar * br - reg * dr));
    }
  }
  return sse;
}

/* Jacobi's method on a grid of RANK x RANK points. p: old, new, right side; c: h. */
double stencil(const int64_t *block, void *const *p, const double *c) {
  const ELEMENT *RESTRICT u = p[0], *RESTRICT f = p[2];
  ELEMENT *RESTRICT v = p[1];
  number h = (number)c[0];
  double change = 0;
  for (int64_t i = block[0] - 1; i < block[1]; i++) {
    const ELEMENT *RESTRICT row = u + i * RANK, *RESTRICT right = f + i * RANK;
    ELEMENT *RESTRICT out = v + i * RANK;
    for (int64_t j = block[2] - 1; j < block[3]; j++) {
      number x = (number)0.25 * ((number)row[j - RANK] + row[j + RANK] + row[j - 1] + row[j + 1] +
                                 h * h * right[j]);
      change += (x - row[j]) * (x - row[j]);
      out[j] = (ELEMENT)x;
    }
  }
  return change;
}

/* The edges' pass of PageRank. p: from, to, values (not used), ranks, number
 * of links, new ranks; c: damping. */
double pagerank(const int64_t *block, void *const *p, const double *c) {
  const int32_t *i = p[0], *j = p[1];
  const ELEMENT *RESTRICT rank = p[3], *RESTRICT links = p[4];
  ELEMENT *RESTRICT fresh = p[5];
  number d = (number)c[0];
  for (int64_t e = block[0] - 1; e < block[1]; e++) {
    number share = d * rank[i[e] - 1] / links[i[e] - 1];
    fresh[j[e] - 1] = (ELEMENT)(fresh[j[e] - 1] + share);
  }
  return 0;
}

/* One step of LU factorization of a RANK x RANK matrix. p: the matrix; c: k. */
double lu(const int64_t *block, void *const *p, const double *c) {
  ELEMENT *a = p[0];
  int64_t k = (int64_t)c[0] - 1;
  const ELEMENT *RESTRICT pivot = a + k * RANK;
  for (int64_t i = block[0] - 1; i < block[1]; i++) {
    ELEMENT *RESTRICT row = a + i * RANK;
    number factor = (number)row[k] / pivot[k];
    row[k] = (ELEMENT)factor;
    for (int64_t j = k + 1; j < RANK; j++) row[j] = (ELEMENT)(row[j] - factor * pivot[j]);
  }
  return 0;
}

/* The assignment step of k-means. p: points, centres, labels; c: number of centres. */
double kmeans(const int64_t *block, void *const *p, const double *c) {
  const ELEMENT *points = p[0], *centres = p[1];
  int32_t *RESTRICT label = p[2];
  int64_t count = (int64_t)c[0];
  double cost = 0;
  for (int64_t i = block[0] - 1; i < block[1]; i++) {
    const ELEMENT *RESTRICT x = points + i * RANK;
    number best = INFINITY;
    int64_t at = 0;
    for (int64_t m = 0; m < count; m++) {
      const ELEMENT *RESTRICT y = centres + m * RANK;
      number sum = 0;
      SHORT_LOOP
      for (int k = 0; k < RANK; k++) {
        number t = (number)x[k] - y[k];
        sum += t * t;
      }
      if (sum < best) {
        best = sum;
        at = m + 1;
      }
    }
    label[i] = (int32_t)at;
    cost += best;
  }
  return cost;
}

/* The residuals of logistic regression over sparse rows. p: where each row begins among the
 * entries, columns (from 1), values, weights, targets (0 or 1), residuals; c: the bias. */
double logistic(const int64_t *block, void *const *p, const double *c) {
  const int64_t *start = p[0];
  const int32_t *RESTRICT column = p[1];
  const ELEMENT *RESTRICT value = p[2], *RESTRICT w = p[3], *RESTRICT y = p[4];
  ELEMENT *RESTRICT residual = p[5];
  number bias = (number)c[0];
  double squares = 0;
  for (int64_t i = block[0] - 1; i < block[1]; i++) {
    number z = bias;
    for (int64_t e = start[i]; e < start[i + 1]; e++) z += (number)w[column[e] - 1] * value[e];
    number r = y[i] - (number)(1 / (1 + exp(-(double)z)));
    residual[i] = (ELEMENT)r;
    squares += r * r;
  }
  return squares;
}
