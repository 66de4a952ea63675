/* SPDX-License-Identifier: MIT
 *
 * Merging replicas: see replica_merge.h. */
#include "sync/replica_merge.h"

#include <math.h>

void ms_replica_mean(double *out, const double *const *values, uint32_t number, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    double sum = values[0][i];
    for (uint32_t s = 1; s < number; s++) sum += values[s][i];
    out[i] = sum / number;
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
  for (int64_t i = 0; i < count; i++) {
    double sum = deltas[0][i];
    for (uint32_t s = 1; s < number; s++) sum += deltas[s][i];
    out[i] = start[i] + gamma * sum;
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

double ms_replica_change(double *delta, const double *after, const double *before, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) {
    delta[i] = after[i] - before[i];
    sum += delta[i] * delta[i];
  }
  return sqrt(sum);
}
