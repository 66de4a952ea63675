/* SPDX-License-Identifier: MIT
 *
 * A worker that exchanges changes with workers that are played here: changes that come too early
 * are kept, who does not listen is not flooded, and who breaks the rules ends the job, not the
 * worker. */
#include "worker/exchange.h"

#include <stdlib.h>

#include "base/test.h"
#include "job/report.h"
#include "job/task.h"
#include "worker/fake_driver.h"
#include "worker/worker.h"

#define WORKERS 3
#define WAIT    5000 /* ms for what must come */
#define SILENCE 200  /* ms in which something that must not come would have come */

/* The worker: a block sets its own element to 100 + block and reports all of the array. A job that
 * says so has blocks that take longer than a hand-over. */
static int run_block(ms_worker *worker, uint32_t block, ms_error *err) {
  bool dense;
  int64_t *values = ms_worker_operand(worker, 0, &dense);
  size_t size = ms_operand_bytes(&ms_worker_task(worker)->operands[0]);
  values[block] = 100 + block;
  if (ms_worker_task(worker)->run_size > 0) usleep(40000);
  return ms_worker_block_done(worker, values, size, err);
}

static int serve(int channel) {
  return serve_blocks(channel, run_block);
}

typedef struct player {
  void *inbox, *socket;
  char address[MS_ADDRESS_SIZE];
  ms_link out, in;
} player;

static bench b;
static player players[WORKERS]; /* number 0 is the worker itself */
static uint64_t job;

static void open_players(void) {
  ms_peer peers[WORKERS] = {{.incarnation = 1}};
  ms_error err = {0};
  snprintf(peers[0].identity, sizeof peers[0].identity, "%s", b.setup.identity);
  for (uint32_t w = 1; w < WORKERS; w++) {
    char where[MS_ADDRESS_SIZE + 16];
    snprintf(where, sizeof where, "ipc://%s/p%u", b.directory.path, w);
    snprintf(peers[w].identity, sizeof peers[w].identity, "player%u", w);
    peers[w].incarnation = 1;
    ms_socket_options inbox = {.receive_limit = 0}, out = {.identity = peers[w].identity};
    player *p = &players[w];
    p->inbox = ms_socket_bind(b.context, &inbox, where, p->address, &err);
    p->socket = ms_socket_connect(b.context, &out, b.hello.address, &err);
    CHECK(p->inbox != NULL && p->socket != NULL);
    p->out = (ms_link){.socket = p->socket, .sender = w, .incarnation = 1};
    snprintf(peers[w].address, sizeof peers[w].address, "%s", p->address);
  }
  ms_frame frame = {.kind = MS_SAY_PEERS, .a = {WORKERS}};
  CHECK(ms_link_send(&b.link, frame, peers, sizeof peers, &err) == 0);
}

static void close_players(void) {
  for (uint32_t w = 1; w < WORKERS; w++) {
    ms_socket_close(&players[w].socket);
    ms_socket_close(&players[w].inbox);
  }
}

/* Begins a job on an array of zeros with an element for each block; `heavy` ones or light ones. */
static void begin(ms_grid grid, const ms_owner *owner, bool heavy) {
  ms_text text = {0};
  ms_error err = {0};
  job++;
  ms_operand operand = {.id = job, /* a copy that nobody has had before */
                        .movement = MS_MOVE_EXCHANGED,
                        .written = 1,
                        .element = 8,
                        .dim_count = 1,
                        .dims = {ms_grid_blocks(&grid)},
                        .strides = {1},
                        .writes = {.high = {ms_grid_blocks(&grid)}}};
  ms_task task = {.grid = grid,
                  .workers = WORKERS,
                  .range_owner = owner,
                  .operand_count = 1,
                  .operands = &operand,
                  .key = "k",
                  .key_size = 1,
                  .run = "heavy",
                  .run_size = heavy ? 5 : 0};
  ms_task_write(&task, &text);
  ms_frame frame = {.kind = MS_SAY_TASK, .job = job, .a = {text.length, 0, 0}};
  CHECK(!text.failed && ms_link_send(&b.link, frame, text.bytes, text.length, &err) == 0);
  ms_text_free(&text);
}

static void say(uint32_t player_number, ms_frame_kind kind, uint64_t a0, uint64_t a1,
                const void *payload, size_t size) {
  ms_error err = {0};
  ms_frame frame = {.kind = (uint16_t)kind, .job = job, .a = {a0, a1}};
  CHECK(ms_link_send(&players[player_number].out, frame, payload, size, &err) == 0);
}

/* A player's `block` has set an element. */
static void change(uint32_t player_number, uint64_t block, int64_t element, int64_t value) {
  int64_t run[3] = {element, 1, value};
  say(player_number, MS_SAY_RUNS, 0, block, run, sizeof run);
}

static void finish(uint32_t player_number, uint64_t block) {
  say(player_number, MS_SAY_TOKEN, block, 0, NULL, 0);
}

/* The next frame of the present job that the worker sends to a player. */
static int hear(uint32_t player_number, ms_frame *frame, int wait) {
  player *p = &players[player_number];
  ms_poll_item operand = {.socket = p->inbox};
  char from[MS_IDENTITY_SIZE];
  ms_message message;
  while (ms_socket_poll(&operand, 1, wait, NULL) > 0) {
    if (ms_socket_receive(p->inbox, from, &message) <= 0) continue;
    const char *wrong =
        ms_frame_read(frame, ms_message_data(&message), ms_message_size(&message), MS_TO_PEER);
    ms_message_close(&message);
    ms_error err = {0};
    CHECK(wrong == NULL && ms_link_receive(&p->in, frame, false, &err) == 1);
    if (frame->job == job) return 1;
  }
  return 0;
}

static int hear_token(uint32_t player_number, uint64_t block) {
  ms_frame frame;
  while (hear(player_number, &frame, WAIT)) {
    if (frame.kind == MS_SAY_TOKEN && frame.a[0] == block) return 1;
  }
  return 0;
}

/* What the job has returned: the array, each block's view of it, and how it ended. */
typedef struct ending {
  int64_t array[16], seen[16][16];
  uint64_t blocks, code; /* code: of FAILED, UINT64_MAX none */
  bool done;
} ending;

static ending end_of_job(void) {
  static char payload[MS_FRAME_PAYLOAD];
  ending result = {.code = UINT64_MAX};
  ms_frame frame;
  while (!result.done && receive(&b, &frame, payload, sizeof payload, WAIT)) {
    if (frame.job != job) continue;
    if (frame.kind == MS_SAY_FAILED) result.code = frame.a[1];
    if (frame.kind == MS_SAY_DATA && frame.a[3] * 8 + frame.size <= sizeof result.array) {
      memcpy((char *)result.array + frame.a[3] * 8, payload, (size_t)frame.size);
    }
    if (frame.kind != MS_SAY_DONE) continue;
    result.done = true;
    result.blocks = frame.a[3];
    ms_record record;
    for (size_t at = 0; ms_report_next(payload, (size_t)frame.size, &at, &record) > 0;) {
      if (record.block >= 16 || record.size > sizeof result.seen[0]) continue;
      memcpy(result.seen[record.block], record.bytes, (size_t)record.size);
    }
  }
  return result;
}

/* Rotation, 3 x 3: the worker has blocks 8, 6, 7, player 1 has 4, 5, 3 and player 2 has 0, 1, 2.
 * The worker's 7 follows 1, which follows player 1's 4. */
static const ms_grid rotation = {.strategy = MS_ROTATE, .count = 2, .ranges = {3, 3}};
static const ms_owner rotation_owner[] = {{2, MS_WHOLE}, {1, MS_WHOLE}, {0, MS_WHOLE}};

static void play_rotation(bool early) {
  begin(rotation, rotation_owner, false);
  change(2, 0, 0, 1000);
  finish(2, 0);
  if (!early) {
    change(1, 4, 4, 1);
    finish(1, 4);
  }
  change(2, 1, 4, 2); /* over what 4 writes */
  change(2, 1, 1, 1001);
  finish(2, 1);
  if (early) {
    ms_frame frame;
    CHECK(hear_token(1, 6));
    CHECK(!hear(1, &frame, SILENCE)); /* 7 waits: 1 is here, but not what came before it */
    change(1, 4, 4, 1);
    finish(1, 4);
  }
  CHECK(hear_token(1, 7) && hear_token(2, 7));
  change(1, 3, 3, 1003); /* 5 as well: nobody had to wait for it alone */
  finish(1, 3);
  finish(2, 2);
  ending got = end_of_job();
  CHECK(got.done && got.code == UINT64_MAX && got.blocks == 3);
  static const int64_t at_end[9] = {1000, 1001, 0, 1003, 2, 0, 106, 107, 108};
  CHECK(memcmp(got.array, at_end, sizeof at_end) == 0);
  static const int64_t at_7[9] = {1000, 1001, 0, 0, 2, 0, 106, 107, 108};
  CHECK(memcmp(got.seen[7], at_7, sizeof at_7) == 0);
  CHECK(got.seen[6][0] == 1000 && got.seen[6][6] == 106 && got.seen[6][8] == 108);
  CHECK(!early || (got.seen[6][1] == 0 && got.seen[6][4] == 0));
}

static uint32_t count_frames(uint32_t player_number) {
  ms_frame frame;
  uint32_t count = 0;
  while (hear(player_number, &frame, SILENCE)) count++;
  return count;
}

/* The first range of a wavefront waits for nobody: the worker could run to its end. */
static void play_window(void) {
  ms_grid grid = {.strategy = MS_WAVEFRONT, .count = 2, .ranges = {2, 40}};
  static const ms_owner owner[] = {{0, MS_WHOLE}, {1, MS_WHOLE}};
  begin(grid, owner, true);
  CHECK(count_frames(1) == MS_EXCHANGE_WINDOW);
  say(1, MS_SAY_CREDIT, 1000, 0, NULL, 0); /* more than it has sent */
  CHECK(count_frames(1) == 0);
  say(1, MS_SAY_CREDIT, 10, 0, NULL, 0);
  CHECK(count_frames(1) == 10);
  say(1, MS_SAY_CREDIT, 10, 0, NULL, 0);
  CHECK(count_frames(1) == 0);
  say(1, MS_SAY_CREDIT, 42, 0, NULL, 0);
  CHECK(count_frames(1) == MS_EXCHANGE_WINDOW);
  ms_error err = {0};
  ms_frame cancel = {.kind = MS_SAY_CANCEL, .job = job};
  CHECK(ms_link_send(&b.link, cancel, NULL, 0, &err) == 0);
  ending got = end_of_job();
  CHECK(got.done && got.blocks < 40);
}

/* Light blocks that all hand over to one worker do so together, heavy ones each. */
static void play_batches(bool heavy) {
  ms_grid grid = {.strategy = MS_WAVEFRONT, .count = 2, .ranges = {2, 8}};
  static const ms_owner owner[] = {{0, MS_WHOLE}, {1, MS_WHOLE}};
  ms_frame frame = {0};
  uint32_t tokens = 0;
  begin(grid, owner, heavy);
  while (!(frame.kind == MS_SAY_TOKEN && frame.a[0] == 7) && hear(1, &frame, WAIT)) {
    tokens += frame.kind == MS_SAY_TOKEN;
  }
  CHECK(frame.a[0] == 7 && (heavy ? tokens == 8 : tokens <= 2));
  for (uint64_t block = 8; block < 16; block++) {
    change(1, block, (int64_t)block, 7);
    finish(1, block);
  }
  ending got = end_of_job();
  CHECK(got.done && got.blocks == 8 && got.code == UINT64_MAX);
}

/* A player's frames are acknowledged as they are applied. */
static void play_credit(void) {
  ms_grid grid = {.strategy = MS_WAVEFRONT, .count = 2, .ranges = {2, 8}};
  static const ms_owner owner[] = {{1, MS_WHOLE}, {0, MS_WHOLE}};
  ms_frame frame;
  begin(grid, owner, false);
  for (uint64_t block = 0; block < 8; block++) {
    change(1, block, (int64_t)block, 7);
    finish(1, block);
  }
  uint64_t credit = 0;
  while (credit < 16 && hear(1, &frame, WAIT)) {
    if (frame.kind == MS_SAY_CREDIT) credit = frame.a[0];
  }
  CHECK(credit == 16);
  ending got = end_of_job();
  CHECK(got.done && got.blocks == 8 && got.code == UINT64_MAX);
  for (int i = 0; i < 16; i++) CHECK(got.array[i] == (i < 8 ? 7 : 100 + i));
}

/* What no worker would send ends the job with MS_NET. */
static void play_foul(int kind) {
  static const int64_t beyond[3] = {8, 2, 0}, negative[3] = {-1, 1, 0}, hollow[3] = {0, 4, 0};
  begin(rotation, rotation_owner, false);
  switch (kind) {
    case 0: /* somebody else's block */
      finish(1, 0);
      break;
    case 1: /* no block at all */
      finish(1, UINT64_MAX);
      break;
    case 2: /* twice */
      finish(2, 0);
      finish(2, 0);
      break;
    case 3: /* backwards: 4 comes before 3 */
      finish(2, 0);
      finish(1, 5);
      finish(1, 4);
      finish(2, 1);
      break;
    case 4:
      say(2, MS_SAY_RUNS, 1, 0, beyond, sizeof beyond);
      break;
    case 5:
      say(2, MS_SAY_RUNS, 0, 0, beyond, sizeof beyond);
      break;
    case 6:
      say(2, MS_SAY_RUNS, 0, 0, negative, sizeof negative);
      break;
    case 7:
      say(2, MS_SAY_RUNS, 0, 0, hollow, sizeof hollow);
      break;
    case 8: /* values of what has no lists */
      say(2, MS_SAY_VALUES, 0, 0, beyond, sizeof beyond);
      break;
    default: /* more than can be kept: 1 cannot be applied before 4 */
      finish(2, 0);
      for (int i = 0; i <= (int)MS_EXCHANGE_WINDOW; i++) change(2, 1, 1, i);
      break;
  }
  ending got = end_of_job();
  CHECK(got.done && got.code == MS_NET);
}

int main(void) {
  ms_test_limit(100);
  if (!set_up(&b, WORKERS, 0, serve)) return ms_test_end();
  open_players();
  play_rotation(false);
  play_rotation(true);
  play_window();
  play_credit();
  play_batches(false);
  play_batches(true);
  for (int kind = 0; kind < 10; kind++) {
    play_foul(kind);
    play_rotation(kind % 2 == 0);
  }
  close_players();
  tear_down(&b);
  return ms_test_end();
}
