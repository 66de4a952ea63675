/* SPDX-License-Identifier: MIT
 *
 * Model of a rotation's hand-overs on one host (schedule_edge.c, job/status_page.h): at step k worker
 * w runs the block of its space range and of time range (w + k) mod WORKERS, which the worker behind
 * it has had in the step before. It waits for that worker's count, asleep until its bell rings.
 *
 * Lines for tools/model.sh: see csrc/sync/gate.pml.
 *
 * holds: -DWORKERS=2
 * holds: -DWORKERS=3 -DSTEPS=3
 * fails: -DWORKERS=3 -DNO_WAIT     nobody waits
 * fails: -DWORKERS=3 -DONE_LESS    waits for the step before the one before
 * fails: -DWORKERS=3 -DWRONG_ONE   waits for the worker before it
 * fails: -DWORKERS=3 -DCOUNT_FIRST the count is raised before the block is finished
 * fails: -DWORKERS=2 -DLOOK_FIRST  looks, then says that it sleeps: a wake-up is lost
 * fails: -DWORKERS=2 -DRING_FIRST  looks for sleepers, then raises the count
 * fails: -DWORKERS=2 -DNO_BELL     nobody is woken */
#ifndef STEPS
#define STEPS (WORKERS + 1)
#endif

#ifdef ONE_LESS
#define NEEDED (k - 1)
#else
#define NEEDED k
#endif
#ifdef WRONG_ONE
#define BEHIND ((w + WORKERS - 1) % WORKERS)
#else
#define BEHIND ((w + 1) % WORKERS)
#endif
#define LISTENER ((w + WORKERS - 1) % WORKERS)

byte progress[WORKERS], bell[WORKERS];
bool asleep[WORKERS];
byte users[WORKERS], steps[WORKERS]; /* of each time range: who uses it now, how often it was used */

/* Wakes whoever waits for this step; nobody does for the last one. */
inline ring() {
#ifdef NO_BELL
  skip
#else
  if
  :: asleep[LISTENER] && k < STEPS - 1 -> bell[LISTENER]++
  :: else
  fi
#endif
}

/* Listens, looks, sleeps. */
inline wait_for_step() {
  do
  :: progress[BEHIND] >= NEEDED -> break
  :: else ->
#ifndef LOOK_FIRST
    asleep[w] = true;
#endif
    heard = bell[w];
    if
    :: progress[BEHIND] >= NEEDED
    :: else ->
#ifdef LOOK_FIRST
      asleep[w] = true;
      heard = bell[w];
#endif
      (bell[w] != heard)
    fi;
    asleep[w] = false
  od
}

proctype worker(byte w) {
  byte k, range, heard;
  for (k : 0 .. STEPS - 1) {
    range = (w + k) % WORKERS;
#ifndef NO_WAIT
    wait_for_step();
#endif
    atomic {
      users[range]++;
      assert(users[range] == 1 && steps[range] == k)
    }
#ifdef COUNT_FIRST
    progress[w]++;
    ring();
#endif
    atomic {
      users[range]--;
      steps[range]++
    }
#ifdef RING_FIRST
    ring();
#endif
#ifndef COUNT_FIRST
    progress[w]++;
#endif
#ifndef RING_FIRST
    ring()
#endif
  }
}

init {
  byte w;
  atomic {
    for (w : 0 .. WORKERS - 1) { run worker(w) }
  }
}
