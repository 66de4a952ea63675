/* SPDX-License-Identifier: MIT
 *
 * Model of posts (posting.c): workers in a ring make ROUNDS posts each, and then come to a meeting.
 * Before a post a worker waits for its neighbour to be no more than LAG posts behind. Who waits says
 * of how many posts it knows; who finds that all others are at the meeting, or wait knowing as many,
 * leaves, and so do all. SHORT: worker 0 makes fewer posts, as a wrong program has it, so that the
 * others wait in vain: they must leave, and not before none of them can go on.
 *
 * Lines for tools/model.sh: see csrc/sync/gate.pml.
 *
 * holds: -DROUNDS=3 -DLAG=0
 * holds: -DROUNDS=3 -DLAG=1
 * holds: -DROUNDS=4 -DLAG=0 -DSHORT=1
 * holds: -DROUNDS=4 -DLAG=1 -DSHORT=1
 * fails: -DROUNDS=4 -DLAG=0 -DSHORT=1 -DREACH      it is found out that nobody can go on
 * fails: -DROUNDS=4 -DLAG=0 -DLOOK_FIRST           it is looked before the posts are counted
 * fails: -DROUNDS=4 -DLAG=0 -DCOUNT_BEFORE         posts are counted before it is looked who waits
 * fails: -DROUNDS=4 -DLAG=0 -DSHORT=1 -DNO_SEEN    nobody says that it waits */
#ifndef WORKERS
#define WORKERS 3
#endif
#define NOBODY 99

byte count[WORKERS];         /* posts */
byte seen[WORKERS] = NOBODY; /* of how many posts it knows who waits */
bool met[WORKERS], left[WORKERS];

#define NEIGHBOUR(w) ((w + WORKERS - 1) % WORKERS)
#ifdef SHORT
#define LIMIT(w) (w == 0 -> SHORT : ROUNDS)
#else
#define LIMIT(w) ROUNDS
#endif
#define MAY(w) (count[NEIGHBOUR(w)] + LAG >= count[w])
#define CAN(w) (count[w] < LIMIT(w) && MAY(w))
#define ANY_LEFT (left[0] || left[1] || left[2])
#define TOTAL (count[0] + count[1] + count[2])
#define IS_STUCK(q) (q == w || met[q] || seen[q] == sum)

/* Counts all posts, one worker after the other. */
inline count_all(into) {
  into = 0;
  q = 0;
  do
  :: q == WORKERS -> break
  :: q < WORKERS -> into = into + count[q]; q++
  od
}

/* Looks at the others, one after the other: whether none of them can post any more. */
inline look_for_posts() {
  stuck = true;
  q = 0;
  do
  :: q == WORKERS -> break
  :: q < WORKERS -> stuck = stuck && IS_STUCK(q); q++
  od
}

proctype worker(byte w) {
  byte q, sum, now;
  bool may, stuck;
  do
  :: ANY_LEFT -> goto over
  :: count[w] == LIMIT(w) -> break
  :: count[w] < LIMIT(w) ->
#ifdef LOOK_FIRST
    may = MAY(w);
    count_all(sum);
#else
    count_all(sum);
    may = MAY(w);
#endif
    if
    :: may -> count[w]++
    :: !may ->
#ifndef NO_SEEN
      seen[w] = sum;
#endif
      do
      :: ANY_LEFT -> goto over
      :: !ANY_LEFT ->
#ifdef COUNT_BEFORE
        count_all(now);
        look_for_posts();
#else
        look_for_posts();
        count_all(now);
#endif
        if
        :: now != sum -> break
        :: now == sum
        fi;
        if
        :: stuck -> /* nobody goes on by itself: */
          atomic {
            assert(ANY_LEFT || !CAN(0) && !CAN(1) && !CAN(2));
#ifdef REACH
            assert(false);
#endif
            left[w] = true
          };
          goto over
        :: !stuck -> /* sleeps: each change wakes it */
          (TOTAL != sum || ANY_LEFT || IS_STUCK(0) && IS_STUCK(1) && IS_STUCK(2))
        fi
      od;
      seen[w] = NOBODY
    fi
  od;
  met[w] = true;
  /* Waits there for all, unless one leaves. */
  (ANY_LEFT || met[0] && met[1] && met[2]);
over:
  /* Who leaves comes to the meeting, too. */
  met[w] = true
}

init {
  atomic {
    run worker(0);
    run worker(1);
    run worker(2)
  }
}
