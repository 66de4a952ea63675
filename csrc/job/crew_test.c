/* SPDX-License-Identifier: MIT
 *
 * Crew: calls that others help with, who comes late, calls in calls, forked processes. */
#include "job/crew.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "base/test.h"
#include "base/threads.h"
#include "job/spin.h"

enum { MEMBERS = 4, CALLS = 20000, SHARES = 16 };

typedef struct call {
  _Atomic uint32_t begun[MEMBERS], next, done;
  uint32_t written[SHARES]; /* not atomic: whoever is dismissed has written it */
} call;

static void work(void *context, uint32_t member) {
  call *of = context;
  if (member < MEMBERS) of->begun[member]++;
  for (uint32_t k; (k = of->next++) < SHARES;) of->written[k] = k + 1;
  of->done++;
}

/* Whether a call was done, all of it, each member at most once. */
static bool is_whole(uint32_t members) {
  call of = {0};
  bool helped = ms_crew_call(members, work, &of);
  work(&of, 0);
  if (helped) ms_crew_dismiss();
  bool whole = of.begun[0] == 1;
  uint32_t begun = 0;
  for (uint32_t m = 0; m < MEMBERS; m++) {
    begun += of.begun[m];
    whole = whole && of.begun[m] <= (m < members ? 1 : 0);
  }
  for (uint32_t k = 0; k < SHARES; k++) whole = whole && of.written[k] == k + 1;
  return whole && of.done == begun;
}

static void pause_for(long ns) {
  nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* They look for the next call, sleep, and are more than are called. */
static void test_calls(void) {
  uint32_t whole = 0;
  for (uint32_t c = 0; c < CALLS; c++) {
    whole += is_whole(2 + c % (MEMBERS - 1));
    if (c % 1000 == 0) pause_for(1000000);
  }
  CHECK(whole == CALLS);
}

enum { PIECES = 1000, FIRST = 7 };

typedef struct pieces {
  ms_crew_pieces open;
  _Atomic uint32_t taken[FIRST + PIECES];
} pieces;

static void take(void *context, uint32_t member) {
  pieces *of = context;
  uint32_t tried = 0, piece;
  while (ms_crew_take(&of->open, member, &tried, &piece)) of->taken[piece]++;
}

/* Each piece is one member's, whoever comes; who is alone has its own first. */
static void test_pieces(void) {
  static pieces of;
  for (uint32_t c = 0; c < CALLS / 10; c++) {
    uint32_t count = c % (PIECES + 1), whole = 0;
    for (uint32_t k = 0; k < FIRST + PIECES; k++) of.taken[k] = 0;
    ms_crew_share_out(&of.open, 2 + c % (MEMBERS - 1), FIRST, count);
    bool helped = ms_crew_call(of.open.members, take, &of);
    take(&of, 0);
    if (helped) ms_crew_dismiss();
    for (uint32_t k = 0; k < FIRST + PIECES; k++)
      whole += of.taken[k] == (k >= FIRST && k < FIRST + count ? 1 : 0);
    CHECK(whole == FIRST + PIECES);
  }
  uint32_t tried = 0, piece;
  ms_crew_share_out(&of.open, 3, 0, 9);
  for (uint32_t k = 0; k < 9; k++) {
    CHECK(ms_crew_take(&of.open, 1, &tried, &piece) && piece == (k + 3) % 9);
  }
  CHECK(!ms_crew_take(&of.open, 1, &tried, &piece));
  ms_crew_share_out(&of.open, MS_CREW_MOST + 1, 0, 9);
  CHECK(of.open.members == MS_CREW_MOST);
}

static atomic_bool here, over;

static void linger(void *context, uint32_t member) {
  (void)context, (void)member;
  here = true;
  pause_for(5000000); /* longer than the caller looks */
  over = true;
}

static void test_end(void) {
  CHECK(ms_crew_call(2, linger, NULL));
  CHECK(!ms_crew_call(2, work, NULL)); /* one call at a time */
  while (!here) pause_for(10000);
  ms_crew_dismiss();
  CHECK(over);
}

static atomic_bool open;
static _Atomic uint32_t late;

static void look_whether_open(void *context, uint32_t member) {
  (void)context, (void)member;
  if (!open) late++;
}

/* Who sees a call just before it is closed does not begin after that. */
static void test_late(void) {
  for (uint32_t c = 0; c < 10 * CALLS; c++) {
    open = true;
    CHECK(ms_crew_call(2, look_whether_open, NULL));
    ms_crew_dismiss();
    open = false;
    for (uint32_t k = 0; k < c % 32; k++) ms_spin_pause();
  }
  CHECK(late == 0);
}

/* Threads have no signals. */
static void look_at_signals(void *context, uint32_t member) {
  (void)member;
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  *(atomic_int *)context = 1 + sigismember(&blocked, SIGINT);
}

static void test_signals(void) {
  atomic_int seen = 0;
  CHECK(ms_crew_call(2, look_at_signals, &seen));
  while (seen == 0) pause_for(10000);
  ms_crew_dismiss();
  CHECK(seen == 2);
}

/* A forked process has a crew of its own, also while there is a call. */
static void test_fork(void) {
  call of = {0};
  CHECK(ms_crew_call(2, work, &of));
  pid_t child = fork();
  if (child == 0) {
    ms_test_limit(20);
    bool whole = true;
    for (uint32_t c = 0; c < 100; c++) whole = whole && is_whole(2);
    _exit(whole ? 0 : 1);
  }
  ms_crew_dismiss();
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  CHECK(is_whole(2));
}

int main(void) {
  ms_test_limit(60);
  CHECK(!ms_crew_call(0, work, NULL) && !ms_crew_call(1, work, NULL));
  test_calls();
  test_pieces();
  if (ms_threads_count() > 1) { /* else nobody helps */
    test_end();
    test_late();
    test_signals();
    if (!MS_UNDER_TSAN) test_fork();
  }
  return ms_test_end();
}
