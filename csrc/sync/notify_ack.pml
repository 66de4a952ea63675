/* SPDX-License-Identifier: MIT
 *
 * Model of NOTIFY-ACK with SLOTS slots on a directed cycle of workers, one of which is declared dead
 * at any moment, rightly or, by a time-out, wrongly. Its successor has the next incarnation and goes
 * on behind what is durable; the old one may still run, and send. In each round a worker posts its
 * message to the next one, waits for that of the one before it, makes durable what it has used,
 * and acknowledges. The sender keeps a message until it is acknowledged.
 *
 * Lines for tools/model.sh: see csrc/sync/gate.pml.
 *
 * holds: -DSLOTS=1
 * holds: -DSLOTS=2
 * holds: -DSLOTS=2 -DWORKERS=2 -DROUNDS=5
 * fails: -DSLOTS=1 -DREACH                     an acknowledgement of an old incarnation does come late
 * fails: -DSLOTS=1 -DOLD_ACK                   and is believed
 * fails: -DSLOTS=2 -DOLD_ACK
 * fails: -DSLOTS=1 -DOLD_POST                  a message of an old incarnation is believed
 * fails: -DSLOTS=1 -DWAIT_FIRST                waits before it posts: the cycle stands still
 * fails: -DSLOTS=1 -DNO_HELLO                  the new one does not say what is durable
 * fails: -DSLOTS=1 -DONE_MORE                  posts into a slot that is not acknowledged
 * fails: -DSLOTS=2 -DONE_MORE
 * fails: -DSLOTS=1 -DACK_FIRST                 acknowledges before it is durable */
#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifdef ONE_MORE
#define NEEDED (a - SLOTS - 1)
#else
#define NEEDED (a - SLOTS)
#endif
#define BEFORE ((w + WORKERS - 1) % WORKERS)
#define FENCED (incarnation != current[w])
#define SLOT(q, round) slot[(q) * SLOTS + (round) % SLOTS]

byte current[WORKERS];           /* incarnation that is not fenced */
byte durable[WORKERS];           /* the last round whose result survives */
byte posted[WORKERS];            /* the last round whose message is there */
byte acked[WORKERS];             /* the last round that the next worker has acknowledged, as believed */
byte slot[WORKERS * SLOTS];      /* which round's message is kept */
chan acks[WORKERS * 2] = [ROUNDS + 2] of { byte }; /* of worker and incarnation: rounds, on the way */

inline post() {
  if
  :: FENCED -> goto over
  :: acked[w] >= NEEDED
  fi;
  atomic { /* sent, and accepted or not */
    if
#ifdef OLD_POST
    :: true ->
#else
    :: !FENCED ->
#endif
      SLOT(w, a) = a;
      if
      :: posted[w] < a -> posted[w] = a
      :: else
      fi
#ifndef OLD_POST
    :: else
#endif
    fi
  }
}

inline wait_and_use() {
  if
  :: FENCED -> goto over
  :: posted[BEFORE] >= a
  fi;
  assert(FENCED || SLOT(BEFORE, a) == a);
#ifdef ACK_FIRST
  acks[w * 2 + incarnation]!a;
#endif
  atomic { /* what a fenced one makes durable is not accepted */
    if
    :: !FENCED -> assert(durable[w] == a - 1); durable[w] = a
    :: else
    fi
  }
}

proctype worker(byte w; byte incarnation; byte first) {
  byte a;
#ifndef NO_HELLO
  if
  :: incarnation > 0 -> acks[w * 2 + incarnation]!first - 1
  :: else
  fi;
#endif
  for (a : first .. ROUNDS) {
#ifdef WAIT_FIRST
    wait_and_use();
    post();
#else
    post();
    wait_and_use();
#endif
#ifndef ACK_FIRST
    acks[w * 2 + incarnation]!a
#endif
  }
over:
  skip
}

inline believe(from) {
  if
  :: round > acked[(from + WORKERS - 1) % WORKERS] -> acked[(from + WORKERS - 1) % WORKERS] = round
  :: else
  fi
}

/* Takes a worker's acknowledgements for the one before it. */
proctype listener(byte w) {
  byte round;
end:
  do
  :: atomic { acks[w * 2]?round ->
#ifdef REACH
       assert(current[w] == 0 || round <= durable[w]);
#endif
       if
#ifndef OLD_ACK
       :: current[w] != 0 /* late: frees nothing */
#endif
       :: else -> believe(w)
       fi
     }
  :: atomic { acks[w * 2 + 1]?round -> believe(w) }
  od
}

/* Declares worker 0 dead, at some moment. */
active proctype driver() {
  atomic {
    current[0] = 1;
    run worker(0, 1, durable[0] + 1)
  }
}

init {
  byte w;
  atomic {
    for (w : 0 .. WORKERS - 1) {
      run worker(w, 0, 1);
      run listener(w)
    }
  }
}
