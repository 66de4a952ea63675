/* SPDX-License-Identifier: MIT
 *
 * Outcome: the reports of a job's workers, put in the plan's order. */
#ifndef MS_DRIVER_OUTCOME_H
#define MS_DRIVER_OUTCOME_H

#include "driver/run.h"

/* Makes an outcome for the reports of the session's workers. MS_WRK: out of memory. */
int ms_outcome_begin(ms_session *session, ms_outcome *outcome, ms_error *err);

/* Puts results and printed text in order; of a failed job what arrived, whole or not, and no error.
 * MS_NET: a report is none. */
int ms_outcome_finish(ms_session *session, ms_outcome *outcome, ms_error *err);

/* Leaves the memory of the reports, which are not needed any more, to the session's next job. */
void ms_outcome_recycle(ms_session *session, ms_outcome *outcome);

#endif
