/* SPDX-License-Identifier: MIT
 *
 * The status page: publishing and waiting between threads, with and without sleep; what a sleeper
 * misses; contents that nobody wrote on purpose. The seed is printed; MEISSA_TEST_SEED replays a
 * run. */
#include "job/status_page.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/test.h"
#include "job/spin.h"

#define RUNNERS  4
#define TURNS    4000
#define LONG     20000 /* ms: longer than the test may take */
#define JOB      7u
#define PATIENCE 10000 /* ms that no single wait may take */

static ms_status_page *page;

/* What each turn leaves, written without atomics: the page alone orders it. */
static uint64_t trail[RUNNERS * TURNS];

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void publish(ms_status_page *own, uint64_t job, uint32_t count) {
  ms_status_page_publish(own, MS_STATUS_PROGRESS, ms_status_of(job, count));
}

/* How many blocks of `job` the worker of `slot` has finished. */
static uint32_t progress_of(const ms_status_page *slot, uint64_t job) {
  return ms_status_value(ms_status_page_status(slot, MS_STATUS_PROGRESS), job, 0);
}

static uint32_t draw(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

typedef struct runner {
  uint32_t number, random;
  long longest; /* ms of a wait */
  bool right;
} runner;

/* Waits until the runner before has made its turn, sometimes looking for a while first. */
static void await(runner *self, ms_status_page *before, uint32_t count) {
  long began = now_ms();
  uint32_t looks = draw(&self->random) % 3 == 0 ? draw(&self->random) % 200 : 0;
  while (looks-- > 0 && progress_of(before, JOB) < count) ms_spin_pause();
  while (progress_of(before, JOB) < count) {
    uint32_t heard = ms_status_page_listen(&page[self->number]);
    if (progress_of(before, JOB) < count) {
      ms_status_page_sleep(&page[self->number], heard, LONG);
    }
    ms_status_page_wake(&page[self->number]);
  }
  long took = now_ms() - began;
  if (took > self->longest) self->longest = took;
}

/* Turns go round: turn t of a runner follows turn t of the one before it, and turn t - 1 of the
 * last runner for the first. */
static void *run(void *given) {
  runner *self = given;
  uint32_t before = (self->number + RUNNERS - 1) % RUNNERS;
  for (uint32_t turn = 0; turn < TURNS; turn++) {
    await(self, &page[before], self->number == 0 ? turn : turn + 1);
    uint32_t place = turn * RUNNERS + self->number;
    if (place > 0 && trail[place - 1] != place) self->right = false;
    trail[place] = place + 1;
    publish(&page[self->number], JOB, turn + 1);
    ms_status_page_ring(&page[(self->number + 1) % RUNNERS]);
    if (draw(&self->random) % 64 == 0)
      usleep(draw(&self->random) % 300); /* let others fall asleep */
  }
  return NULL;
}

/* A ring must reach whoever is about to sleep, else somebody waits for LONG. */
static void check_no_lost_ring(uint32_t seed) {
  pthread_t threads[RUNNERS];
  runner runners[RUNNERS];
  for (uint32_t i = 0; i < RUNNERS; i++) {
    runners[i] = (runner){.number = i, .random = seed + i, .right = true};
    CHECK(pthread_create(&threads[i], NULL, run, &runners[i]) == 0);
  }
  for (uint32_t i = 0; i < RUNNERS; i++) {
    pthread_join(threads[i], NULL);
    CHECK(runners[i].right && runners[i].longest < PATIENCE);
    CHECK(progress_of(&page[i], JOB) == TURNS);
  }
  CHECK(trail[RUNNERS * TURNS - 1] == RUNNERS * TURNS);
}

/* A job's progress is nobody else's. */
static void check_jobs(void) {
  ms_status_page *slot = &page[0];
  publish(slot, 41, 3);
  CHECK(progress_of(slot, 41) == 3);
  CHECK(progress_of(slot, 42) == 0 && progress_of(slot, 40) == 0);
  publish(slot, ((uint64_t)1 << 32) + 5, 1);
  CHECK(progress_of(slot, ((uint64_t)1 << 32) + 5) == 1);
  ms_status_page_clear(slot); /* a new process goes on where the old one ended */
  CHECK(progress_of(slot, ((uint64_t)1 << 32) + 5) == 1);
}

/* A sleep ends when its time is over, and does not begin after a ring that was heard too late. */
static void check_sleep(void) {
  ms_status_page *slot = &page[1];
  long began = now_ms();
  ms_status_page_sleep(slot, ms_status_page_listen(slot), 50);
  CHECK(now_ms() - began >= 49 && now_ms() - began < PATIENCE);
  uint32_t heard = ms_status_page_listen(slot);
  ms_status_page_ring(slot);
  began = now_ms();
  ms_status_page_sleep(slot, heard, LONG);
  CHECK(now_ms() - began < PATIENCE);
  ms_status_page_wake(slot);
  heard = atomic_load(&slot->bell);
  ms_status_page_ring(slot); /* nobody sleeps: no ring, no call of the kernel */
  CHECK(atomic_load(&slot->bell) == heard);
}

/* Any bytes: numbers that are compared, nothing else. */
static void check_noise(uint32_t seed) {
  uint32_t random = seed;
  for (int round = 0; round < 2000; round++) {
    unsigned char *bytes = (unsigned char *)page;
    for (size_t i = 0; i < 2 * sizeof *page; i++) bytes[i] = (unsigned char)draw(&random);
    ms_status_page_ring(&page[0]);
    ms_status_page_sleep(&page[1], ms_status_page_listen(&page[1]) + (round % 2 == 0), 0);
    ms_status_page_wake(&page[1]);
    uint64_t job = atomic_load(&page[0].progress) >> 32;
    CHECK(progress_of(&page[0], job) == (uint32_t)atomic_load(&page[0].progress));
    CHECK(progress_of(&page[0], job ^ 1) == 0);
  }
}

/* What is no page is not mapped. */
static void check_mapping(int fd) {
  FILE *small = tmpfile();
  CHECK(ms_status_page_map(RUNNERS, -1) == NULL);
  CHECK(small != NULL && ftruncate(fileno(small), 100) == 0);
  CHECK(ms_status_page_map(1, fileno(small)) == NULL &&
        ms_status_page_map(RUNNERS + 1, fd) == NULL);
  ms_status_page *again = ms_status_page_map(RUNNERS, fd);
  CHECK(again != NULL);
  publish(&page[2], 3, 4);
  CHECK(progress_of(&again[2], 3) == 4);
  ms_status_page_unmap(again, RUNNERS);
  fclose(small);
}

/* Shelves of different workers, the slots, and what another process maps. */
static void check_shelves(int fd) {
  ms_status_page *again = ms_status_page_map(RUNNERS, fd);
  CHECK(again != NULL);
  if (again == NULL) return;
  publish(&page[RUNNERS - 1], 5, 6);
  for (uint32_t w = 0; w < RUNNERS; w++) {
    memset(ms_status_page_shelf(page, RUNNERS, w), (int)w + 1, MS_SHELF_SIZE);
  }
  bool same = true;
  for (uint32_t w = 0; w < RUNNERS; w++) {
    const char *shelf = ms_status_page_shelf(again, RUNNERS, w);
    for (size_t at = 0; at < MS_SHELF_SIZE; at++) same = same && shelf[at] == (char)(w + 1);
  }
  CHECK(same && progress_of(&again[RUNNERS - 1], 5) == 6);
  /* What is given back reads as nothing, and no other shelf loses any. */
  ms_status_page_clear_shelf(page, RUNNERS, 1, MS_SHELF_SIZE - 5000);
  const char *before = ms_status_page_shelf(again, RUNNERS, 0),
             *cleared = ms_status_page_shelf(again, RUNNERS, 1);
  CHECK(before[MS_SHELF_SIZE - 1] == 1 && cleared[0] == 2 && cleared[MS_SHELF_SIZE - 1] == 2);
  CHECK(cleared[MS_SHELF_SIZE / 2] == 0 && cleared[MS_SHELF_SIZE + MS_SHELF_SIZE / 2] == 3);
  const char *end = ms_status_page_shelf(page, RUNNERS, RUNNERS - 1) + MS_SHELF_SIZE;
  CHECK((size_t)(end - (const char *)page) == ms_status_page_size(RUNNERS));
  ms_status_page_unmap(again, RUNNERS);
}

int main(void) {
  ms_test_limit(100);
  const char *given = getenv("MEISSA_TEST_SEED");
  uint32_t seed = given != NULL ? (uint32_t)atol(given) : (uint32_t)time(NULL);
  fprintf(stderr, "seed %u\n", seed);
  ms_error err = {0};
  int fd;
  page = ms_status_page_make(RUNNERS, &fd, &err);
  CHECK(page != NULL && ((uintptr_t)page & 63) == 0);
  if (page == NULL) return ms_test_end();
  check_no_lost_ring(seed);
  check_jobs();
  check_sleep();
  check_mapping(fd);
  check_shelves(fd);
  check_noise(seed);
  ms_status_page_unmap(page, RUNNERS);
  close(fd);
  return ms_test_end();
}
