/* SPDX-License-Identifier: MIT
 *
 * Relations: the distances at which two accesses meet, cell by cell.
 *
 * A cell is all distances with one vector of signs; a component is `fixed` when all of the cell's
 * distances share it. Cells partition the relation exactly: this is the ground that the canonical
 * patterns, the strategies and their legality stand on. */
#ifndef MS_DEPEND_RELATION_H
#define MS_DEPEND_RELATION_H

#include "depend/solver.h"

typedef struct ms_cell {
  int8_t sign[MS_MAX_DIMS];
  bool fixed[MS_MAX_DIMS];
  int64_t value[MS_MAX_DIMS]; /* of one member of the cell */
} ms_cell;

typedef struct ms_relation {
  ms_cell *cell;
  uint32_t count;
} ms_relation;

/* All cells of distances "iteration of b minus iteration of a" (of any sign, zero included) at
 * which a and b touch one element. -1: not known (quota or memory). The cells live in the solver's
 * arena. */
int ms_relation_solve(ms_solver *solver, const ms_domain *domain, const ms_access *a,
                      const ms_access *b, ms_relation *relation);

#endif
