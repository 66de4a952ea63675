/* SPDX-License-Identifier: MIT
 *
 * The programs of bench/users.lua as somebody would write them by hand in C, for one core: compiled
 * with the native engine's flags of each mode (support/hand.lua). `c` has the program's numbers,
 * `p` its arrays, in the order of support/programs_*.lua; of a sparse array, which is a matrix by
 * rows: where rows start, columns (from 0), values, and rows of the entries. Row-major, doubles but
 * where a type is named. Each returns what the Lua text returns. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define ARRAY(name, k) double *restrict name = p[k]
#define SPARSE(name, k)                               \
  const int64_t *restrict name##_start = p[k];        \
  const int32_t *restrict name##_column = p[(k) + 1]; \
  const double *restrict name##_value = p[(k) + 2];   \
  const int32_t *restrict name##_row = p[(k) + 3];    \
  (void)name##_start, (void)name##_column, (void)name##_value, (void)name##_row
#define EACH_NONZERO(name, i, e) for (int64_t e = name##_start[i]; e < name##_start[(i) + 1]; e++)

double matvec(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0];
  ARRAY(A, 0);
  ARRAY(x, 1);
  ARRAY(y, 2);
  for (int64_t i = 0; i < n; i++) {
    double sum = 0;
    for (int64_t j = 0; j < n; j++) sum += A[i * n + j] * x[j];
    y[i] = sum;
  }
  return y[0] + y[n - 1];
}

double matmul(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0];
  ARRAY(A, 0);
  ARRAY(B, 1);
  ARRAY(C, 2);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t k = 0; k < n; k++) sum += A[i * n + k] * B[k * n + j];
      C[i * n + j] = sum;
    }
  }
  return C[0] + C[n * n - 1];
}

double knn(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], m = (int64_t)c[1], d = (int64_t)c[2];
  ARRAY(Q, 0);
  ARRAY(X, 1);
  ARRAY(y, 2);
  ARRAY(label, 3);
  double total = 0;
  for (int64_t i = 0; i < n; i++) {
    double best = INFINITY;
    int64_t at = 0;
    for (int64_t j = 0; j < m; j++) {
      double sum = 0;
      for (int64_t k = 0; k < d; k++) {
        double off = Q[i * d + k] - X[j * d + k];
        sum += off * off;
      }
      if (sum < best) {
        best = sum;
        at = j;
      }
    }
    label[i] = y[at];
  }
  for (int64_t i = 0; i < n; i++) total += label[i];
  return total;
}

double logistic(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], d = (int64_t)c[1];
  ARRAY(X, 0);
  ARRAY(y, 1);
  ARRAY(w, 2);
  ARRAY(g, 3);
  for (int pass = 0; pass < 5; pass++) {
    memset(g, 0, (size_t)d * sizeof *g);
    for (int64_t i = 0; i < n; i++) {
      double z = 0;
      for (int64_t j = 0; j < d; j++) z += w[j] * X[i * d + j];
      double off = 1 / (1 + exp(-z)) - y[i];
      for (int64_t j = 0; j < d; j++) g[j] += off * X[i * d + j];
    }
    for (int64_t j = 0; j < d; j++) w[j] -= 0.1 / (double)n * g[j];
  }
  return w[0] + w[d - 1];
}

static void heat_step(int64_t n, const double *restrict U, double *restrict V) {
  for (int64_t i = 1; i < n - 1; i++) {
    for (int64_t j = 1; j < n - 1; j++) {
      const double *u = U + i * n + j;
      V[i * n + j] = u[0] + 0.2 * (u[-n] + u[n] + u[-1] + u[1] - 4 * u[0]);
    }
  }
}

double heat(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0];
  double *U = p[0], *V = p[1];
  for (int step = 0; step < 10; step++) {
    heat_step(n, U, V);
    heat_step(n, V, U);
  }
  return U[n + 1] + U[(n - 2) * n + n - 2];
}

static void life_step(int64_t n, const int32_t *restrict from, int32_t *restrict to) {
  for (int64_t i = 1; i < n - 1; i++) {
    for (int64_t j = 1; j < n - 1; j++) {
      const int32_t *a = from + i * n + j;
      int near = a[-n - 1] + a[-n] + a[-n + 1] + a[-1] + a[1] + a[n - 1] + a[n] + a[n + 1];
      to[i * n + j] = near == 3 || (near == 2 && a[0] == 1);
    }
  }
}

double life(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], alive = 0;
  int32_t *A = p[0], *B = p[1];
  for (int step = 0; step < 10; step++) {
    life_step(n, A, B);
    life_step(n, B, A);
  }
  for (int64_t i = 1; i < n - 1; i++) alive += A[i * n + i];
  return (double)alive;
}

double floyd_warshall(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0];
  double *D = p[0];
  for (int64_t k = 0; k < n; k++) {
    const double *restrict other = D + k * n;
    for (int64_t i = 0; i < n; i++) {
      if (i == k) continue;
      double *restrict row = D + i * n, first = row[k];
      for (int64_t j = 0; j < n; j++) {
        double through = first + other[j];
        row[j] = through < row[j] ? through : row[j];
      }
    }
  }
  return D[n - 1] + D[(n - 1) * n];
}

/* xorshift64*: what one would take by hand. */
static double draw(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (double)(*state * 0x2545F4914F6CDD1Du >> 11) * 0x1p-53;
}

double monte_carlo(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], inside = 0;
  uint64_t state = 88172645463325252u;
  (void)p;
  for (int64_t i = 0; i < n; i++) {
    double x = draw(&state), y = draw(&state);
    inside += x * x + y * y < 1;
  }
  return 4 * (double)inside / (double)n;
}

double histogram(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0];
  ARRAY(x, 0);
  ARRAY(bins, 1);
  for (int64_t i = 0; i < n; i++) bins[(int64_t)(64 * x[i])] += 1;
  return bins[0] + bins[63];
}

double gaussian_mixture(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], d = (int64_t)c[1], K = (int64_t)c[2];
  ARRAY(X, 0);
  ARRAY(mean, 1);
  ARRAY(weight, 2);
  ARRAY(sums, 3);
  double q[64];
  for (int pass = 0; pass < 3; pass++) {
    memset(weight, 0, (size_t)K * sizeof *weight);
    memset(sums, 0, (size_t)(K * d) * sizeof *sums);
    for (int64_t i = 0; i < n; i++) {
      double total = 0;
      for (int64_t k = 0; k < K; k++) {
        double off = 0;
        for (int64_t j = 0; j < d; j++) {
          double t = X[i * d + j] - mean[k * d + j];
          off += t * t;
        }
        q[k] = exp(-off / 0.2);
        total += q[k];
      }
      for (int64_t k = 0; k < K; k++) {
        double share = q[k] / total;
        weight[k] += share;
        for (int64_t j = 0; j < d; j++) sums[k * d + j] += share * X[i * d + j];
      }
    }
    for (int64_t k = 0; k < K; k++) {
      for (int64_t j = 0; j < d; j++) mean[k * d + j] = sums[k * d + j] / weight[k];
    }
  }
  return mean[0] + mean[K * d - 1];
}

double mlp(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], d = (int64_t)c[1], h = (int64_t)c[2];
  ARRAY(X, 0);
  ARRAY(y, 1);
  ARRAY(W1, 2);
  ARRAY(W2, 3);
  ARRAY(G1, 4);
  ARRAY(G2, 5);
  double a[64];
  for (int64_t i = 0; i < n; i++) {
    double out = 0;
    for (int64_t k = 0; k < h; k++) {
      double z = 0;
      for (int64_t j = 0; j < d; j++) z += W1[k * d + j] * X[i * d + j];
      a[k] = tanh(z);
      out += W2[k] * a[k];
    }
    double off = out - y[i];
    for (int64_t k = 0; k < h; k++) {
      G2[k] += off * a[k];
      double back = off * W2[k] * (1 - a[k] * a[k]);
      for (int64_t j = 0; j < d; j++) G1[k * d + j] += back * X[i * d + j];
    }
  }
  return G1[0] + G1[h * d - 1] + G2[0];
}

double lcs(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], w = n + 1;
  ARRAY(a, 0);
  ARRAY(b, 1);
  ARRAY(L, 2);
  for (int64_t i = 1; i <= n; i++) {
    for (int64_t j = 1; j <= n; j++) {
      double up = L[(i - 1) * w + j], left = L[i * w + j - 1];
      L[i * w + j] = a[i - 1] == b[j - 1] ? L[(i - 1) * w + j - 1] + 1 : (up > left ? up : left);
    }
  }
  return L[n * w + n];
}

double smith_waterman(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], w = n + 1;
  ARRAY(a, 0);
  ARRAY(b, 1);
  ARRAY(H, 2);
  double best = 0;
  for (int64_t i = 1; i <= n; i++) {
    for (int64_t j = 1; j <= n; j++) {
      double h = H[(i - 1) * w + j - 1] + (a[i - 1] == b[j - 1] ? 2 : -1);
      double up = H[(i - 1) * w + j] - 1, left = H[i * w + j - 1] - 1;
      h = h > 0 ? h : 0;
      h = h > up ? h : up;
      h = h > left ? h : left;
      H[i * w + j] = h;
      best = best > h ? best : h;
    }
  }
  return best + H[n * w + n];
}

double pegasos(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], d = (int64_t)c[1];
  SPARSE(X, 0);
  ARRAY(y, 4);
  ARRAY(w, 5);
  for (int pass = 1; pass <= 3; pass++) {
    double rate = 0.01 / pass;
    for (int64_t i = 0; i < n; i++) {
      double m = 0;
      EACH_NONZERO(X, i, e) m += w[X_column[e]] * X_value[e];
      if (!(y[i] * m < 1)) continue;
      EACH_NONZERO(X, i, e) w[X_column[e]] += rate * y[i] * X_value[e];
    }
    for (int64_t j = 0; j < d; j++) w[j] *= 1 - 0.1 * rate;
  }
  return w[0] + w[d - 1];
}

double mf(const double *c, void *const *p) {
  int64_t K = (int64_t)c[0], users = (int64_t)c[1];
  SPARSE(R, 0);
  ARRAY(W, 4);
  ARRAY(H, 5);
  double sse = 0;
  for (int64_t u = 0; u < users; u++) {
    EACH_NONZERO(R, u, e) {
      double *restrict w = W + u * K, *restrict h = H + R_column[e] * K, sum = 0;
      for (int64_t k = 0; k < K; k++) sum += w[k] * h[k];
      double off = R_value[e] - sum;
      sse += off * off;
      for (int64_t k = 0; k < K; k++) {
        double old = w[k];
        w[k] = old + 0.01 * (off * h[k] - 0.05 * old);
        h[k] = h[k] + 0.01 * (off * old - 0.05 * h[k]);
      }
    }
  }
  return sse + W[0];
}

double naive_bayes(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], d = 2000;
  SPARSE(X, 0);
  ARRAY(y, 4);
  ARRAY(count, 5);
  ARRAY(prior, 6);
  for (int64_t i = 0; i < n; i++) {
    int64_t k = (int64_t)y[i] - 1;
    prior[k] += 1;
    EACH_NONZERO(X, i, e) count[k * d + X_column[e]] += X_value[e];
  }
  return prior[0] + count[0] + count[4 * d - 1];
}

double pagerank(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0];
  SPARSE(into, 0);
  ARRAY(links, 4);
  ARRAY(rank, 5);
  ARRAY(other, 6);
  for (int pass = 0; pass < 10; pass++) {
    for (int64_t i = 0; i < n; i++) {
      double sum = 0;
      EACH_NONZERO(into, i, e)
      sum += into_value[e] * rank[into_column[e]] / links[into_column[e]];
      other[i] = 0.15 / (double)n + 0.85 * sum;
    }
    memcpy(rank, other, (size_t)n * sizeof *rank);
  }
  return rank[0] + rank[n - 1];
}

double bfs(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0], found = 1;
  SPARSE(into, 0);
  ARRAY(level, 4);
  ARRAY(next, 5);
  double depth = 0;
  for (; found > 0; depth++) {
    found = 0;
    for (int64_t i = 0; i < n; i++) {
      double reached = level[i];
      if (reached < 0) {
        EACH_NONZERO(into, i, e) {
          if (level[into_column[e]] == depth) reached = depth + 1;
        }
        found += reached > 0;
      }
      next[i] = reached;
    }
    memcpy(level, next, (size_t)n * sizeof *level);
  }
  return depth + level[n - 1];
}

double cg(const double *c, void *const *p) {
  int64_t n = (int64_t)c[0];
  SPARSE(A, 0);
  ARRAY(x, 4);
  ARRAY(r, 5);
  ARRAY(s, 6);
  ARRAY(q, 7);
  double rr = 0;
  for (int64_t i = 0; i < n; i++) rr += r[i] * r[i];
  for (int pass = 0; pass < 20; pass++) {
    double pq = 0, new = 0;
    for (int64_t i = 0; i < n; i++) {
      double sum = 0;
      EACH_NONZERO(A, i, e) sum += A_value[e] * s[A_column[e]];
      q[i] = sum;
      pq += s[i] * sum;
    }
    double alpha = rr / pq;
    for (int64_t i = 0; i < n; i++) {
      x[i] += alpha * s[i];
      r[i] -= alpha * q[i];
      new += r[i] * r[i];
    }
    double beta = new / rr;
    rr = new;
    for (int64_t i = 0; i < n; i++) s[i] = r[i] + beta * s[i];
  }
  return x[0] + x[n - 1] + rr;
}
