/* SPDX-License-Identifier: MIT
 *
 * History of jobs: see job_history.h. */
#include "driver/job_history.h"

#include "base/history.h"
#include "sync/gate_history.h"

void ms_job_history_begin(const ms_session *session, const ms_job *job) {
  if (!ms_history_wanted) return;
  const ms_schedule *schedule = session->schedule;
  if (job->rounds.setting.name == NULL) {
    ms_history("loop job=%llu blocks=%u ordered=0", (unsigned long long)session->jobs,
               schedule->count);
    return;
  }
  ms_gate_history_begin(&(ms_gate_told){.job = session->jobs,
                                        .setting = &job->rounds.setting,
                                        .rounds = schedule->count / schedule->phase_blocks,
                                        .ranges = schedule->phase_blocks,
                                        .read_first = job->rounds.read_first,
                                        .reads = job->rounds.reads});
}

void ms_job_history_end(const ms_session *session, bool failed) {
  ms_history("%s job=%llu", failed ? "fail" : "end", (unsigned long long)session->jobs);
}
