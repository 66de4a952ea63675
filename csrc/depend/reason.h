/* SPDX-License-Identifier: MIT
 *
 * Reasons: the catalogue of all that the analyser can say, and the findings of the body walk.
 *
 * Codes are stable and documented; 1xx refuse, 2xx are notices on loops that run. */
#ifndef MS_DEPEND_REASON_H
#define MS_DEPEND_REASON_H

#include "depend/verdict.h"

/* name, code, title; findings that make a verdict "serial" rather than "unknown" are proven ones
 * and say so themselves. */
#define MS_REASON_TABLE(X)                                               \
  X(CARRIED, "DEP101", "carried dependence")                             \
  X(POSSIBLE, "DEP102", "possible dependence")                           \
  X(OVERLAP, "DEP103", "overlapping views")                              \
  X(SCALAR, "DEP104", "carried variable")                                \
  X(SOMETIMES, "DEP105", "variable assigned on some paths only")         \
  X(REBOUND, "DEP106", "captured array or function assigned")            \
  X(TABLE_WRITE, "DEP107", "write into a plain table")                   \
  X(LEAVES, "DEP108", "leaves the loop")                                 \
  X(VARARG, "DEP109", "varargs in the body")                             \
  X(YIELDS, "DEP110", "yields in the body")                              \
  X(RANDOM, "DEP111", "random numbers that depend on the order")         \
  X(CHANGES, "DEP112", "function that changes captured variables")       \
  X(READ_AFTER, "DEP113", "value of an unordered loop's last iteration") \
  X(COMPLEX, "DEP114", "too complex to analyse")                         \
  X(NOT_RUN, "DEP115", "strategy not run by this version")               \
  X(IMPURE, "DEP116", "files or foreign code in the body")               \
  X(BUFFERED, "DEP117", "array written beside its buffer or replicas")   \
  X(OVERWRITTEN, "DEP118", "buffer overwritten")                         \
  X(GLOBALS, "DEP119", "globals used as a table")                        \
  X(OBJECTS, "DEP120", "write into an array of objects")                 \
  X(METHOD, "DEP121", "method of plain values")                          \
  X(ROUND, "DEP122", "read after it was written")                        \
  X(PARTS, "DEP123", "write beside the range")                           \
  X(ADD_LOCAL, "DEP201", "global variable assigned")                     \
  X(ORDER_COSTS, "DEP202", "cheaper in any order")                       \
  X(ASSUMED, "DEP203", "independence assumed")

typedef enum ms_reason_kind {
#define MS_REASON_NAME(name, code, title) MS_REASON_##name,
  MS_REASON_TABLE(MS_REASON_NAME)
#undef MS_REASON_NAME
} ms_reason_kind;

/* The stable code and the title of a kind. Static storage. */
const char *ms_reason_code(ms_reason_kind kind);
const char *ms_reason_title(ms_reason_kind kind);

/* Something that the walk found besides accesses. */
typedef struct ms_finding {
  ms_reason_kind kind;
  bool proven;         /* happens whenever the loop runs */
  const ms_node *node; /* where */
  const char *message; /* one sentence */
  const char *fix;     /* or NULL */
} ms_finding;

/* Whether a loop with it is refused. */
static inline bool ms_finding_refuses(const ms_finding *finding) {
  return ms_reason_code(finding->kind)[3] == '1';
}

#endif
