/* SPDX-License-Identifier: MIT
 *
 * The driver's road (net/road.h): the one place where it sleeps, and what wakes it: frames of
 * workers, the ends of their channels, Ctrl-C. What workers have finished it sees on the status
 * page.
 *
 * A wait finds out what is ready; letters are then taken from one after the other. Whatever a
 * letter makes of a member, replaced it may be, its descriptors tell whether an item is still its
 * own. */
#include "driver/session_road.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "driver/interrupt.h"
#include "driver/session_state.h"
#include "driver/session_wait.h"
#include "net/channel.h"
#include "net/context.h"

/* Most frames taken from one before the others, deaths and interrupts are looked at again. */
#define FRAMES_A_TURN 64u

#define DRAIN_FRAMES 1024u /* most of a dead worker's last ones */
#define DRAIN_WAIT   5     /* ms without a frame after which none is expected */

#define QUEUE_LIMIT 256 /* more than a link's window */

/* Descriptors of a session: its page, directory and arrays; and of each worker's process, channel,
 * lane and connection. */
#define A_SESSION 8
#define A_WORKER  4

static ms_link *session_send(void *end, uint32_t number, ms_error *err) {
  (void)err;
  ms_session *session = end;
  return &session->members[number].link;
}

static void session_publish(void *end, uint32_t number, ms_status which, uint64_t value) {
  ms_session *session = end;
  ms_status_page_publish(&session->page[number], which, value);
}

static uint64_t session_status(const void *end, uint32_t number, ms_status which) {
  const ms_session *session = end;
  return ms_status_page_status(&session->page[number], which);
}

static void session_wake(void *end, uint32_t number) {
  ms_session *session = end;
  ms_status_page_ring(&session->page[number]);
}

static char *session_shelf(const void *end, uint32_t number) {
  const ms_session *session = end;
  return ms_status_page_shelf(session->page, session->config.workers, number);
}

static void session_clear_shelf(void *end, uint32_t number, size_t used) {
  ms_session *session = end;
  ms_status_page_clear_shelf(session->page, session->config.workers, number, used);
}

/* ------------------------------------------------------------------------------- sleeping */

/* ms until then; -1: for ever. */
static int timeout_until(uint64_t until) {
  if (until == 0) return -1;
  uint64_t now = ms_clock_now();
  return until <= now ? 0 : (int)((until - now) / MS_MILLISECOND) + 1;
}

static void add(ms_polled *polled, ms_poll_item item, uint32_t member) {
  polled->member[polled->count] = member;
  polled->items[polled->count++] = item;
}

static int session_wait(void *end, const ms_awaited *what, ms_error *err) {
  ms_session *session = end;
  ms_polled *polled = &session->polled;
  polled->count = polled->at = 0;
  polled->turn = polled->ending = 0;
  if (session->router != NULL) {
    add(polled, (ms_poll_item){.socket = session->router}, 0);
  }
  for (uint32_t i = 0; i < session->config.workers; i++) {
    const ms_worker_handle *member = &session->members[i];
    if (member->channel < 0) continue;
    add(polled, (ms_poll_item){.fd = member->channel}, i);
    if (member->lane > 0) add(polled, (ms_poll_item){.fd = member->lane}, i);
  }
  int count = polled->count;
  if (polled->interrupt >= 0 && !ms_interrupt_seen()) {
    polled->items[count++] = (ms_poll_item){.fd = polled->interrupt};
  }
  int ready = ms_socket_poll(polled->items, count, timeout_until(what->until), err);
  if (ready <= 0) polled->count = 0;
  return ready < 0 ? -1 : 0;
}

/* ------------------------------------------------------------------------------- taking */

static ms_worker_handle *find(ms_session *session, const char *identity) {
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (member->channel >= 0 && strcmp(member->peer.identity, identity) == 0) return member;
  }
  return NULL;
}

/* A letter of those that come over the router. */
static int take_routed(ms_session *session, uint32_t most, ms_letter *letter, ms_error *err) {
  while (session->polled.turn < most) {
    char identity[MS_IDENTITY_SIZE];
    int got = ms_socket_receive(session->router, identity, &letter->message);
    if (got == 0) return 0;
    session->polled.turn++;
    if (got < 0) continue;
    const ms_worker_handle *member = find(session, identity);
    int accepted = 0;
    letter->held = true;
    if (member != NULL) {
      letter->from = member->number;
      accepted = ms_session_wait_accept(session, letter, ms_message_data(&letter->message),
                                        ms_message_size(&letter->message), err);
    }
    if (accepted > 0) return 1;
    ms_letter_close(letter);
    if (accepted < 0) return -1;
  }
  return 0;
}

static int tell_end(ms_letter *letter, const ms_worker_handle *member) {
  letter->from = member->number;
  letter->ended = true;
  letter->held = false;
  ms_error_clear(&letter->trouble);
  return 1;
}

/* A letter of a worker's lane. */
static int take_lane(ms_session *session, const ms_worker_handle *member, uint32_t most,
                     ms_letter *letter, ms_error *err) {
  while (session->polled.turn < most) {
    size_t size = ms_link_receive_lane(member->lane, session->lane_room);
    if (size == 0) return 0;
    session->polled.turn++;
    letter->from = member->number;
    letter->held = false;
    int accepted = ms_session_wait_accept(session, letter, session->lane_room, size, err);
    if (accepted != 0) return accepted;
  }
  return 0;
}

/* The same; its end is the worker's, whatever else it does. Of one that never came up the channel
 * tells more. */
static int take_lane_or_end(ms_session *session, const ms_worker_handle *member, ms_letter *letter,
                            ms_error *err) {
  int got = take_lane(session, member, FRAMES_A_TURN, letter, err);
  if (got != 0 || session->polled.turn > 0) return got;
  if (!member->up || !ms_channel_ended(member->lane)) return 0;
  tell_end(letter, member);
  ms_error_set(&letter->trouble, MS_NET, "it has closed its lane");
  return 1;
}

/* What a dead worker had sent and is still on its way. */
static int drain(ms_session *session, const ms_worker_handle *member, ms_letter *letter,
                 ms_error *err) {
  if (session->run == NULL || member->part == MS_PART_NONE) return 0;
  if (member->lane > 0) return take_lane(session, member, DRAIN_FRAMES, letter, err);
  ms_poll_item router = {.socket = session->router};
  while (session->polled.turn < DRAIN_FRAMES && ms_socket_poll(&router, 1, DRAIN_WAIT, NULL) > 0) {
    int got = take_routed(session, DRAIN_FRAMES, letter, err);
    if (got != 0) return got;
  }
  return 0;
}

/* Whether a worker's channel has come to its end; an error: it is of another build. */
static int look_at_channel(const ms_worker_handle *member, ms_error *err) {
  ms_refusal refusal;
  int fd;
  long got = ms_channel_receive(member->channel, &refusal, sizeof refusal, &fd, 0, NULL);
  if (fd >= 0) close(fd);
  if (got == (long)sizeof refusal && !member->up && refusal.magic == MS_FRAME_MAGIC) {
    refusal.abi[sizeof refusal.abi - 1] = '\0';
    return ms_frame_abi_check(refusal.protocol, refusal.abi, member->number, err);
  }
  return got == 0;
}

/* The letters of a worker whose channel has ended, of which the last says that. */
static int take_channel(ms_session *session, const ms_worker_handle *member, ms_letter *letter,
                        ms_error *err) {
  ms_polled *polled = &session->polled;
  if (polled->ending == 0) {
    int ended = look_at_channel(member, err);
    if (ended <= 0) return ended;
    polled->ending = member->incarnation;
  }
  if (member->incarnation != polled->ending) return 0; /* noticed meanwhile */
  int got = drain(session, member, letter, err);
  if (got != 0) return got;
  polled->at++;
  polled->turn = polled->ending = 0;
  return tell_end(letter, member);
}

static int session_take(void *end, ms_letter *letter, ms_error *err) {
  ms_session *session = end;
  ms_polled *polled = &session->polled;
  for (; polled->at < polled->count; polled->at++, polled->turn = polled->ending = 0) {
    const ms_poll_item *item = &polled->items[polled->at];
    const ms_worker_handle *member = &session->members[polled->member[polled->at]];
    int got = 0;
    if (!item->ready) continue;
    if (item->socket != NULL) {
      got = take_routed(session, FRAMES_A_TURN, letter, err);
    } else if (member->lane > 0 && member->lane == item->fd) {
      got = take_lane_or_end(session, member, letter, err);
    } else if (member->channel >= 0 && member->channel == item->fd) {
      got = take_channel(session, member, letter, err);
    }
    if (got != 0) return got;
  }
  return 0;
}

const ms_road ms_session_road = {.send = session_send,
                                 .take = session_take,
                                 .publish = session_publish,
                                 .status = session_status,
                                 .shelf = session_shelf,
                                 .clear_shelf = session_clear_shelf,
                                 .wait = session_wait,
                                 .wake = session_wake,
                                 .now = ms_clock_now};

/* ------------------------------------------------------------------------------- its life */

/* Binds the router of frames that do not go by lanes. The gatekeeper comes before the first bind.
 */
static int open_router(ms_session *session, ms_error *err) {
  bool tcp = session->config.tcp;
  uint32_t descriptors = A_SESSION + A_WORKER * session->config.workers;
  if (ms_session_has_lanes(session)) {
    if (ms_context_descriptors(descriptors, err) != 0) return -1;
    return ms_directory_make(&session->directory, err);
  }
  session->context = ms_context_new(descriptors, tcp, err);
  if (session->context == NULL) return -1;
  char address[MS_DIRECTORY_SIZE + 32];
  if (tcp) {
    if (ms_curve_keys_make(&session->keys, err) != 0) return -1;
    session->zap = ms_zap_start(session->context, &session->keys, err);
    if (session->zap == NULL) return -1;
    snprintf(address, sizeof address, "tcp://127.0.0.1:*");
  } else {
    if (ms_directory_make(&session->directory, err) != 0) return -1;
    snprintf(address, sizeof address, "ipc://%s/driver", session->directory.path);
  }
  ms_socket_options options = {
      .keys = tcp ? &session->keys : NULL, .receive_limit = QUEUE_LIMIT, .mandatory = true};
  session->router = ms_socket_bind(session->context, &options, address, session->address, err);
  return session->router == NULL ? -1 : 0;
}

int ms_session_road_open(ms_session *session, ms_error *err) {
  uint32_t workers = session->config.workers;
  size_t items = 2 * (size_t)workers + 2;
  session->polled = (ms_polled){.items = calloc(items, sizeof *session->polled.items),
                                .member = calloc(items, sizeof *session->polled.member),
                                .interrupt = -1};
  bool lanes = ms_session_has_lanes(session);
  if (lanes) session->lane_room = malloc(MS_CHANNEL_LIMIT);
  if (session->polled.items == NULL || session->polled.member == NULL ||
      (lanes && session->lane_room == NULL)) {
    return ms_error_memory(err, MS_WRK, "%u workers", workers);
  }
  if (open_router(session, err) != 0) return -1;
  session->page = ms_status_page_make(workers, &session->page_fd, err);
  return session->page == NULL ? -1 : 0;
}

void ms_session_road_close(ms_session *session) {
  ms_context_shut(session->context);
  ms_zap_join(&session->zap);
  ms_socket_close(&session->router);
  ms_context_end(&session->context);
  ms_directory_remove(&session->directory);
  ms_status_page_unmap(session->page, session->config.workers);
  if (session->page_fd >= 0) close(session->page_fd);
  free(session->polled.items);
  free(session->polled.member);
  free(session->lane_room);
  explicit_bzero(&session->keys, sizeof session->keys);
}
