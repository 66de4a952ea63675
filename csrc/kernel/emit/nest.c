/* SPDX-License-Identifier: MIT
 *
 * Nests: see nest.h.
 *
 * A dimension's loop runs over the block's range. Where outer indices bound it (collapsed loops) or
 * a row does, the range is narrowed first: everything outside the loops is plain arithmetic, the
 * innermost body sees none of it. Rows count ordinals, which grow in loop direction, so steps other
 * than 1 stay on their lattice. A constant stands first in every sum, so that no index becomes -0.
 *
 * Names: x the index, lo and hi the block's range, a and z the narrowed one, b the row's value up
 * to this dimension, u and v the least and greatest that the dimensions after it add. */
#include "kernel/emit/nest.h"

#include <inttypes.h>

static const ms_extent *extent_of(const ms_emitter *emitter, uint32_t d) {
  return &emitter->job->verdict->extent[d];
}

bool ms_nest_has_row(const ms_emitter *emitter) {
  return emitter->job->verdict->has_row &&
         !(emitter->job->space->source != -1 && emitter->job->space->sparse);
}

static int64_t row_at(const ms_emitter *emitter, uint32_t d) {
  return ms_nest_has_row(emitter) ? emitter->job->verdict->row[d] : 0;
}

/* The first index of a dimension, where ordinals are 0. */
static int64_t origin_of(const ms_emitter *emitter, uint32_t d) {
  return extent_of(emitter, d)->bounded ? 0 : extent_of(emitter, d)->range.lo;
}

static int64_t step_of(const ms_emitter *emitter, uint32_t d) {
  return extent_of(emitter, d)->range.step;
}

/* Whether the row has a part in a dimension after d. */
static bool goes_on(const ms_emitter *emitter, uint32_t d) {
  for (uint32_t later = d + 1; later < emitter->dims; later++) {
    if (row_at(emitter, later) != 0) return true;
  }
  return false;
}

/* Whether the row has a part in a dimension before d; *dim receives the nearest. */
static bool began(const ms_emitter *emitter, uint32_t d, uint32_t *dim) {
  for (uint32_t k = d; k-- > 0;) {
    *dim = k;
    if (row_at(emitter, k) != 0) return true;
  }
  return false;
}

/* "+2*((_mlo1-3)/2)": the row's part for the index in `name` of dimension d. Every number brings
 * its sign: two minus signs would begin a comment. */
static void add_part(ms_emitter *emitter, uint32_t d, const char *name) {
  int64_t origin = origin_of(emitter, d), step = step_of(emitter, d);
  ms_text_format(emitter->out, "+%" PRId64 "*((%s%s%u%+" PRId64 ")", row_at(emitter, d),
                 emitter->prefix, name, d + 1, -origin);
  if (step != 1) ms_text_format(emitter->out, "/%" PRId64, step);
  ms_text_add(emitter->out, ")");
}

void ms_nest_bounds(ms_emitter *emitter) {
  for (uint32_t d = 0; d < emitter->dims; d++) {
    ms_text_format(emitter->out, "%s%slo%u,%shi%u", d > 0 ? "," : "", emitter->prefix, d + 1,
                   emitter->prefix, d + 1);
  }
  if (ms_nest_has_row(emitter))
    ms_text_format(emitter->out, ",%srlo,%srhi", emitter->prefix, emitter->prefix);
}

/* The least and greatest that the dimensions after d add to the row. */
static void write_rest(ms_emitter *emitter, uint32_t d) {
  ms_text_format(emitter->out, " local %su%u,%sv%u=0", emitter->prefix, d + 1, emitter->prefix,
                 d + 1);
  for (int most = 0; most < 2; most++) {
    if (most) ms_text_add(emitter->out, ",0");
    for (uint32_t later = d + 1; later < emitter->dims; later++) {
      int64_t factor = row_at(emitter, later);
      if (factor != 0) add_part(emitter, later, (factor > 0) == (most == 1) ? "hi" : "lo");
    }
  }
}

/* "3+2*_mx1": a bound that depends on outer indices. */
static void write_sum(ms_emitter *emitter, const ms_index_sum *sum, uint32_t d) {
  ms_text_format(emitter->out, "%" PRId64, sum->constant);
  for (uint32_t outer = 0; outer < d; outer++) {
    if (sum->at[outer] == 0) continue;
    ms_text_format(emitter->out, "%+" PRId64 "*%sx%u", sum->at[outer], emitter->prefix, outer + 1);
  }
}

/* What the row leaves for an end of dimension d: "5+2*_mceil((_mrlo-_mb1-_mv2)/3)". `first`: the
 * end where the loop begins. */
static void write_row_end(ms_emitter *emitter, uint32_t d, bool first) {
  const char *prefix = emitter->prefix;
  int64_t factor = row_at(emitter, d);
  bool low = first == (factor > 0); /* which end of the row's range counts */
  uint32_t before;
  ms_text_format(emitter->out, "%" PRId64 "%+" PRId64 "*", origin_of(emitter, d),
                 step_of(emitter, d));
  ms_emitter_helper(emitter, first ? MS_HELPER_CEIL : MS_HELPER_FLOOR);
  ms_text_format(emitter->out, "((%s%s", prefix, low ? "rlo" : "rhi");
  if (began(emitter, d, &before)) ms_text_format(emitter->out, "-%sb%u", prefix, before + 1);
  if (goes_on(emitter, d)) ms_text_format(emitter->out, "-%s%c%u", prefix, low ? 'v' : 'u', d + 1);
  ms_text_format(emitter->out, ")/%" PRId64 ")", factor);
}

/* One end of the narrowed range. */
static void write_end(ms_emitter *emitter, uint32_t d, bool first) {
  const ms_extent *extent = extent_of(emitter, d);
  bool low = first == (extent->range.step > 0);
  const ms_index_sum *sums = low ? extent->low : extent->high;
  uint32_t count = !extent->bounded ? 0 : low ? extent->low_count : extent->high_count;
  ms_emitter_helper(emitter, low ? MS_HELPER_GREATER : MS_HELPER_LESS);
  ms_text_format(emitter->out, "(%s%s%u", emitter->prefix, first ? "lo" : "hi", d + 1);
  for (uint32_t s = 0; s < count; s++) {
    ms_text_add(emitter->out, ",");
    write_sum(emitter, &sums[s], d);
  }
  if (row_at(emitter, d) != 0) {
    ms_text_add(emitter->out, ",");
    write_row_end(emitter, d, first);
  }
  ms_text_add(emitter->out, ")");
}

static void write_loop(ms_emitter *emitter, uint32_t d) {
  const char *prefix = emitter->prefix;
  bool narrow = extent_of(emitter, d)->bounded || row_at(emitter, d) != 0;
  if (narrow) {
    ms_text_format(emitter->out, " local %sa%u,%sz%u=", prefix, d + 1, prefix, d + 1);
    write_end(emitter, d, true);
    ms_text_add(emitter->out, ",");
    write_end(emitter, d, false);
  }
  ms_text_format(emitter->out, " for %sx%u=%s%s%u,%s%s%u", prefix, d + 1, prefix,
                 narrow ? "a" : "lo", d + 1, prefix, narrow ? "z" : "hi", d + 1);
  if (step_of(emitter, d) != 1) ms_text_format(emitter->out, ",%" PRId64, step_of(emitter, d));
  ms_text_add(emitter->out, " do");
  if (row_at(emitter, d) == 0 || !goes_on(emitter, d)) return;
  uint32_t before;
  ms_text_format(emitter->out, " local %sb%u=", prefix, d + 1);
  if (began(emitter, d, &before)) {
    ms_text_format(emitter->out, "%sb%u", prefix, before + 1);
  } else {
    ms_text_add(emitter->out, "0");
  }
  add_part(emitter, d, "x");
}

void ms_nest_loops(ms_emitter *emitter) {
  for (uint32_t d = 0; d < emitter->dims; d++) {
    if (row_at(emitter, d) != 0 && goes_on(emitter, d)) write_rest(emitter, d);
  }
  for (uint32_t d = 0; d < emitter->dims; d++) write_loop(emitter, d);
}
