/* SPDX-License-Identifier: MIT
 *
 * Merging replicas: see replica.h. */
#include "sync/replica.h"

#include <math.h>
#include <string.h>

/* Elements that are summed at a time, sender after sender: each element's sum goes by sender, and
 * the elements go together. */
#define PIECE 512

/* The sums of `size` elements from `first` on. */
static void add_up(double *sum, const double *const *values, uint32_t number, int64_t first,
                   size_t size) {
  memcpy(sum, values[0] + first, size * sizeof *sum);
  for (uint32_t s = 1; s < number; s++) {
    const double *value = values[s] + first;
    for (size_t i = 0; i < size; i++) sum[i] += value[i];
  }
}

static size_t piece_of(int64_t first, int64_t count) {
  return count - first < PIECE ? (size_t)(count - first) : PIECE;
}

/* A power of two has an exact reciprocal: the product is the quotient, and takes a fifth of its
 * time. */
static void divide(double *out, const double *sum, uint32_t number, size_t size) {
  double factor = 1.0 / number;
  if ((number & (number - 1)) == 0) {
    for (size_t i = 0; i < size; i++) out[i] = sum[i] * factor;
  } else {
    for (size_t i = 0; i < size; i++) out[i] = sum[i] / number;
  }
}

void ms_replica_mean(double *out, const double *const *values, uint32_t number, int64_t count) {
  double sum[PIECE];
  for (int64_t first = 0; first < count; first += PIECE) {
    size_t size = piece_of(first, count);
    add_up(sum, values, number, first, size);
    divide(out + first, sum, number, size);
  }
}

void ms_replica_mix(double *out, const double *const *values, const double *weight, uint32_t number,
                    int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    double sum = weight[0] * values[0][i];
    for (uint32_t s = 1; s < number; s++) sum += weight[s] * values[s][i];
    out[i] = sum;
  }
}

void ms_replica_add(double *out, const double *start, double gamma, const double *const *deltas,
                    uint32_t number, int64_t count) {
  double sum[PIECE];
  for (int64_t first = 0; first < count; first += PIECE) {
    size_t size = piece_of(first, count);
    add_up(sum, deltas, number, first, size);
    for (size_t i = 0; i < size; i++) {
      int64_t at = first + (int64_t)i;
      out[at] = start[at] + gamma * sum[i];
    }
  }
}

static void weigh_printed(double *value, double lambda, const double *const *received,
                          const double *distance, uint32_t senders, int64_t count) {
  for (uint32_t s = 0; s < senders; s++) {
    for (int64_t i = 0; i < count; i++) {
      value[i] = (distance[s] * lambda * received[s][i] + value[i]) / 2;
    }
  }
}

void ms_replica_weighted(double *value, int form, double lambda, const double *const *received,
                         const double *distance, uint32_t senders, int64_t count) {
  if (form == MS_WEIGHTED_PRINTED) {
    weigh_printed(value, lambda, received, distance, senders, count);
    return;
  }
  double shift = form == MS_WEIGHTED_SHIFTED ? 1 : 0, total = 1;
  for (uint32_t s = 0; s < senders; s++) {
    double d = distance[s] + shift;
    if (d > 0) total += lambda * d;
  }
  for (int64_t i = 0; i < count; i++) {
    double sum = value[i];
    for (uint32_t s = 0; s < senders; s++) {
      double d = distance[s] + shift;
      if (d > 0) sum += lambda * d * received[s][i];
    }
    value[i] = sum / total;
  }
}

void ms_replica_keep(double *value, const double *own, const double *told, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (own[i] != told[i]) value[i] += own[i] - told[i];
  }
}

double ms_replica_change(double *delta, const double *after, const double *before, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) {
    delta[i] = after[i] - before[i];
    sum += delta[i] * delta[i];
  }
  return sqrt(sum);
}

void ms_replica_accumulate(double *sum, double factor, const double *after, const double *before,
                           int64_t count) {
  if (before == NULL) {
    for (int64_t i = 0; i < count; i++) sum[i] += factor * after[i];
  } else {
    for (int64_t i = 0; i < count; i++) sum[i] += factor * (after[i] - before[i]);
  }
}

void ms_replica_divide(double *out, const double *values, double divisor, int64_t count) {
  for (int64_t i = 0; i < count; i++) out[i] = values[i] / divisor;
}

bool ms_replica_alike(const double *const *values, uint32_t number, int64_t count) {
  for (uint32_t s = 1; s < number; s++) {
    if (memcmp(values[0], values[s], (size_t)count * sizeof **values) != 0) return false;
  }
  return true;
}
