/* SPDX-License-Identifier: MIT
 *
 * Sessions without Lua: the worker is this program. Jobs from a thread that is not the first one,
 * two sessions at once, kernels that stop and restart, drivers that die. */
#include "driver/session.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test.h"
#include "job/setup.h"
#include "worker/worker.h"

/* Adds 1 + block to each element of the block's rows, or never comes back (key "endless"). */
static int serve(void) {
  ms_error err = {0};
  ms_worker *worker = ms_worker_connect(MS_CHANNEL_FD, &err);
  if (worker == NULL) return 2;
  while (ms_worker_next(worker, &err) > 0) {
    const ms_task *task = ms_worker_task(worker);
    uint32_t block;
    while (ms_worker_next_block(worker, &block, &err) > 0) {
      bool dense;
      volatile bool endless = task->key_size == 7;
      while (endless) continue;
      double *values = ms_worker_operand(worker, 0, &dense);
      for (int k = 0; k < 4; k++) values[block * 4 + (uint32_t)k] += 1 + block;
      ms_worker_block_done(worker, &block, sizeof block, &err);
    }
  }
  ms_worker_destroy(&worker);
  return 0;
}

static const char *const command[] = {"/proc/self/exe", "--serve", NULL};

/* 32 numbers that a job adds to: in a segment, or where nothing is shared anywhere. */
typedef struct numbers {
  double *values;
  const ms_segment *segment;
} numbers;

/* Runs one job; 0 when it went well and each block gave its own number. */
static int run_with(ms_session *session, const numbers *memory, const char *key, ms_error *err) {
  ms_job_operand operand = {.operand = {.id = 1,
                                        .movement = MS_MOVE_LOCAL,
                                        .written = 1,
                                        .element = 8,
                                        .dim_count = 2,
                                        .scale = 1,
                                        .writes = {.high = {8, 4}},
                                        .dims = {8, 4},
                                        .strides = {4, 1}},
                            .data = (unsigned char *)memory->values,
                            .segment = memory->segment};
  static const int64_t start[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  ms_job job = {.key = key,
                .key_size = strlen(key),
                .kernel = "k",
                .kernel_size = 1,
                .grid = {.strategy = MS_PARTITION, .count = 1, .ranges = {8}},
                .bounds = {.start = {start}},
                .operands = &operand,
                .operand_count = 1};
  ms_outcome outcome;
  int failed = ms_session_run(session, &job, &outcome, err);
  if (failed == 0) ms_outcome_rewind(&outcome, MS_REPORT_RESULT, MS_REPORT_RESULT);
  for (uint32_t b = 0; failed == 0 && b < 8; b++) {
    ms_record record;
    failed = !ms_outcome_next(&outcome, &record) || record.block != b || record.size != 4 ||
             memcmp(record.bytes, &b, 4) != 0;
  }
  ms_outcome_free(&outcome);
  return failed;
}

/* A whole session; 0 when all went well. */
static int run_session(bool tcp, uint32_t workers, const numbers *memory) {
  ms_error err = {0};
  ms_session_config config = {
      .workers = workers, .tcp = tcp, .shared = memory->segment != NULL, .command = command};
  ms_session *session = ms_session_start(&config, &err);
  int failed = session == NULL;
  memset(memory->values, 0, 32 * sizeof *memory->values);
  for (int i = 0; i < 5 && !failed; i++) failed = run_with(session, memory, "add", &err);
  for (int i = 0; i < 32; i++) failed = failed || memory->values[i] != 5.0 * (1 + i / 4);
  if (!failed) failed = ms_session_jobs(session) != 5;
  if (err.code != MS_OK) fprintf(stderr, "%s\n", err.message);
  ms_session_stop(&session);
  return failed;
}

static void check_roads(void) {
  ms_error err = {0};
  for (uint32_t workers = 1; workers <= 3; workers++) {
    for (int tcp = 0; tcp < 2; tcp++) {
      ms_segment_block block;
      double values[32];
      CHECK(ms_segment_block_take(&block, sizeof values, &err) == 0);
      numbers shared = {ms_segment_block_at(&block), block.segment}, own = {values, NULL};
      CHECK(run_session(tcp == 1, workers, &shared) == 0);
      CHECK(run_session(tcp == 1, workers, &own) == 0);
      ms_segment_block_release(&block);
    }
  }
}

static void *run_in_thread(void *given) {
  double values[32];
  numbers own = {values, NULL};
  int *failed = given;
  for (int i = 0; i < 4 && !*failed; i++) *failed = run_session(i % 2 == 1, 2, &own);
  return NULL;
}

/* Sessions at the same time, none of them in the process's first thread. */
static void check_threads(void) {
  pthread_t threads[3];
  int failed[3] = {0};
  for (int i = 0; i < 3; i++) {
    CHECK(pthread_create(&threads[i], NULL, run_in_thread, &failed[i]) == 0);
  }
  for (int i = 0; i < 3; i++) {
    pthread_join(threads[i], NULL);
    CHECK(!failed[i]);
  }
}

static int report = -1; /* where a child driver writes its workers' process ids */

/* A driver whose session is in a second thread. */
static void *drive_endlessly(void *given) {
  (void)given;
  ms_error err = {0};
  ms_session_config config = {.workers = 2, .shared = true, .command = command};
  ms_session *session = ms_session_start(&config, &err);
  ms_segment_block memory;
  if (session == NULL || ms_segment_block_take(&memory, 256, &err) != 0) _exit(9);
  long about[2] = {ms_session_pid(session, 0), ms_session_pid(session, 1)};
  char place[MS_DIRECTORY_SIZE] = "";
  snprintf(place, sizeof place, "%s", ms_session_directory(session));
  if (write(report, about, sizeof about) < 0 || write(report, place, sizeof place) < 0) _exit(9);
  numbers shared = {ms_segment_block_at(&memory), memory.segment};
  run_with(session, &shared, "endless", &err);
  return NULL;
}

/* SIGKILL to that driver, whose workers are in an endless loop: they end, too. */
static void check_death_of_threaded_driver(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t driver = fork();
  if (driver == 0) {
    ms_test_limit(100);
    pthread_t thread;
    report = ends[1];
    if (pthread_create(&thread, NULL, drive_endlessly, NULL) == 0) pthread_join(thread, NULL);
    _exit(0);
  }
  close(ends[1]);
  long workers[2] = {0, 0};
  char place[MS_DIRECTORY_SIZE] = "?";
  CHECK(read(ends[0], workers, sizeof workers) == (ssize_t)sizeof workers);
  CHECK(read(ends[0], place, sizeof place) == (ssize_t)sizeof place);
  close(ends[0]);
  usleep(200000); /* into the loop */
  CHECK(kill((pid_t)workers[0], 0) == 0 && access(place, F_OK) == 0);
  kill(driver, SIGKILL);
  waitpid(driver, NULL, 0);
  int gone = 0;
  for (int i = 0; i < 200 && !gone; i++) {
    usleep(10000);
    gone = access(place, F_OK) != 0;
    for (int w = 0; w < 2; w++) { /* gone, or waiting for whoever inherits them */
      char path[64], text[256] = "";
      snprintf(path, sizeof path, "/proc/%ld/stat", workers[w]);
      FILE *file = fopen(path, "r");
      if (file == NULL) continue;
      size_t got = fread(text, 1, sizeof text - 1, file);
      text[got] = '\0';
      fclose(file);
      gone = gone && strstr(text, ") Z") != NULL;
    }
  }
  CHECK(gone);
}

int main(int argc, char **argv) {
  ms_test_limit(100);
  if (argc > 1 && strcmp(argv[1], "--serve") == 0) return serve();
  /* First, because it forks. ThreadSanitizer holds signals back in endless loops. */
  if (!MS_UNDER_TSAN) check_death_of_threaded_driver();
  check_roads();
  check_threads();
  return ms_test_end();
}
