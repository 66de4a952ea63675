/* SPDX-License-Identifier: MIT
 *
 * Compile: see compile.h. */
#include "kernel/compile/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/text.h"

#define SLICE     10    /* ms between looks at `stop` */
#define GRACE     500   /* ms to remove temporary files after SIGTERM */
#define MOST_SAID 65536 /* bytes of its messages that are kept */
#define ARGUMENTS 64
#define LINKER    "error: ld returned"

extern char **environ;

/* Variables that would reach into the compiler or make it write other files. */
static bool is_foreign(const char *variable) {
  static const char *const names[] = {"LD_PRELOAD=",
                                      "LD_AUDIT=",
                                      "LD_DEBUG=",
                                      "LD_BIND_NOW=",
                                      "LD_PROFILE=",
                                      "LD_RUN_PATH=",
                                      "DEPENDENCIES_OUTPUT=",
                                      "SUNPRO_DEPENDENCIES=",
                                      "GCC_COMPARE_DEBUG=",
                                      "LC_ALL=",
                                      "LANGUAGE="};
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
    if (strncmp(variable, names[n], strlen(names[n])) == 0) return true;
  }
  return false;
}

/* The compiler's environment, whose strings are this process's own; the caller frees the vector. */
static char **make_environment(void) {
  static char english[] = "LC_ALL=C";
  size_t count = 0, kept = 0;
  while (environ != NULL && environ[count] != NULL) count++;
  char **list = calloc(count + 2, sizeof *list);
  if (list == NULL) return NULL;
  for (size_t e = 0; e < count; e++) {
    if (!is_foreign(environ[e])) list[kept++] = environ[e];
  }
  list[kept] = english;
  return list;
}

/* The command line; its strings belong to others. Libraries come after the source. */
static void make_arguments(const ms_compile *compile, char *list[ARGUMENTS]) {
  const char *const last[] = {compile->source, "-o", compile->object, "-lm"};
  size_t last_count = sizeof last / sizeof last[0] - (compile->libm ? 0 : 1);
  size_t count = 0;
  for (char *const *word = compile->toolchain->words; *word != NULL; word++) list[count++] = *word;
  for (const char *const *flag = ms_toolchain_flags(compile->fast); *flag != NULL; flag++) {
    list[count++] = (char *)(size_t)*flag;
  }
  for (size_t k = 0; k < last_count; k++) {
    list[count++] = (char *)(size_t)last[k];
  }
  list[count] = NULL;
}

/* What the compiler starts with; 0 or an errno. */
static int describe_start(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes,
                          int messages) {
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  int failed = posix_spawnattr_setflags(
      attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (failed == 0) failed = posix_spawnattr_setpgroup(attributes, 0);
  if (failed == 0) failed = posix_spawnattr_setsigdefault(attributes, &all);
  if (failed == 0) failed = posix_spawnattr_setsigmask(attributes, &none);
  if (failed == 0) {
    failed = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  if (failed == 0) {
    failed = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  if (failed == 0) failed = posix_spawn_file_actions_adddup2(files, messages, STDERR_FILENO);
  if (failed == 0) failed = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
  return failed;
}

/* Starts the compiler with its messages going to a descriptor; 0 or an errno. */
static int start(const ms_compile *compile, int messages, ms_child *child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  char *arguments[ARGUMENTS];
  make_arguments(compile, arguments);
  if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&files);
    return ENOMEM;
  }
  char **environment = make_environment();
  int failed = environment == NULL ? ENOMEM : describe_start(&files, &attributes, messages);
  pid_t pid = 0;
  if (failed == 0) {
    failed =
        posix_spawn(&pid, compile->toolchain->program, &files, &attributes, arguments, environment);
  }
  free(environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed == 0) ms_child_watch(child, pid);
  return failed;
}

static double seconds(void) {
  return (double)ms_clock_now() * 1e-9;
}

static double limit_of(void) {
  const char *text = getenv("MEISSA_CC_LIMIT");
  double asked = text != NULL ? strtod(text, NULL) : 0;
  return asked > 0 && asked < 1e6 ? asked : MS_COMPILE_LIMIT;
}

/* Takes what the compiler says now; false at the end of it. */
static bool listen(int messages, ms_text *said) {
  char bytes[4096];
  for (;;) {
    ssize_t got = read(messages, bytes, sizeof bytes);
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (said->length < MOST_SAID) ms_text_append(said, bytes, (size_t)got);
  }
}

/* Ends the compiler and all that it has started. */
static void end(ms_child *child) {
  if (ms_child_wait(child, 0)) return;
  kill(-child->pid, SIGTERM);
  if (ms_child_wait(child, GRACE)) return;
  kill(-child->pid, SIGKILL);
  ms_child_wait(child, GRACE);
}

/* Waits until the compiler has ended; false when it was made to. */
static bool attend(const ms_compile *compile, ms_child *child, int messages, ms_text *said,
                   ms_error *err) {
  double limit = limit_of(), deadline = seconds() + limit;
  /* What runs on without anybody to wait for it ends, too. */
  struct rlimit cpu = {(rlim_t)limit + 1, (rlim_t)limit + 2};
  prlimit(child->pid, RLIMIT_CPU, &cpu, NULL);
  for (bool open = true;;) {
    struct pollfd items[2] = {{.fd = child->pidfd, .events = POLLIN},
                              {.fd = open ? messages : -1, .events = POLLIN}};
    poll(items, 2, SLICE);
    if (open) open = listen(messages, said);
    if (ms_child_wait(child, 0)) break;
    bool stopped = compile->stop != NULL && compile->stop(compile->context);
    if (!stopped && seconds() < deadline) continue;
    end(child);
    if (stopped) {
      ms_error_set(err, MS_WRK, "stopped");
    } else {
      ms_error_set(err, MS_WRK, "it did not end within %g s", limit);
    }
    return false;
  }
  listen(messages, said);
  return true;
}

/* The line that tells most: the first one with "error", but for the driver's word that the linker
 * has failed, which says why itself; else the first one that is not empty. */
static void pick_line(const ms_text *said, ms_error *err) {
  const char *best = NULL;
  int length = 0;
  for (const char *at = said->bytes; at != NULL && *at != '\0';) {
    size_t size = strcspn(at, "\n");
    bool tells =
        memmem(at, size, "error", 5) != NULL && memmem(at, size, LINKER, strlen(LINKER)) == NULL;
    if (size > 0 && (best == NULL || tells)) {
      best = at;
      length = size > 300 ? 300 : (int)size;
    }
    if (tells) break;
    at += size + (at[size] == '\n');
  }
  if (best != NULL) ms_error_set(err, MS_WRK, "%.*s", length, best);
}

int ms_compile_run(const ms_compile *compile, ms_error *err) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return ms_error_set(err, MS_WRK, "no pipe: %s", strerror(errno));
  }
  /* Only our end must not block. */
  fcntl(ends[1], F_SETFL, 0);
  ms_child child = {.pidfd = -1};
  ms_text said = {0};
  unlink(compile->object);
  int failed = start(compile, ends[1], &child);
  close(ends[1]);
  bool good = false;
  if (failed != 0) {
    ms_error_set(err, MS_WRK, "'%s' cannot be started: %s", compile->toolchain->program,
                 strerror(failed));
  } else if (attend(compile, &child, ends[0], &said, err)) {
    good = (child.status == 0 || child.status == -1) && access(compile->object, R_OK) == 0;
    if (!good) pick_line(&said, err);
    if (!good && err->code == MS_OK) {
      char words[128] = "it ";
      ms_child_describe(&child, words, sizeof words);
      ms_error_set(err, MS_WRK, "%s%s", words, child.status == 0 ? " but made nothing" : "");
    }
  }
  close(ends[0]);
  ms_text_free(&said);
  return good ? 0 : -1;
}
