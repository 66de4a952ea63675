/* SPDX-License-Identifier: MIT
 *
 * Crew: see crew.h. */
#include "job/crew.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/threads.h"
#include "job/spin.h"

#define IDLE_SPIN 200000u /* ns of looking for the next call before sleeping */
#define END_SPIN  50000u  /* ns of looking for the end of those inside */
#define LOOKS     32u     /* between looks at the clock */

/* Lines that different threads write stay apart. */
static struct {
  _Alignas(64) _Atomic uint32_t call; /* odd: the call is open; each has a number of its own */
  _Atomic uint32_t asleep;            /* who sleeps, or is about to, until that changes */
  ms_crew_work *work;
  void *context;
  uint32_t members;
  _Alignas(64) _Atomic uint32_t inside; /* who may be in the call */
  _Atomic uint32_t awaited;             /* the caller sleeps, or is about to, until nobody is */
  _Alignas(64) atomic_bool taken;       /* somebody calls */
  uint32_t threads;                     /* that were started, */
  uint32_t asked;                       /* so many were to be */
} crew;

static void sleep_until_changed(_Atomic uint32_t *word, uint32_t known) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, known, NULL, NULL, 0);
}

static void wake_all(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static bool is_new(uint32_t call, uint32_t last) {
  return call % 2 == 1 && call != last;
}

/* Looks for a call after the last one for a while. */
static bool look_for_call(uint32_t last) {
  uint64_t end = ms_clock_now() + IDLE_SPIN;
  for (uint32_t look = 1; !is_new(atomic_load(&crew.call), last); look++) {
    if (look % LOOKS == 0 && ms_clock_now() >= end) return false;
    ms_spin_pause();
  }
  return true;
}

/* How a member waits. */
typedef struct waiting {
  ms_spin spin;
  bool found; /* the last look has found a call */
} waiting;

/* Looks for a call after the last one where that is worthwhile. That none comes after several is
 * the end of a driver loop, and says nothing about the next one. */
static void look(waiting *how, uint32_t last) {
  if (!ms_spin_worthwhile(&how->spin)) return;
  bool found = look_for_call(last);
  ms_spin_learn(&how->spin, found || how->found);
  how->found = found;
}

/* The number of the next call after the last one. Who was woken too late for one looks for the
 * next. */
static uint32_t await_call(uint32_t last, waiting *how) {
  for (;;) {
    look(how, last);
    uint32_t call = atomic_load(&crew.call);
    if (is_new(call, last)) return call;
    atomic_fetch_add(&crew.asleep, 1);
    sleep_until_changed(&crew.call, call);
    atomic_fetch_sub(&crew.asleep, 1);
  }
}

static void *help(void *argument) {
  uint32_t member = (uint32_t)(size_t)argument, last = 0;
  waiting how = {0};
  for (;;) {
    last = await_call(last, &how);
    atomic_fetch_add(&crew.inside, 1);
    /* Still open: the caller will see who is inside. */
    if (atomic_load(&crew.call) == last && member < crew.members) crew.work(crew.context, member);
    atomic_fetch_sub(&crew.inside, 1);
    if (atomic_load(&crew.awaited) != 0) wake_all(&crew.inside);
  }
  return NULL;
}

/* In a forked process: nobody is there. */
static void forget(void) {
  atomic_store(&crew.asleep, 0);
  atomic_store(&crew.inside, 0);
  atomic_store(&crew.taken, false);
  atomic_fetch_and(&crew.call, ~1u);
  crew.threads = crew.asked = 0;
}

static void forget_in_children(void) {
  pthread_atfork(NULL, NULL, forget);
}

/* Starts what is missing of `members` - 1 threads, if there are processors for them. */
static void start_missing(uint32_t members) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, forget_in_children);
  crew.asked = members;
  uint32_t room = (uint32_t)ms_threads_count();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (uint32_t m = crew.threads + 1; m < members && m < room && m < MS_CREW_MOST; m++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, help, (void *)(size_t)m) != 0) break; /* fewer help */
    pthread_setname_np(thread, "meissa crew"); /* as top and gdb show it */
    pthread_detach(thread);
    crew.threads = m;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool ms_crew_call(uint32_t members, ms_crew_work *work, void *context) {
  if (members < 2 || atomic_exchange(&crew.taken, true)) return false;
  if (members > crew.asked) start_missing(members);
  if (crew.threads == 0) {
    atomic_store(&crew.taken, false);
    return false;
  }
  crew.work = work;
  crew.context = context;
  crew.members = members;
  atomic_fetch_add(&crew.call, 1);
  if (atomic_load(&crew.asleep) > 0) wake_all(&crew.call);
  return true;
}

static void wait_for_those_inside(void) {
  uint64_t end = ms_clock_now() + END_SPIN;
  for (uint32_t look = 1; atomic_load(&crew.inside) > 0; look++) {
    if (look % LOOKS == 0 && ms_clock_now() >= end) break;
    ms_spin_pause();
  }
  uint32_t inside = atomic_load(&crew.inside);
  if (inside == 0) return;
  atomic_store(&crew.awaited, 1);
  while ((inside = atomic_load(&crew.inside)) > 0) sleep_until_changed(&crew.inside, inside);
  atomic_store(&crew.awaited, 0);
}

void ms_crew_dismiss(void) {
  atomic_fetch_add(&crew.call, 1);
  wait_for_those_inside();
  atomic_store(&crew.taken, false);
}

void ms_crew_share_out(ms_crew_pieces *pieces, uint32_t members, uint32_t first, uint32_t count) {
  if (members > MS_CREW_MOST) members = MS_CREW_MOST;
  if (members == 0) members = 1;
  pieces->members = members;
  for (uint32_t m = 0; m < members; m++) {
    ms_crew_share *share = &pieces->shares[m];
    atomic_init(&share->next, first + (uint32_t)((uint64_t)count * m / members));
    share->end = first + (uint32_t)((uint64_t)count * (m + 1) / members);
  }
}

bool ms_crew_take(ms_crew_pieces *pieces, uint32_t member, uint32_t *tried, uint32_t *piece) {
  for (; *tried < pieces->members; ++*tried) {
    ms_crew_share *share = &pieces->shares[(member + *tried) % pieces->members];
    *piece = atomic_fetch_add(&share->next, 1);
    if (*piece < share->end) return true;
  }
  return false;
}
