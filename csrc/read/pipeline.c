/* SPDX-License-Identifier: MIT
 *
 * Pipeline: see pipeline.h. Pieces are taken in order under one lock; results wait in a list, in
 * order, until the one before them is joined, under another. After a failure no more ranges are
 * taken, but those that are out are awaited: an earlier one may hold an earlier error. */
#include "read/pipeline.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/threads.h"

/* What became of one range. */
typedef struct outcome {
  struct outcome *next;
  int64_t number; /* the range's */
  void *result;   /* NULL: it failed */
  ms_error err;
} outcome;

typedef struct run {
  const ms_pipeline *pipeline;
  void *owner;
  pthread_mutex_t taking; /* guards ranges, first, stopped */
  ms_byte_ranges ranges;
  ms_byte_range *first; /* the range that was looked at, until it is taken */
  bool stopped;
  bool starved;            /* there was no memory for an outcome */
  pthread_mutex_t joining; /* guards what follows */
  outcome *waiting;        /* by number */
  int64_t turn;            /* number of the range that is joined next */
  bool failed;
  ms_error err;
} run;

/* Swaps the next range in; false when there is none, or one failed. */
static bool take(run *r, ms_byte_range *range) {
  pthread_mutex_lock(&r->taking);
  bool got = !r->stopped;
  if (got && r->first != NULL) {
    ms_byte_range spare = *range;
    *range = *r->first;
    *r->first = spare;
    r->first = NULL;
  } else if (got) {
    got = ms_byte_ranges_next(&r->ranges, range);
  }
  pthread_mutex_unlock(&r->taking);
  return got;
}

/* Joins the results whose turn it is. */
static void join_ready(run *r) {
  while (r->waiting != NULL && r->waiting->number == r->turn) {
    outcome *each = r->waiting;
    r->waiting = each->next;
    r->turn++;
    if (r->failed) {
      if (each->result != NULL) r->pipeline->drop(each->result);
    } else if (each->result == NULL) {
      r->failed = true;
      r->err = each->err;
    } else {
      r->failed = r->pipeline->join(r->owner, each->result, &r->err) != 0;
    }
    free(each);
  }
}

/* Puts an outcome into its place in the list; tells whether reading is to go on. */
static bool deliver(run *r, outcome *made) {
  pthread_mutex_lock(&r->joining);
  outcome **at = &r->waiting;
  while (*at != NULL && (*at)->number < made->number) at = &(*at)->next;
  made->next = *at;
  *at = made;
  bool good = made->result != NULL;
  join_ready(r);
  good = good && !r->failed;
  pthread_mutex_unlock(&r->joining);
  return good;
}

/* Lets nobody take another range. */
static void stop(run *r, bool starved) {
  pthread_mutex_lock(&r->taking);
  r->stopped = true;
  r->starved = r->starved || starved;
  pthread_mutex_unlock(&r->taking);
}

/* A thread of the pipeline: takes ranges one after the other. */
static void work(void *context) {
  run *r = context;
  ms_byte_range range = {0};
  for (;;) {
    /* Made before the range is taken, so that a range that is out always gets an outcome. */
    outcome *made = calloc(1, sizeof *made);
    if (made == NULL) stop(r, true);
    if (made == NULL || !take(r, &range)) {
      free(made);
      break;
    }
    made->number = range.number;
    made->result = r->pipeline->read(r->owner, &range, &made->err);
    if (!deliver(r, made)) stop(r, false);
  }
  ms_byte_range_free(&range);
}

/* Shows ranges to the owner until it knows the format: 1, 0 when the file ended before, or -1. */
static int look(run *r, ms_byte_range *range, ms_error *err) {
  while (ms_byte_ranges_next(&r->ranges, range)) {
    int known = r->pipeline->look(r->owner, range, err);
    if (known != 0) return known;
  }
  return 0;
}

static int run_threads(run *r, ms_byte_range *first, ms_error *err) {
  int threads = r->pipeline->threads > 0 ? r->pipeline->threads : ms_threads_count();
  r->first = first;
  r->turn = first->number;
  ms_threads_run(r->ranges.at_end ? 1 : threads, work, r);
  if (!r->failed && r->starved) return ms_error_memory(err, MS_ARR, "reading");
  if (!r->failed) return 0;
  ms_error_set(err, (ms_code)r->err.code, "%s", r->err.message);
  return r->err.file[0] == '\0' ? -1 : ms_error_place(err, r->err.file, r->err.line);
}

int ms_pipeline_run(const ms_pipeline *pipeline, const char *path, void *owner, ms_error *err) {
  run r = {.pipeline = pipeline, .owner = owner};
  if (ms_byte_ranges_open(&r.ranges, path, pipeline->range_bytes, err) != 0) return -1;
  r.ranges.progress = pipeline->progress;
  pthread_mutex_init(&r.taking, NULL);
  pthread_mutex_init(&r.joining, NULL);
  ms_byte_range first = {0};
  int status = look(&r, &first, err);
  if (status > 0) status = run_threads(&r, &first, err);
  pthread_mutex_destroy(&r.taking);
  pthread_mutex_destroy(&r.joining);
  ms_byte_range_free(&first);
  ms_byte_ranges_close(&r.ranges);
  if (status < 0) ms_source_blame(path, err);
  return status < 0 ? -1 : 0;
}
