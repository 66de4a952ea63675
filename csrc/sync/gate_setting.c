/* SPDX-License-Identifier: MIT
 *
 * Gate settings: see gate_setting.h.
 *
 * A reader of round a pins a version from a-1-d to a-1, and the slot that version a is written to
 * held version a-depth. So the writer must wait for readers to have finished round a-(depth-1-d):
 * that is its write_lag, and why there must be at least d+1 versions. Where that lag is 0, every
 * block of round a reads before any writes what it read, which a worker with more than one block
 * can only do in two phases. A reader that pins an old version needs 2d+2 of them to be d rounds
 * behind without holding up the writer. */
#include "sync/gate_setting.h"

#include <string.h>

#define MOST ((int64_t)1 << 31) /* rounds, versions: sums of a few stay far from overflow */

/* What a row of the table makes of a staleness and a depth, both given and in bounds. */
typedef struct row {
  ms_gate_setting setting; /* what does not depend on the options */
  int64_t depth,
      depth_by_d; /* the default depth: the second times the staleness is added; 0: any */
  bool stale;     /* may be stale */
  bool deeper;    /* may have other depths */
} row;

#define EXACT_ROW .read_lag = 0, .write_lag = 0, .delivered = true
#define LOOSE_ROW .read_lag = MS_GATE_UNBOUNDED, .write_lag = MS_GATE_UNBOUNDED, .delivered = true

static const row ROWS[] = {
    {{.name = "data-centric", .scope = MS_GATE_RANGE, EXACT_ROW}, 2, 2, true, true},
    {{.name = "pd-delay", .scope = MS_GATE_RANGE, EXACT_ROW}, 1, 0, true, false},
    {{.name = "bsp", .scope = MS_GATE_GLOBAL, EXACT_ROW}, 1, 0, false, false},
    {{.name = "bsp-2barrier", .scope = MS_GATE_GLOBAL, .arrival = true, EXACT_ROW},
     1,
     0,
     false,
     false},
    {{.name = "ssp", .scope = MS_GATE_GLOBAL, .clocks = true, EXACT_ROW}, 2, 2, true, true},
    {{.name = "async", .scope = MS_GATE_NOBODY, LOOSE_ROW}, 0, 0, true, false},
    {{.name = "notify-ack", .scope = MS_GATE_EDGE, EXACT_ROW}, 2, 0, false, true},
    {{.name = "barrier", .scope = MS_GATE_GLOBAL, .clocks = true}, 1, 0, false, false},
};

#define ROW_COUNT (sizeof ROWS / sizeof *ROWS)

static const row *find_row(const char *name) {
  const row *found = NULL;
  for (size_t i = 0; i < ROW_COUNT; i++) {
    if (strcmp(ROWS[i].setting.name, name) == 0) found = &ROWS[i];
  }
  return found;
}

static bool is(const ms_gate_setting *of, const char *name) {
  return strcmp(of->name, name) == 0;
}

/* What "async" allows: a staleness without a bound, or none said, and its own number of versions.
 */
static int check_async(int64_t staleness, int64_t depth, ms_error *err) {
  if (staleness != MS_GATE_UNSAID && staleness != MS_GATE_UNBOUNDED) {
    return ms_error_set(err, MS_OPT,
                        "sync = \"async\" has no bound, and staleness = %lld is one: leave out "
                        "staleness, or write sync = \"ssp\"",
                        (long long)staleness);
  }
  if (depth != MS_GATE_UNSAID) {
    return ms_error_set(err, MS_OPT, "%s keeps as many versions as may be in use: leave out depth",
                        staleness == MS_GATE_UNBOUNDED ? "staleness = math.huge (sync = \"async\")"
                                                       : "sync = \"async\"");
  }
  return 0;
}

static int check_staleness(const row *of, int64_t staleness, ms_error *err) {
  const char *name = of->setting.name;
  if (staleness == MS_GATE_UNBOUNDED) {
    return ms_error_set(err, MS_OPT,
                        "staleness = math.huge is the same as sync = \"async\", not \"%s\": leave "
                        "out one of the two",
                        name);
  }
  if (staleness != MS_GATE_UNSAID && (staleness < 0 || staleness > MOST)) {
    return ms_error_set(err, MS_OPT,
                        "staleness is a number of rounds, from 0 to %lld, or math.huge, not %lld",
                        (long long)MOST, (long long)staleness);
  }
  if (staleness > 0 && !of->stale) {
    return ms_error_set(err, MS_OPT,
                        "sync = \"%s\" is never stale: leave out staleness = %lld, or write sync = "
                        "\"data-centric\"",
                        name, (long long)staleness);
  }
  return 0;
}

/* The least number of versions: what may be pinned, and in the last case what is being written. */
static int64_t least_depth(const row *of, int64_t staleness) {
  if (is(&of->setting, "data-centric")) return staleness + 1;
  return is(&of->setting, "ssp") ? 2 * staleness + 2 : 1;
}

static int check_depth(const row *of, int64_t staleness, int64_t depth, ms_error *err) {
  const char *name = of->setting.name;
  if (depth == MS_GATE_UNSAID) return 0;
  if (depth < 1 || depth > MOST) {
    return ms_error_set(err, MS_OPT, "depth is a number of versions of a range, 1 or more");
  }
  if (!of->deeper && depth != of->depth) {
    return ms_error_set(err, MS_OPT, "sync = \"%s\" keeps one version of a range: leave out depth",
                        name);
  }
  int64_t least = least_depth(of, staleness);
  if (depth < least) {
    return ms_error_set(err, MS_OPT,
                        "depth = %lld is too few versions: sync = \"%s\" with staleness = %lld "
                        "needs %lld or more",
                        (long long)depth, name, (long long)staleness, (long long)least);
  }
  return 0;
}

/* Fills in what follows from the staleness and the depth. */
static void complete(ms_gate_setting *setting, int64_t staleness, int64_t depth) {
  setting->depth = depth;
  if (is(setting, "async")) {
    setting->read_ahead = MS_GATE_UNBOUNDED;
  } else if (is(setting, "barrier")) {
    setting->write_lag = MS_GATE_UNBOUNDED;
    setting->read_ahead = 1;
  } else if (is(setting, "ssp")) {
    setting->read_lag = setting->read_ahead = staleness;
    setting->write_lag = MS_GATE_UNBOUNDED;
  } else if (is(setting, "pd-delay")) {
    setting->read_lag = setting->write_lag = setting->read_ahead = staleness;
  } else {
    setting->read_lag = staleness;
    setting->write_lag = depth - 1 - staleness;
  }
  setting->two_phase = setting->write_lag == 0;
}

void ms_gate_setting_rename(ms_gate_setting *setting, uint32_t workers) {
  if (setting->two_phase) {
    setting->two_phase = setting->arrival = false;
    setting->depth = 2 * setting->read_lag + 2;
    setting->write_lag = setting->depth - 1 - setting->read_lag;
    setting->read_ahead = 0;
  }
  if (setting->depth == 0) setting->depth = 2 + (int64_t)workers;
  /* Behind a barrier nobody is more than a round ahead. */
  if (setting->depth == 1 && setting->write_lag == MS_GATE_UNBOUNDED) setting->depth = 3;
  if (setting->write_lag != MS_GATE_UNBOUNDED && setting->depth <= setting->read_lag) {
    setting->depth = setting->read_lag + setting->write_lag + 2; /* a value a version before it */
  }
}

void ms_gate_setting_excuse(ms_gate_setting *setting, uint32_t backup, uint32_t timeout,
                            uint32_t workers) {
  setting->backup = backup;
  setting->timeout = timeout;
  if (backup == 0 && timeout == 0) return;
  setting->write_lag = setting->read_ahead = MS_GATE_UNBOUNDED;
  if (setting->depth < 2 + (int64_t)workers) setting->depth = 2 + (int64_t)workers;
  if (setting->depth < setting->read_lag + 2) setting->depth = setting->read_lag + 2;
}

static int refuse_name(const char *name, ms_error *err) {
  return ms_error_set(err, MS_OPT,
                      "sync = \"%s\" is not known: there are \"data-centric\", \"pd-delay\", "
                      "\"bsp\", \"bsp-2barrier\", \"ssp\", \"async\", \"notify-ack\", \"barrier\"",
                      name);
}

int ms_gate_setting_find(const char *name, int64_t staleness, int64_t depth, ms_gate_setting *found,
                         ms_error *err) {
  bool unbounded = staleness == MS_GATE_UNBOUNDED;
  if (name == NULL) name = unbounded ? "async" : "data-centric";
  const row *of = find_row(name);
  if (of == NULL) return refuse_name(name, err);
  if (is(&of->setting, "async")) {
    if (check_async(staleness, depth, err) != 0) return -1;
    staleness = depth = 0;
  } else {
    if (check_staleness(of, staleness, err) != 0) return -1;
    if (staleness == MS_GATE_UNSAID) staleness = 0;
    if (check_depth(of, staleness, depth, err) != 0) return -1;
    if (depth == MS_GATE_UNSAID) depth = of->depth + of->depth_by_d * staleness;
  }
  *found = of->setting;
  complete(found, staleness, depth);
  return 0;
}
