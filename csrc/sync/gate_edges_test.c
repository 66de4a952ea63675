/* SPDX-License-Identifier: MIT
 *
 * NOTIFY-ACK with one slot is what data-centric rounds with one version are where each edge of the
 * graph is a range: for all graphs of three replicas, and some of four, the same events are
 * possible at each moment that can be reached by either, so their sequences of events are the same.
 *
 * Both are held to NOTIFY-ACK as it is printed (Kadav, Kruus, "ASAP", section 4), told from
 * messages alone: one is used when all senders' have been posted, and acknowledged then; the next
 * one is posted when all receivers have acknowledged the last. Message 0, the initial value, is
 * there from the beginning. */
#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "sync/gate_open.h"

#define MOST   4u
#define ROUNDS 3u
#define EVENTS \
  (2 * ROUNDS) /* of a replica: each round it uses a message of each sender, and posts */

/* Who tells whom. */
typedef struct graph {
  uint32_t n;
  bool edge[MOST][MOST];
} graph;

/* A gate of a block for each replica, with a range for each replica or for each edge. */
static ms_gate *make_gate(const graph *g, const char *name, bool by_edge) {
  uint32_t owner[MOST], number[MOST][MOST], ranges = 0;
  uint32_t reads[MOST * MOST], writes[MOST * MOST];
  uint64_t read_first[MOST + 1] = {0}, write_first[MOST + 1] = {0};
  for (uint32_t from = 0; from < g->n; from++) {
    owner[from] = from;
    write_first[from + 1] = write_first[from];
    if (!by_edge) writes[write_first[from + 1]++] = ranges;
    for (uint32_t to = 0; to < g->n; to++) {
      if (!g->edge[from][to]) continue;
      number[from][to] = ranges;
      if (by_edge) writes[write_first[from + 1]++] = ranges++;
    }
    if (!by_edge) ranges++;
  }
  for (uint32_t to = 0; to < g->n; to++) {
    read_first[to + 1] = read_first[to];
    for (uint32_t from = 0; from < g->n; from++) {
      if (g->edge[from][to]) reads[read_first[to + 1]++] = number[from][to];
    }
  }
  ms_gate_sets sets = {.workers = g->n,
                       .blocks = g->n,
                       .ranges = ranges,
                       .owner = owner,
                       .read_first = read_first,
                       .reads = reads,
                       .write_first = write_first,
                       .writes = writes};
  ms_gate_setting setting;
  ms_error err = {0};
  CHECK(ms_gate_setting_find(name, 0, 1, &setting, &err) == 0);
  ms_gate *gate = ms_gate_new(&setting, &sets, &err);
  CHECK(gate != NULL);
  if (gate == NULL) abort();
  return gate;
}

/* A moment: how many events each replica is through. */
typedef struct moment {
  uint32_t at[MOST];
} moment;

static bool posts(const moment *now, uint32_t replica) {
  return now->at[replica] % 2 == 1;
}

static int64_t round_of(const moment *now, uint32_t replica) {
  return now->at[replica] / 2 + 1;
}

static bool by_gate(const ms_gate *gate, const moment *now, uint32_t replica) {
  uint64_t done[MOST] = {0}, seen[MOST] = {0};
  for (uint32_t w = 0; w < gate->workers; w++) {
    done[w] = now->at[w] / 2;
    seen[w] = (now->at[w] + 1) / 2;
  }
  return posts(now, replica)
             ? ms_gate_open(gate, MS_GATE_WRITE, replica, round_of(now, replica), seen)
             : ms_gate_open(gate, MS_GATE_READ, replica, round_of(now, replica), done);
}

/* By messages: which each has posted, and used, last. */
static bool as_printed(const graph *g, const moment *now, uint32_t replica) {
  int64_t message = round_of(now, replica);
  for (uint32_t other = 0; other < g->n; other++) {
    int64_t posted = now->at[other] / 2, used = (int64_t)((now->at[other] + 1) / 2) - 1;
    if (posts(now, replica) && g->edge[replica][other] && used < message - 1) return false;
    if (!posts(now, replica) && g->edge[other][replica] && posted < message - 1) return false;
  }
  return true;
}

static size_t number_of(const graph *g, const moment *now) {
  size_t number = 0;
  for (uint32_t r = 0; r < g->n; r++) number = number * (EVENTS + 1) + now->at[r];
  return number;
}

#define MOMENTS ((EVENTS + 1) * (EVENTS + 1) * (EVENTS + 1) * (EVENTS + 1))

/* Goes through all moments that can be reached. */
static void compare(const graph *g) {
  static bool known[MOMENTS];
  static moment list[MOMENTS];
  ms_gate *messages = make_gate(g, "notify-ack", false);
  ms_gate *ranges = make_gate(g, "data-centric", true);
  size_t count = 1, different = 0, stuck = 0, ended = 0;
  memset(known, 0, sizeof known);
  list[0] = (moment){{0}};
  for (size_t k = 0; k < count; k++) {
    uint32_t possible = 0, over = 0;
    for (uint32_t r = 0; r < g->n; r++) {
      moment next = list[k];
      over += next.at[r] == EVENTS;
      if (next.at[r] == EVENTS) continue;
      bool may = as_printed(g, &next, r);
      different += by_gate(messages, &next, r) != may || by_gate(ranges, &next, r) != may;
      if (!may) continue;
      possible++;
      next.at[r]++;
      bool *is_known = &known[number_of(g, &next)];
      if (!*is_known) list[count++] = next;
      *is_known = true;
    }
    stuck += possible == 0 && over < g->n;
    ended += over == g->n;
  }
  CHECK(different == 0 && stuck == 0 && ended == 1);
  ms_gate_destroy(&messages);
  ms_gate_destroy(&ranges);
}

/* The graph whose edges are the bits of a number. */
static graph graph_of(uint32_t n, uint32_t bits) {
  graph made = {.n = n};
  for (uint32_t from = 0; from < n; from++) {
    for (uint32_t to = 0; to < n; to++) {
      if (from == to) continue;
      made.edge[from][to] = (bits & 1) != 0;
      bits >>= 1;
    }
  }
  return made;
}

int main(void) {
  ms_test_limit(60);
  for (uint32_t bits = 0; bits < 64; bits++) {
    graph of_three = graph_of(3, bits);
    compare(&of_three);
  }
  for (uint32_t k = 0; k < 200; k++) {
    graph of_four = graph_of(4, k * 2654435761u >> 20);
    compare(&of_four);
  }
  return ms_test_end();
}
