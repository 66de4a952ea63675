/* SPDX-License-Identifier: MIT
 *
 * Core affinity: who moves to another core, and that it is bound to none afterwards. */
#include "worker/core_affinity.h"

#include <sched.h>
#include <stdlib.h>

#include "base/test.h"

#define JOB     ((uint64_t)7)
#define WORKERS 3u

static cpu_set_t allowed;

/* Binds this thread to one core, then lets it run on all that it had: it is there now. */
static void go_to(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET((size_t)core, &only);
  CHECK(sched_setaffinity(0, sizeof only, &only) == 0);
}

static bool may_run_on_all(void) {
  cpu_set_t now;
  return sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &allowed);
}

static uint64_t place(uint64_t job, int core) {
  return job << 32 | (uint32_t)core;
}

int main(void) {
  CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  ms_status_page *page = aligned_alloc(64, WORKERS * sizeof *page);
  CHECK(page != NULL);
  for (uint32_t w = 0; w < WORKERS; w++) page[w] = (ms_status_page){0};
  ms_spin moves = {0};
  int cores[2], found = 0;
  for (int core = 0; core < CPU_SETSIZE && found < 2; core++) {
    if (CPU_ISSET((size_t)core, &allowed)) cores[found++] = core;
  }

  /* Says where it is. */
  go_to(cores[0]);
  ms_core_affinity_spread(page, WORKERS, 1, JOB, &moves);
  CHECK(atomic_load(&page[1].place) == place(JOB, cores[0]));

  /* With one core to run on it stays, whoever else is there. */
  atomic_store(&page[0].place, place(JOB, cores[0]));
  ms_core_affinity_spread(page, WORKERS, 1, JOB, &moves);
  CHECK(sched_getcpu() == cores[0]);
  ms_spin_learn(&moves, true);

  CHECK(sched_setaffinity(0, sizeof allowed, &allowed) == 0);
  if (CPU_COUNT(&allowed) < 2) {
    fprintf(stderr, "only one core: moves are not tested\n");
    return ms_test_end();
  }

  /* Nobody moves for the sake of an earlier job's worker, or of what is no core. */
  cpu_set_t both;
  CPU_ZERO(&both);
  CPU_SET((size_t)cores[0], &both);
  CPU_SET((size_t)cores[1], &both);
  go_to(cores[0]);
  CHECK(sched_setaffinity(0, sizeof both, &both) == 0);
  allowed = both;
  int here = sched_getcpu();
  atomic_store(&page[0].place, place(JOB - 1, here));
  atomic_store(&page[2].place, place(JOB, 123456789));
  ms_core_affinity_spread(page, WORKERS, 1, JOB, &moves);
  CHECK(may_run_on_all() && moves.lost == 0);

  /* Moves away from another worker of the job. The kernel may move the thread, too, at any time:
   * what is looked at is what the call did. */
  uint32_t moved = 0;
  for (int k = 0; k < 20; k++) {
    here = sched_getcpu();
    atomic_store(&page[0].place, place(JOB, here));
    ms_core_affinity_spread(page, WORKERS, 1, JOB, &moves);
    if (moves.lost == 0) continue; /* it had been moved before the call */
    moved += sched_getcpu() != here;
    CHECK(may_run_on_all());
    moves = (ms_spin){0};
  }
  CHECK(moved > 0);

  /* Both cores taken: it stays. */
  atomic_store(&page[0].place, place(JOB, cores[0]));
  atomic_store(&page[2].place, place(JOB, cores[1]));
  ms_core_affinity_spread(page, WORKERS, 1, JOB, &moves);
  CHECK(may_run_on_all());

  /* Moves in vain become rare. */
  moves = (ms_spin){0};
  uint32_t tried = 0;
  for (int k = 0; k < 100; k++) {
    ms_spin before = moves;
    ms_core_affinity_spread(page, WORKERS, 1, JOB, &moves);
    tried += moves.lost != before.lost;
  }
  CHECK(tried > 0 && tried < 10);
  free(page);
  return ms_test_end();
}
