/* SPDX-License-Identifier: MIT
 *
 * History: see history.h. */
#include "base/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"

#define LEAST_FD 16 /* clear of what a worker is started with */
#define LINE     256

static const char HEADER[] = "meissa-history 1\n";

bool ms_history_wanted;

static char process[24] = "driver";
static int file = -1;
static uint64_t origin, count; /* of its events */
static uint64_t own_jobs = (uint64_t)1 << 32;
static uint32_t incarnation, started; /* the process's own number; how many workers were started */

/* Says once that lines are lost, which shows in their numbers, too. */
static void tell_lost(int failure) {
  static bool told;
  if (told) return;
  told = true;
  fprintf(stderr, "meissa: MEISSA_HISTORY: %s cannot write: %s; the history is not complete\n",
          process, strerror(failure));
}

/* Writes the line of an event at once. */
static void put(const char *text, size_t length) {
  char head[96];
  uint64_t now = ms_clock_now() - origin;
  int size = snprintf(head, sizeof head, "%llu %llu.%09llu %s %u ", (unsigned long long)count++,
                      (unsigned long long)(now / MS_SECOND), (unsigned long long)(now % MS_SECOND),
                      process, incarnation);
  struct iovec parts[] = {{head, (size_t)size}, {(void *)(size_t)text, length}, {"\n", 1}};
  int failure = errno; /* the caller's */
  ssize_t written;
  while ((written = writev(file, parts, 3)) < 0 && errno == EINTR) {
  }
  if (written < 0)
    tell_lost(errno);
  else if ((size_t)written < (size_t)size + length + 1)
    tell_lost(ENOSPC);
  errno = failure;
}

void ms_history_event(const char *format, ...) {
  char line[LINE];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length > 0) put(line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

uint64_t ms_history_own_job(void) {
  return ms_history_wanted && incarnation == 0 ? ++own_jobs : 0;
}

void ms_history_tell(const char *text) {
  if (ms_history_wanted) put(text, strlen(text));
}

void ms_history_text(ms_text *text) {
  if (ms_history_wanted && !text->failed) put(text->bytes, text->length);
  ms_text_free(text);
}

/* Whether an open file is the one of that path, by whatever name. */
static bool is_file(int opened, const char *path) {
  struct stat one, other;
  return path != NULL && fstat(opened, &one) == 0 && stat(path, &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Empties an open file, if it is one that has contents, and writes the header. */
static bool begin_anew(int opened) {
  struct stat about;
  if (fstat(opened, &about) != 0) return false;
  if (S_ISREG(about.st_mode) && ftruncate(opened, 0) != 0) return false;
  return write(opened, HEADER, sizeof HEADER - 1) == (ssize_t)sizeof HEADER - 1;
}

int ms_history_open(const char *path, const char *replayed, ms_error *err) {
  if (ms_history_wanted) return 0; /* by another Lua state of this process */
  int opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  if (opened >= 0 && is_file(opened, replayed)) {
    close(opened);
    return ms_error_set(err, MS_OPT,
                        "MEISSA_HISTORY and MEISSA_REPLAY both name '%s': what is replayed would "
                        "be written over; unset MEISSA_HISTORY, or give it another file",
                        path);
  }
  bool written = opened >= 0 && begin_anew(opened);
  if (written) file = fcntl(opened, F_DUPFD_CLOEXEC, LEAST_FD);
  int failure = errno;
  if (opened >= 0) close(opened);
  if (file < 0) {
    return ms_error_set(err, MS_FIL, "MEISSA_HISTORY: '%s' cannot be written: %s", path,
                        strerror(failure));
  }
  origin = ms_clock_now();
  ms_history_wanted = true;
  return 0;
}

ms_history_setup ms_history_share(void) {
  if (!ms_history_wanted) return (ms_history_setup){0};
  return (ms_history_setup){.origin = origin, .incarnation = ++started};
}

int ms_history_file(void) {
  return file;
}

void ms_history_join(const ms_history_setup *setup, uint32_t number) {
  if (setup->incarnation == 0 || fcntl(MS_HISTORY_FD, F_SETFD, FD_CLOEXEC) != 0) return;
  snprintf(process, sizeof process, "worker-%u", number + 1);
  file = MS_HISTORY_FD;
  origin = setup->origin;
  incarnation = setup->incarnation;
  ms_history_wanted = true;
}
