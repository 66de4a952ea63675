/* SPDX-License-Identifier: MIT
 *
 * Model of the gate (gate.h): workers with BLOCKS ranges each, of which everyone reads all (in a
 * CHAIN only its own and those of the worker before), for ROUNDS rounds. LAG is the staleness,
 * DEPTH the number of versions; CLOCKS stands for "ssp", whose writers wait for nobody. What a worker
 * knows of another is its counts, raised behind its data; a read takes two steps, and must find the
 * same version in both.
 *
 * Lines for tools/model.sh: `holds` and the definitions under which no assertion fails and nobody
 * stands still for ever; `fails` and those of a seeded bug, or of a situation to be reached.
 *
 * holds: -DLAG=0 -DDEPTH=1 -DROUNDS=4
 * holds: -DLAG=0 -DDEPTH=1 -DBLOCKS=2 -DWORKERS=2
 * holds: -DLAG=0 -DDEPTH=2 -DROUNDS=4
 * holds: -DLAG=0 -DDEPTH=2 -DBLOCKS=2 -DWORKERS=2
 * holds: -DLAG=0 -DDEPTH=2 -DCHAIN
 * holds: -DLAG=1 -DDEPTH=2 -DROUNDS=4
 * holds: -DLAG=1 -DDEPTH=3 -DROUNDS=4
 * holds: -DLAG=1 -DDEPTH=4 -DWORKERS=2 -DROUNDS=7
 * holds: -DLAG=1 -DDEPTH=4 -DCHAIN
 * holds: -DLAG=2 -DDEPTH=3 -DWORKERS=2
 * holds: -DLAG=2 -DDEPTH=6 -DWORKERS=2 -DROUNDS=9
 * holds: -DLAG=0 -DDEPTH=2 -DCLOCKS
 * holds: -DLAG=1 -DDEPTH=4 -DCLOCKS -DWORKERS=2 -DROUNDS=7
 * holds: -DLAG=2 -DDEPTH=6 -DCLOCKS -DWORKERS=2 -DROUNDS=9
 *
 * fails: -DLAG=1 -DDEPTH=4 -DREACH=1                            the lag is reached
 * fails: -DLAG=2 -DDEPTH=6 -DWORKERS=2 -DREACH=2
 * fails: -DLAG=1 -DDEPTH=4 -DCLOCKS -DREACH=-1                  and so is the lead
 * fails: -DLAG=2 -DDEPTH=6 -DWORKERS=2 -DCLOCKS -DREACH=-2
 * fails: -DLAG=0 -DDEPTH=1 -DREAD_EARLY                         reads wait for a round less
 * fails: -DLAG=0 -DDEPTH=2 -DREAD_EARLY -DCHAIN
 * fails: -DLAG=1 -DDEPTH=4 -DREAD_EARLY -DCHAIN
 * fails: -DLAG=1 -DDEPTH=4 -DREAD_EARLY -DCLOCKS
 * fails: -DLAG=0 -DDEPTH=1 -DWRITE_EARLY                        writes wait for a round less
 * fails: -DLAG=0 -DDEPTH=2 -DWRITE_EARLY -DCHAIN
 * fails: -DLAG=1 -DDEPTH=4 -DWRITE_EARLY -DCHAIN
 * fails: -DLAG=0 -DDEPTH=2 -DCOUNT_FIRST                        the count comes before the data
 * fails: -DLAG=0 -DDEPTH=1 -DSEEN_FIRST                         "has read" is said before reading
 * fails: -DLAG=0 -DDEPTH=1 -DONE_COUNT -DBLOCKS=2 -DWORKERS=2   one count at write_lag 0: deadlock
 * fails: -DLAG=1 -DDEPTH=3 -DCLOCKS                             a version too few for ssp
 * fails: -DLAG=1 -DDEPTH=4 -DCLOCKS -DNO_CAP                    a pin is not capped
 * fails: -DLAG=1 -DDEPTH=4 -DNO_PIN                             the newest version, looked up twice
 * fails: -DLAG=0 -DDEPTH=2 -DBLOCKS=2 -DWORKERS=2 -DFIRST_BLOCK waits for the first block only */
#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif
#ifndef ROUNDS
#define ROUNDS 5
#endif
#ifndef REACH
#define REACH 99
#endif
#ifdef READ_EARLY
#define READ_LAG (LAG + 1)
#else
#define READ_LAG LAG
#endif
#ifdef WRITE_EARLY
#define WRITE_LAG (DEPTH - LAG)
#else
#define WRITE_LAG (DEPTH - 1 - LAG)
#endif
#ifdef CLOCKS
#define TWO_PHASE false
#define AHEAD LAG
#else
#define TWO_PHASE (DEPTH == LAG + 1)
#define AHEAD 0
#endif

/* Whether a worker reads another's ranges: in a chain those of the one before. */
#ifdef CHAIN
#define READS(p, q) ((p) == (q) || (p) == (q) + 1)
#else
#define READS(p, q) true
#endif

#define RANGES     (WORKERS * BLOCKS)
#define SLOT(x, v) slot[(x) * DEPTH + (v) % DEPTH]
#define TORN       255
/* How many blocks a worker has finished when round v is over for all of them. */
#ifdef FIRST_BLOCK
#define ALL(v) (((v) - 1) * BLOCKS + 1)
#else
#define ALL(v) ((v) * BLOCKS)
#endif

byte done[WORKERS], seen[WORKERS]; /* blocks that have written, that have read */
byte slot[RANGES * DEPTH];         /* which version each slot holds */

inline wait_to_read() {
  for (q : 0 .. WORKERS - 1) {
    if
    :: q != me && READS(me, q) -> (done[q] >= ALL(a - 1 - READ_LAG))
    :: else
    fi
  }
}

inline wait_to_write(count) {
  for (q : 0 .. WORKERS - 1) {
    if
    :: q != me && READS(q, me) -> (count >= ALL(a - WRITE_LAG))
    :: else
    fi
  }
}

/* The newest finished version of a range that may be pinned. */
inline choose(x, version) {
  atomic {
    version = (done[(x) / BLOCKS] + BLOCKS - 1 - (x) % BLOCKS) / BLOCKS;
#ifndef NO_CAP
    if
    :: version > a - 1 + AHEAD -> version = a - 1 + AHEAD
    :: else
    fi;
    if
    :: x == me * BLOCKS + k -> version = a - 1 /* its own */
    :: else
    fi
#endif
  }
}

inline read(x) {
  choose(x, version);
  d_step {
    old = a - 1 - version;
    assert(old <= LAG && old >= -AHEAD);
    assert(x == me * BLOCKS + k || old != (REACH))
  }
  assert(SLOT(x, version) == version);
#ifdef NO_PIN
  other = version;
  choose(x, version);
  assert(version == other);
#endif
  assert(SLOT(x, version) == version)
}

inline read_all() {
  for (x : 0 .. RANGES - 1) {
    if
    :: READS(me, x / BLOCKS) -> read(x)
    :: else
    fi
  }
}

inline write_own() {
#ifdef COUNT_FIRST
  done[me]++;
#endif
  SLOT(me * BLOCKS + k, a) = TORN;
  SLOT(me * BLOCKS + k, a) = a;
#ifndef COUNT_FIRST
  done[me]++
#endif
}

proctype worker(byte me) {
  byte a, k, q, x, version, other;
  short old;
  for (a : 1 .. ROUNDS) {
    if
    :: TWO_PHASE ->
      for (k : 0 .. BLOCKS - 1) {
        wait_to_read();
#ifdef SEEN_FIRST
        seen[me]++;
#endif
        read_all();
#ifndef SEEN_FIRST
        seen[me]++
#endif
      }
      for (k : 0 .. BLOCKS - 1) {
#ifdef ONE_COUNT
        wait_to_write(done[q]);
#else
        wait_to_write(seen[q]);
#endif
        write_own()
      }
    :: else ->
      for (k : 0 .. BLOCKS - 1) {
        wait_to_read();
#ifndef CLOCKS
        wait_to_write(done[q]);
#endif
        read_all();
        write_own()
      }
    fi
  }
}

init {
  byte w;
  atomic {
    for (w : 0 .. WORKERS - 1) { run worker(w) }
  }
}
