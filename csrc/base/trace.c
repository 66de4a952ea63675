/* SPDX-License-Identifier: MIT
 *
 * Trace: see trace.h. */
#include "base/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define LEAST_FD 16 /* clear of what a worker is started with */

uint32_t ms_trace_wanted;

static const char *const names[] = {
#define TRACE_NAME(constant, bit, name) [bit] = name,
    MS_TRACE_CATEGORIES(TRACE_NAME)
#undef TRACE_NAME
};

#define COUNT (sizeof names / sizeof *names)

static char process[24] = "driver";
static int file = -1; /* stderr without one */
static uint64_t origin;

/* ---- lines ---- */

/* Writes all of it at once; what cannot be written is lost. */
static void put(char *line, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if ((unsigned char)line[i] < ' ' || line[i] == 0x7f) line[i] = '?';
  }
  line[length] = '\n';
  int failure = errno; /* the caller's */
  while (write(file >= 0 ? file : STDERR_FILENO, line, length + 1) < 0 && errno == EINTR) {
  }
  errno = failure;
}

static const char *name_of(uint32_t category) {
  return category == 0 ? NULL : ms_trace_name((uint32_t)__builtin_ctz(category));
}

/* The beginning of a line; its length. */
static size_t begin(char *line, size_t size, uint32_t category) {
  uint64_t now = ms_clock_now() - origin;
  int length =
      snprintf(line, size, "trace %llu.%09llu %s %s ", (unsigned long long)(now / MS_SECOND),
               (unsigned long long)(now % MS_SECOND), process, name_of(category));
  return (size_t)length;
}

/* What was put at `at`, of which snprintf says that it has `more` bytes. */
static size_t end_of(size_t at, int more) {
  size_t length = at + (more > 0 ? (size_t)more : 0);
  return length < MS_TRACE_LINE ? length : MS_TRACE_LINE - 1;
}

void ms_trace_event(ms_trace_category category, const char *format, ...) {
  char line[MS_TRACE_LINE];
  size_t at = begin(line, sizeof line, (uint32_t)category);
  va_list arguments;
  va_start(arguments, format);
  int more = vsnprintf(line + at, sizeof line - at, format, arguments);
  va_end(arguments);
  put(line, end_of(at, more));
}

void ms_trace_text(uint32_t category, const char *text) {
  if ((ms_trace_wanted & category) == 0 || name_of(category) == NULL) return;
  ms_trace_event((ms_trace_category)category, "%s", text);
}

/* ---- which ---- */

const char *ms_trace_name(uint32_t bit) {
  return bit < COUNT ? names[bit] : NULL;
}

uint32_t ms_trace_flags(void) {
  return ms_trace_wanted;
}

/* The bits of a name of `length` bytes; 0: it is none. */
static uint32_t bits_of(const char *name, size_t length) {
  if (length == 3 && memcmp(name, "all", length) == 0) return (1u << COUNT) - 1;
  for (uint32_t bit = 0; bit < COUNT; bit++) {
    if (strlen(names[bit]) == length && memcmp(names[bit], name, length) == 0) return 1u << bit;
  }
  return 0;
}

static int refuse(const char *name, size_t length, ms_error *err) {
  ms_text list = {0};
  for (uint32_t bit = 0; bit < COUNT; bit++) ms_text_format(&list, "%s, ", names[bit]);
  ms_error_set(err, MS_OPT,
               "MEISSA_TRACE is a list of categories with commas between them; '%.*s' "
               "is none; they are: %sor all",
               (int)(length < 40 ? length : 40), name, list.failed ? "" : list.bytes);
  ms_text_free(&list);
  return -1;
}

static int find_wanted(const char *list, uint32_t *wanted, ms_error *err) {
  for (*wanted = 0;; list++) {
    size_t length = strcspn(list, ",");
    uint32_t bits = bits_of(list, length);
    if (bits == 0) return refuse(list, length, err);
    *wanted |= bits;
    list += length;
    if (*list == '\0') return 0;
  }
}

/* ---- where ---- */

static int open_file(const char *path, ms_error *err) {
  int opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  if (opened >= 0) file = fcntl(opened, F_DUPFD_CLOEXEC, LEAST_FD);
  int failure = errno;
  if (opened >= 0) close(opened);
  if (file >= 0) return 0;
  return ms_error_set(err, MS_FIL, "MEISSA_TRACE_FILE: '%s' cannot be written: %s", path,
                      strerror(failure));
}

int ms_trace_open(const char *list, const char *path, ms_error *err) {
  uint32_t wanted;
  if (find_wanted(list, &wanted, err) != 0) return -1;
  if (ms_trace_wanted != 0)
    return 0; /* by another Lua state of this process, or a worker's setup */
  if (path != NULL && open_file(path, err) != 0) return -1;
  origin = ms_clock_now();
  ms_trace_wanted = wanted;
  return 0;
}

ms_trace_setup ms_trace_share(void) {
  return (ms_trace_setup){.wanted = ms_trace_wanted, .has_file = file >= 0, .origin = origin};
}

int ms_trace_file(void) {
  return file;
}

void ms_trace_join(const ms_trace_setup *setup, uint32_t number) {
  snprintf(process, sizeof process, "worker-%u", number + 1);
  if (setup->has_file != 0 && fcntl(MS_TRACE_FD, F_SETFD, FD_CLOEXEC) == 0) file = MS_TRACE_FD;
  origin = setup->origin;
  ms_trace_wanted = setup->wanted & ((1u << COUNT) - 1);
}
