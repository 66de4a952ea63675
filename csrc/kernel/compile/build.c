/* SPDX-License-Identifier: MIT
 *
 * Build: see build.h.
 *
 * One lock guards all that is static here and every build's fields but those that are fixed when it
 * is made. It is never held while something is read, written or run. */
#include "kernel/compile/build.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/trace.h"
#include "kernel/compile/cache.h"
#include "kernel/compile/compile.h"

#define STACK    (256 * 1024)
#define FAREWELL 0.1 /* seconds that a running compiler gets at the end of the process */

struct ms_build {
  ms_text text; /* fixed, like the next three */
  bool fast;
  char key[MS_DIGEST_SIZE + 1];
  ms_toolchain toolchain;
  uint32_t references;
  ms_build_state state;
  double due;
  ms_build *next; /* in the queue */
  ms_text object;
  ms_error trouble;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* something was queued, or a build has ended */
static pthread_t thread;
static bool prepared, serving; /* the condition is there; the thread is */
static bool closing;
static double closed;             /* when that was */
static ms_build *queue, *running; /* the queue holds no references */
static ms_cache cache = {.fd = -1};
static bool opened;
static ms_error opening, notice;
static uint32_t serial; /* numbers compilers' files */

static double seconds(void) {
  return (double)ms_clock_now() * 1e-9;
}

/* On the clock. */
static uint64_t at_time(double when) {
  return (uint64_t)(when * 1e9);
}

static void destroy(ms_build *build) {
  ms_toolchain_free(&build->toolchain);
  ms_text_free(&build->text);
  ms_text_free(&build->object);
  free(build);
}

/* Under the lock. */
static void release(ms_build *build) {
  if (--build->references == 0) destroy(build);
}

/* ---- the process: its condition, its children, its end ---- */

static void before_fork(void) {
  pthread_mutex_lock(&lock);
}

static void after_fork(void) {
  pthread_mutex_unlock(&lock);
}

/* The child has no thread, and its parent's private directory goes with the parent. */
static void in_child(void) {
  for (; queue != NULL; queue = queue->next) queue->state = MS_BUILD_IDLE;
  if (running != NULL) {
    running->state = MS_BUILD_IDLE;
    release(running);
    running = NULL;
  }
  serving = closing = opened = false;
  if (cache.fd >= 0) close(cache.fd);
  if (cache.private.path[0] != '\0') close(cache.private.lock);
  cache = (ms_cache){.fd = -1};
  ms_clock_condition(&changed);
  pthread_mutex_unlock(&lock);
}

static void leave(void) {
  pthread_mutex_lock(&lock);
  bool join = serving;
  closing = true;
  closed = seconds();
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  if (join) pthread_join(thread, NULL);
  pthread_mutex_lock(&lock);
  serving = opened = false;
  ms_cache_close(&cache);
  pthread_mutex_unlock(&lock);
}

/* Under the lock: opens the cache, once; again in a forked child. */
static int prepare(ms_error *err) {
  if (!prepared) {
    ms_clock_condition(&changed);
    pthread_atfork(before_fork, after_fork, in_child);
    atexit(leave);
    prepared = true;
  }
  if (!opened) {
    ms_error_clear(&opening);
    opened = true;
    ms_cache_open_usual(&cache, &notice, &opening);
  }
  return cache.fd >= 0 ? 0 : ms_error_set(err, MS_OPT, "%s", opening.message);
}

/* ---- compiling ---- */

static bool is_closing(void *context) {
  (void)context;
  pthread_mutex_lock(&lock);
  bool stop = closing && seconds() > closed + FAREWELL;
  pthread_mutex_unlock(&lock);
  return stop;
}

static int write_source(const char *path, const ms_text *text, ms_error *err) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  size_t at = 0;
  while (fd >= 0 && at < text->length) {
    ssize_t wrote = write(fd, text->bytes + at, text->length - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    at += (size_t)wrote;
  }
  if (fd < 0 || at < text->length) {
    ms_error_set(err, MS_WRK, "its input cannot be written: %s", strerror(errno));
  }
  if (fd >= 0) close(fd);
  return err->code == MS_OK ? 0 : -1;
}

/* Compiles into the cache and reads the object back; without the lock. */
static int compile(const ms_build *build, uint32_t number, ms_text *object, ms_error *err) {
  char name[64], source[PATH_MAX + 64], made[PATH_MAX + 64];
  int length = snprintf(name, sizeof name, "tmp.%ld.%u.so", (long)getpid(), number);
  snprintf(made, sizeof made, "%s/%s", cache.path, name);
  snprintf(source, sizeof source, "%s/%.*s.c", cache.path, length - 3, name);
  ms_compile run = {.toolchain = &build->toolchain,
                    .source = source,
                    .object = made,
                    .fast = build->fast,
                    .libm = ms_toolchain_needs_libm(build->text.bytes),
                    .stop = is_closing};
  int failed = write_source(source, &build->text, err);
  if (failed == 0) failed = ms_compile_run(&run, err);
  unlink(source);
  if (failed != 0) {
    unlink(made);
    return -1;
  }
  if (ms_cache_publish(&cache, name, build->key, MS_CACHE_LIMIT, err) != 0) return -1;
  if (!ms_cache_find(&cache, build->key, object)) {
    return ms_error_set(err, MS_WRK, "its output has disappeared from %.300s", cache.path);
  }
  return 0;
}

/* Under the lock: takes a build out of the queue. */
static void take_out(const ms_build *build) {
  for (ms_build **at = &queue; *at != NULL; at = &(*at)->next) {
    if (*at == build) {
      *at = build->next;
      return;
    }
  }
}

/* Under the lock: compiles one build that was taken out, letting go of the lock meanwhile. */
static void serve_one(ms_build *build) {
  uint32_t number = ++serial;
  build->state = MS_BUILD_RUNNING;
  build->references++;
  running = build;
  pthread_mutex_unlock(&lock);
  ms_text object = {0};
  ms_error trouble = {0};
  ms_trace(MS_TRACE_KERNEL, "compile key=%s", build->key);
  int failed = compile(build, number, &object, &trouble);
  ms_trace(MS_TRACE_KERNEL, "%s key=%s bytes=%zu", failed == 0 ? "compiled" : "uncompiled",
           build->key, object.length);
  pthread_mutex_lock(&lock);
  running = NULL;
  build->object = object;
  build->trouble = trouble;
  build->state = failed == 0 ? MS_BUILD_READY : MS_BUILD_FAILED;
  release(build);
  pthread_cond_broadcast(&changed);
}

static void *serve(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  while (!closing) {
    ms_build *first = queue;
    for (ms_build *each = queue; each != NULL; each = each->next) {
      if (each->due < first->due) first = each;
    }
    if (first == NULL) {
      pthread_cond_wait(&changed, &lock);
    } else if (first->due > seconds()) {
      ms_clock_wait(&changed, &lock, at_time(first->due));
    } else {
      take_out(first);
      serve_one(first);
    }
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* Under the lock: makes sure that there is a thread, which no signal of the host reaches. */
static int start_thread(ms_error *err) {
  if (serving) return 0;
  pthread_attr_t attributes;
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  serving = pthread_create(&thread, &attributes, serve, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return serving ? 0 : ms_error_set(err, MS_WRK, "no thread can be started for it");
}

/* ---- what the host calls ---- */

static void make_key(ms_build *build) {
  ms_text whole = {0};
  ms_toolchain_identify(&build->toolchain, build->fast, &whole);
  ms_text_append(&whole, build->text.bytes, build->text.length);
  ms_digest(whole.bytes, whole.length, build->key);
  ms_text_free(&whole);
}

ms_build *ms_build_new(const char *text, size_t length, int fast, ms_error *err) {
  ms_build *build = calloc(1, sizeof *build);
  if (build == NULL) {
    ms_error_memory(err, MS_OPT, "compiling a kernel");
    return NULL;
  }
  build->fast = fast != 0;
  ms_text_append(&build->text, text, length);
  bool good = !build->text.failed && ms_toolchain_find(&build->toolchain, err) == 0;
  if (good) make_key(build);
  pthread_mutex_lock(&lock);
  good = good && prepare(err) == 0;
  pthread_mutex_unlock(&lock);
  build->references = 1;
  if (good && ms_cache_find(&cache, build->key, &build->object)) build->state = MS_BUILD_READY;
  if (good) {
    ms_trace(MS_TRACE_KERNEL, "text key=%s bytes=%zu cached=%s", build->key, length,
             build->state == MS_BUILD_READY ? "yes" : "no");
    return build;
  }
  ms_error_memory(err, MS_OPT, "compiling a kernel");
  destroy(build);
  return NULL;
}

void ms_build_release(ms_build *build) {
  if (build == NULL) return;
  pthread_mutex_lock(&lock);
  if (build->references == 1 && build->state == MS_BUILD_QUEUED) take_out(build);
  release(build);
  pthread_mutex_unlock(&lock);
}

const char *ms_build_key(const ms_build *build) {
  return build->key;
}

const char *ms_build_directory(const ms_build *build) {
  (void)build;
  return cache.path;
}

int ms_build_state_of(ms_build *build) {
  pthread_mutex_lock(&lock);
  int state = (int)build->state;
  pthread_mutex_unlock(&lock);
  return state;
}

void ms_build_start(ms_build *build, double delay) {
  pthread_mutex_lock(&lock);
  double due = delay > 0 ? seconds() + delay : 0;
  if (build->state == MS_BUILD_QUEUED && due < build->due) {
    build->due = due;
  } else if (build->state == MS_BUILD_IDLE) {
    if (prepare(&build->trouble) == 0 && start_thread(&build->trouble) == 0) {
      build->state = MS_BUILD_QUEUED;
      build->due = due;
      build->next = queue;
      queue = build;
    } else {
      build->state = MS_BUILD_FAILED;
    }
  }
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

void ms_build_postpone(ms_build *build) {
  pthread_mutex_lock(&lock);
  if (build->state == MS_BUILD_QUEUED) {
    take_out(build);
    build->state = MS_BUILD_IDLE;
  }
  pthread_mutex_unlock(&lock);
}

int ms_build_wait(ms_build *build, double timeout) {
  uint64_t deadline = at_time(seconds() + timeout);
  pthread_mutex_lock(&lock);
  while (build->state == MS_BUILD_QUEUED || build->state == MS_BUILD_RUNNING) {
    if (ms_clock_wait(&changed, &lock, deadline) == ETIMEDOUT) break;
  }
  int state = (int)build->state;
  pthread_mutex_unlock(&lock);
  return state;
}

const char *ms_build_object(ms_build *build, size_t *size) {
  pthread_mutex_lock(&lock);
  bool ready = build->state == MS_BUILD_READY;
  *size = ready ? build->object.length : 0;
  pthread_mutex_unlock(&lock);
  return ready ? build->object.bytes : NULL;
}

const char *ms_build_trouble(ms_build *build) {
  return ms_build_state_of(build) == MS_BUILD_FAILED ? build->trouble.message : "";
}

const char *ms_build_notice(void) {
  return notice.message;
}
