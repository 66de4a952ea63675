/* SPDX-License-Identifier: MIT
 *
 * Solver: questions about a system of integer constraints, answered by isl where they are more than
 * differences (difference.h).
 *
 * isl runs with errors returned and fixed quotas for the life of the solver, of its operations and
 * of the sizes of the systems asked about (never a clock: verdicts must not depend on the machine).
 * Once one is spent every question answers -1, "not known". One solver serves one plan; one thread.
 */
#ifndef MS_DEPEND_SOLVER_H
#define MS_DEPEND_SOLVER_H

#include "depend/system.h"

typedef struct ms_solver ms_solver;

/* A solver, or NULL when memory is out. `operations` is the quota; 0 takes the default. */
ms_solver *ms_solver_new(unsigned long operations);

/* Frees a solver and nulls the caller's pointer. */
void ms_solver_destroy(ms_solver **solver);

/* Finds a point: 1 and its values by column; 0 if there is none; -1 if not known. */
int ms_solver_sample(ms_solver *solver, const ms_system *system, int64_t *values);

/* Finds a point as above, always by isl. */
int ms_solver_ask(ms_solver *solver, const ms_system *system, int64_t *values);

/* The same for the point with the earliest iteration t, then the least d. */
int ms_solver_earliest(ms_solver *solver, const ms_system *system, int64_t *values);

/* Room for two systems, for whoever asks next; NULL when memory is out. */
ms_system *ms_solver_room(ms_solver *solver);

/* Memory for what is kept as long as the solver. */
ms_arena *ms_solver_arena(ms_solver *solver);

/* Keeps and finds a result by a key of whole words, `size` in bytes (see relation.c). */
void *ms_solver_recall(ms_solver *solver, const int64_t *key, size_t size);
void ms_solver_keep(ms_solver *solver, const int64_t *key, size_t size, void *result);

#endif
