/* SPDX-License-Identifier: MIT
 *
 * Reading: see reading.h. The thread blocks all signals, as those that the reader starts do. */
#include "read/reading.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "read/docword.h"
#include "read/libsvm.h"
#include "read/table.h"
#include "read/triples.h"

struct ms_reading {
  ms_reader *reader;
  ms_files files; /* as given, with `progress` */
  const void *options;
  void *also;
  ms_read_progress progress;
  pthread_t thread;
  bool started; /* the thread is */
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool done; /* under the lock */
  ms_array *result;
  ms_error err;
};

ms_array *ms_reader_triples(const ms_files *files, const void *options, void *also, ms_error *err) {
  (void)also;
  ms_triples own = *(const ms_triples *)options;
  own.progress = files->progress;
  return ms_triples_read_files(files->paths, files->count, &own, err);
}

ms_array *ms_reader_libsvm(const ms_files *files, const void *options, void *also, ms_error *err) {
  return ms_libsvm_read(files, options, also, err);
}

ms_array *ms_reader_table(const ms_files *files, const void *options, void *also, ms_error *err) {
  return ms_table_read(files, options, also, err);
}

ms_array *ms_reader_docword(const ms_files *files, const void *options, void *also, ms_error *err) {
  (void)also;
  return ms_docword_read(files, options, err);
}

static void *work(void *context) {
  ms_reading *r = context;
  r->result = r->reader(&r->files, r->options, r->also, &r->err);
  pthread_mutex_lock(&r->lock);
  r->done = true;
  pthread_cond_signal(&r->ended);
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

ms_reading *ms_reading_start(ms_reader *reader, const ms_files *files, const void *options,
                             void *also, ms_error *err) {
  ms_reading *r = calloc(1, sizeof *r);
  if (r == NULL) {
    ms_error_memory(err, MS_ARR, "reading files");
    return NULL;
  }
  r->reader = reader;
  r->files = *files;
  r->files.progress = &r->progress;
  r->options = options;
  r->also = also;
  pthread_mutex_init(&r->lock, NULL);
  ms_clock_condition(&r->ended);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  r->started = pthread_create(&r->thread, NULL, work, r) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!r->started) work(r); /* without a thread it is done when this returns */
  return r;
}

bool ms_reading_wait(ms_reading *r, double seconds) {
  uint64_t until = ms_clock_now() + (uint64_t)(seconds * 1e9);
  pthread_mutex_lock(&r->lock);
  while (!r->done && ms_clock_wait(&r->ended, &r->lock, until) != ETIMEDOUT) {
  }
  bool done = r->done;
  pthread_mutex_unlock(&r->lock);
  return done;
}

int64_t ms_reading_done(ms_reading *r) {
  return atomic_load(&r->progress.read);
}

void ms_reading_stop(ms_reading *r) {
  atomic_store(&r->progress.stop, true);
}

ms_array *ms_reading_end(ms_reading *r, ms_error *err) {
  if (r->started) pthread_join(r->thread, NULL);
  ms_array *result = r->result;
  if (result == NULL) {
    ms_error_set(err, (ms_code)r->err.code, "%s", r->err.message);
    if (r->err.file[0] != '\0') ms_error_place(err, r->err.file, r->err.line);
  }
  pthread_cond_destroy(&r->ended);
  pthread_mutex_destroy(&r->lock);
  free(r);
  return result;
}

int64_t ms_reading_size(const ms_files *files) {
  int64_t size = 0;
  struct stat state;
  for (int64_t k = 0; k < files->count; k++) {
    if (stat(files->paths[k], &state) == 0 && S_ISREG(state.st_mode)) size += state.st_size;
  }
  return size;
}
