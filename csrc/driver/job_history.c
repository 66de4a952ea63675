/* SPDX-License-Identifier: MIT
 *
 * History of jobs: see job_history.h. */
#include "driver/job_history.h"

#include <string.h>

#include "base/history.h"

static const char *const scopes[] = {[MS_GATE_NOBODY] = "nobody",
                                     [MS_GATE_RANGE] = "range",
                                     [MS_GATE_EDGE] = "edge",
                                     [MS_GATE_GLOBAL] = "global"};

static void add_number(ms_text *line, const char *name, int64_t value) {
  if (value == MS_GATE_UNBOUNDED) {
    ms_text_format(line, " %s=inf", name);
  } else {
    ms_text_format(line, " %s=%lld", name, (long long)value);
  }
}

/* Where nothing bounds how far writers go round the versions, readers look again at what they have
 * copied (worker/rounds.c): that is not for a history to judge. */
static void tell_rounds(const ms_session *session, const ms_gate_setting *setting) {
  ms_text line = {0};
  const ms_schedule *schedule = session->schedule;
  bool bounded = setting->write_lag != MS_GATE_UNBOUNDED;
  int64_t kept = setting->depth - 1 - setting->write_lag;
  bool injected = bounded && setting->read_lag == 0 && kept > 0; /* lags that the user chooses */
  ms_text_format(&line, "rounds job=%llu sync=%s", (unsigned long long)session->jobs,
                 setting->name);
  bool excuses = setting->backup > 0 || setting->timeout > 0; /* then anything may be seen */
  add_number(&line, "read_lag", excuses ? MS_GATE_UNBOUNDED : injected ? kept : setting->read_lag);
  add_number(&line, "write_lag", setting->write_lag);
  add_number(&line, "read_ahead", setting->read_ahead);
  add_number(&line, "depth", bounded ? setting->depth : 0);
  ms_text_format(&line, " scope=%s rounds=%u clocks=%d delivered=%d injected=%d",
                 scopes[setting->scope], schedule->count / schedule->phase_blocks, setting->clocks,
                 setting->delivered, injected);
  ms_history_text(&line);
}

/* What range r of a job of rounds may read. */
static void tell_block(const ms_session *session, const ms_task_rounds *rounds, uint32_t r) {
  ms_text line = {0};
  ms_text_format(&line, "block job=%llu block=%u reads=", (unsigned long long)session->jobs, r);
  if (rounds->reads == NULL) {
    ms_text_format(&line, "0-%u", session->schedule->phase_blocks - 1);
  } else if (rounds->read_first[r] == rounds->read_first[r + 1]) {
    ms_text_add(&line, "-");
  }
  uint64_t end = rounds->reads == NULL ? 0 : rounds->read_first[r + 1];
  for (uint64_t k = rounds->reads == NULL ? 0 : rounds->read_first[r]; k < end; k++) {
    ms_text_format(&line, k + 1 < end ? "%u," : "%u", rounds->reads[k]);
  }
  ms_text_format(&line, " writes=%u", r);
  ms_history_text(&line);
}

void ms_job_history_begin(const ms_session *session, const ms_job *job) {
  if (!ms_history_wanted) return;
  const ms_schedule *schedule = session->schedule;
  if (job->rounds.setting.name == NULL) {
    ms_history("loop job=%llu blocks=%u ordered=0", (unsigned long long)session->jobs,
               schedule->count);
    return;
  }
  tell_rounds(session, &job->rounds.setting);
  for (uint32_t r = 0; r < schedule->phase_blocks; r++) tell_block(session, &job->rounds, r);
}

void ms_job_history_end(const ms_session *session, bool failed) {
  ms_history("%s job=%llu", failed ? "fail" : "end", (unsigned long long)session->jobs);
}
