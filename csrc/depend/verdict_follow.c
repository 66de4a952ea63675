/* SPDX-License-Identifier: MIT
 *
 * A verdict that follows another one's choice: see verdict.h. */
#include <string.h>

#include "depend/verdict.h"

bool ms_verdict_follow(ms_verdict *verdict, const ms_verdict *main) {
  if (verdict->dim_count != main->dim_count) return false;
  verdict->strategy = main->strategy;
  verdict->strategy_dims = main->strategy_dims;
  verdict->sequential = main->sequential;
  verdict->has_row = main->has_row;
  memcpy(verdict->strategy_dim, main->strategy_dim, sizeof verdict->strategy_dim);
  memcpy(verdict->row, main->row, sizeof verdict->row);
  memcpy(verdict->extent, main->extent, sizeof verdict->extent);
  return true;
}
