/* SPDX-License-Identifier: MIT
 *
 * Model of meetings (meeting.c) and of the two boards that are written at every other one
 * (lua/meissa/worker/collective.lua). At meeting m a worker puts its value on its row of board m % 2,
 * comes, waits for all, and, SUMS: puts the sum of its slice there, comes again and waits. Then it
 * reads what others put, which takes a step each, and must find what they put at this meeting. At any
 * moment one worker may be replaced by a process that has put nothing (DEATH): it leaves, and all
 * others must come to an end.
 *
 * Lines for tools/model.sh: see csrc/sync/gate.pml.
 *
 * holds: -DMEETINGS=4
 * holds: -DMEETINGS=3 -DSUMS
 * holds: -DMEETINGS=3 -DDEATH
 * holds: -DMEETINGS=2 -DSUMS -DDEATH
 * fails: -DMEETINGS=3 -DONE_BOARD              the next value is put before the last one is read
 * fails: -DMEETINGS=3 -DSUMS -DONE_BOARD
 * fails: -DMEETINGS=2 -DCOUNT_FIRST            a worker comes before it has put its value
 * fails: -DMEETINGS=2 -DSUMS -DNO_SECOND       sums are read before all have formed theirs
 * fails: -DMEETINGS=3 -DDEATH -DREACH          a worker dies while another one is ahead of it
 * fails: -DMEETINGS=3 -DDEATH -DBEGIN_ANEW     the new process comes to the first meeting again
 * fails: -DMEETINGS=2 -DSUMS -DDEATH -DSILENT  who finds that another has left does not leave */
#ifndef WORKERS
#define WORKERS 3
#endif
#define LEFT 99
#ifdef ONE_BOARD
#define BOARD 0
#else
#define BOARD (m % 2)
#endif
#ifdef SUMS
#define PHASES 2
#else
#define PHASES 1
#endif
#define PUT(b, q) put[(b) * WORKERS + (q)]
#define SUM(b, q) sum[(b) * WORKERS + (q)]

byte put[2 * WORKERS], sum[2 * WORKERS]; /* of which meeting the value is, and the slice's sum */
byte come[WORKERS];                      /* phases of meetings, as the registers say */
byte incarnation[WORKERS];               /* which process runs */

/* Processes write until they end, and another one only takes their place then. */
inline write(place, value) {
  atomic {
    if
    :: mine == incarnation[w] -> place = value
    :: else -> goto over
    fi
  }
}

/* Waits until all have come to this phase: `alone` if one never will. */
inline wait_for_all(phase) {
  q = 0;
  do
  :: q == WORKERS -> break
  :: q < WORKERS && come[q] >= phase ->
    if
    :: come[q] == LEFT -> alone = true; break
    :: else -> q++
    fi
  :: mine != incarnation[w] -> goto over
  od
}

inline leave() {
  if
#ifdef SILENT
  :: true
#else
  :: mine == incarnation[w] -> come[w] = LEFT
  :: else
#endif
  fi
}

proctype worker(byte w; byte mine) {
  byte m = 1, q;
  bool alone = false;
#ifndef BEGIN_ANEW
  if
  :: come[w] > 0 -> come[w] = LEFT; goto over /* its predecessor had come to a meeting */
  :: else
  fi;
#endif
  do
  :: m > MEETINGS -> break
  :: m <= MEETINGS && mine == incarnation[w] ->
#ifdef COUNT_FIRST
    write(come[w], PHASES * (m - 1) + 1);
    write(PUT(BOARD, w), m);
#else
    write(PUT(BOARD, w), m);
    write(come[w], PHASES * (m - 1) + 1);
#endif
    wait_for_all(PHASES * (m - 1) + 1);
    if
    :: alone -> leave(); goto over
    :: else
    fi;
#ifdef SUMS
    write(SUM(BOARD, w), m);
    write(come[w], PHASES * (m - 1) + 2);
#ifndef NO_SECOND
    wait_for_all(PHASES * (m - 1) + 2);
    if
    :: alone -> leave(); goto over
    :: else
    fi;
#endif
#endif
    q = 0;
    do
    :: q == WORKERS -> break
    :: q < WORKERS ->
      atomic {
        assert(mine != incarnation[w] || PUT(BOARD, q) == m);
#ifdef SUMS
        assert(mine != incarnation[w] || SUM(BOARD, q) == m);
#endif
        q++
      }
    od;
    m++
  :: m <= MEETINGS && mine != incarnation[w] -> goto over
  od;
over: skip
}

#ifdef DEATH
/* One worker dies, and another process takes its place. */
active proctype reaper() {
  byte w = 0;
  atomic {
    incarnation[w] = 1;
#ifdef REACH
    assert(come[1] <= come[0]);
#endif
    run worker(w, 1)
  }
}
#endif

init {
  atomic {
    run worker(0, 0);
    run worker(1, 0);
    run worker(2, 0)
  }
}
