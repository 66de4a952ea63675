/* SPDX-License-Identifier: MIT
 *
 * History of gates: see gate_history.h. */
#include "sync/gate_history.h"

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
 * copied (worker/rounds.c, sync/post_ring.lua): that is not for a history to judge. */
static void tell_rounds(const ms_gate_told *told) {
  ms_text line = {0};
  const ms_gate_setting *setting = told->setting;
  bool bounded = setting->write_lag != MS_GATE_UNBOUNDED;
  int64_t kept = setting->depth - 1 - setting->write_lag;
  bool injected = bounded && setting->read_lag == 0 && kept > 0; /* lags that the user chooses */
  ms_text_format(&line, "rounds job=%llu sync=%s", (unsigned long long)told->job, setting->name);
  bool excuses = setting->backup > 0 || setting->timeout > 0; /* then anything may be seen */
  add_number(&line, "read_lag", excuses ? MS_GATE_UNBOUNDED : injected ? kept : setting->read_lag);
  add_number(&line, "write_lag", setting->write_lag);
  add_number(&line, "read_ahead", setting->read_ahead);
  add_number(&line, "depth", bounded ? setting->depth : 0);
  ms_text_format(&line, " scope=%s", scopes[setting->scope]);
  add_number(&line, "rounds", told->rounds);
  ms_text_format(&line, " clocks=%d delivered=%d injected=%d", setting->clocks, setting->delivered,
                 injected);
  if (told->exchange != NULL) ms_text_format(&line, " exchange=%s", told->exchange);
  ms_history_text(&line);
}

/* What range r may read. */
static void tell_block(const ms_gate_told *told, uint32_t r) {
  ms_text line = {0};
  const uint64_t *first = told->read_first;
  ms_text_format(&line, "block job=%llu block=%u reads=", (unsigned long long)told->job, r);
  if (told->reads == NULL) {
    ms_text_format(&line, "0-%u", told->ranges - 1);
  } else if (first[r] == first[r + 1]) {
    ms_text_add(&line, "-");
  }
  uint64_t end = told->reads == NULL ? 0 : first[r + 1];
  for (uint64_t k = told->reads == NULL ? 0 : first[r]; k < end; k++) {
    ms_text_format(&line, k + 1 < end ? "%u," : "%u", told->reads[k]);
  }
  ms_text_format(&line, " writes=%u", r);
  ms_history_text(&line);
}

void ms_gate_history_begin(const ms_gate_told *told) {
  if (!ms_history_wanted) return;
  tell_rounds(told);
  for (uint32_t r = 0; r < told->ranges; r++) tell_block(told, r);
}
