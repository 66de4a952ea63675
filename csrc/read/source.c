/* SPDX-License-Identifier: MIT
 *
 * Source: see source.h. zlib's own gzread takes bytes after the end of the gzip data for nothing,
 * so inflate is called directly. */
#include "read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define INPUT_SIZE ((size_t)1 << 18)
/* Bytes that are unpacked in search of damage. */
#define MOST_LOOKED_AT ((size_t)1 << 28)
/* zlib's windowBits for gzip alone, with the largest window. */
#define GZIP (16 + MAX_WBITS)

static int failed(ms_error *err, const char *what) {
  return ms_error_set(err, MS_FIL, "%s", what);
}

/* Reads once from the file; 0 bytes at its end. */
static int read_some(ms_source *source, void *buffer, size_t size, size_t *got, ms_error *err) {
  ssize_t done;
  do {
    done = read(source->fd, buffer, size);
  } while (done < 0 && errno == EINTR);
  *got = done > 0 ? (size_t)done : 0;
  if (done < 0) return failed(err, strerror(errno));
  source->at_end = done == 0;
  source->taken += *got;
  return 0;
}

/* Makes the input hold at least `least` bytes, unless the file ends. */
static int fill_input(ms_source *source, size_t least, ms_error *err) {
  size_t left = source->end - source->begin, got;
  if (left >= least || source->at_end) return 0;
  memmove(source->input, source->input + source->begin, left);
  source->begin = 0;
  source->end = left;
  while (source->end < least && !source->at_end) {
    if (read_some(source, source->input + source->end, INPUT_SIZE - source->end, &got, err) != 0) {
      return -1;
    }
    source->end += got;
  }
  return 0;
}

/* Looks whether it is gzip. */
static int look(ms_source *source, ms_error *err) {
  source->input = malloc(INPUT_SIZE);
  if (source->input == NULL) return ms_error_memory(err, MS_FIL, "reading a file");
  if (fill_input(source, 2, err) != 0) return -1;
  if (source->end < 2 || source->input[0] != 0x1F || source->input[1] != 0x8B) return 0;
  z_stream *stream = calloc(1, sizeof *stream);
  if (stream == NULL || inflateInit2(stream, GZIP) != Z_OK) {
    free(stream);
    return ms_error_memory(err, MS_FIL, "reading a file");
  }
  source->inflater = stream;
  return 0;
}

int ms_source_open(ms_source *source, const char *path, ms_error *err) {
  *source = (ms_source){.fd = open(path, O_RDONLY | O_CLOEXEC)};
  struct stat state;
  if (source->fd < 0) return failed(err, strerror(errno));
  source->open = true;
  int status = 0;
  if (fstat(source->fd, &state) != 0) {
    status = failed(err, strerror(errno));
  } else if (S_ISDIR(state.st_mode)) {
    status = failed(err, "is a directory, not a file");
  }
  if (status == 0) status = look(source, err);
  if (status != 0) ms_source_close(source);
  return status;
}

static int read_plain(ms_source *source, char *buffer, size_t size, size_t *got, ms_error *err) {
  size_t left = source->end - source->begin;
  *got = left < size ? left : size;
  memcpy(buffer, source->input + source->begin, *got);
  source->begin += *got;
  while (*got < size && !source->at_end) {
    size_t more;
    if (read_some(source, buffer + *got, size - *got, &more, err) != 0) return -1;
    *got += more;
  }
  return 0;
}

/* Unpacks some of the input into the buffer; *got grows. Without input zlib may still hold output
 * that did not fit before; only if it has none is the file too short. */
static int inflate_some(ms_source *source, char *buffer, size_t size, size_t *got, ms_error *err) {
  z_stream *stream = source->inflater;
  size_t room = size - *got < INT_MAX ? size - *got : INT_MAX;
  stream->next_in = source->input + source->begin;
  stream->avail_in = (uInt)(source->end - source->begin);
  stream->next_out = (unsigned char *)buffer + *got;
  stream->avail_out = (uInt)room;
  int state = inflate(stream, Z_NO_FLUSH);
  source->begin = source->end - stream->avail_in;
  *got += room - stream->avail_out;
  if (state == Z_OK) return 0;
  if (state == Z_STREAM_END) {
    source->between = true;
    return 0;
  }
  if (state == Z_BUF_ERROR) return failed(err, "the gzip file is truncated");
  if (state == Z_MEM_ERROR) return ms_error_memory(err, MS_FIL, "reading a file");
  return ms_error_set(err, MS_FIL, "the gzip file is damaged: %s",
                      stream->msg != NULL ? stream->msg : zError(state));
}

static int read_gzip(ms_source *source, char *buffer, size_t size, size_t *got, ms_error *err) {
  for (*got = 0; *got < size;) {
    if (fill_input(source, 1, err) != 0) return -1;
    bool none = source->begin == source->end;
    if (none && source->between) return 0;
    if (source->between) {
      if (source->input[source->begin] != 0x1F) {
        return failed(err, "bytes that are no gzip data follow the end of the gzip data");
      }
      inflateReset(source->inflater);
      source->between = false;
    }
    if (inflate_some(source, buffer, size, got, err) != 0) return -1;
  }
  return 0;
}

int ms_source_read(ms_source *source, char *buffer, size_t size, size_t *got, ms_error *err) {
  if (source->inflater != NULL) return read_gzip(source, buffer, size, got, err);
  return read_plain(source, buffer, size, got, err);
}

void ms_source_close(ms_source *source) {
  if (source->inflater != NULL) inflateEnd(source->inflater);
  if (source->open) close(source->fd);
  free(source->inflater);
  free(source->input);
  *source = (ms_source){0};
}

int ms_source_check(const char *path, ms_error *err) {
  ms_source source;
  if (ms_source_open(&source, path, err) != 0) return ms_error_place(err, path, 0);
  char *buffer = source.inflater != NULL ? malloc(INPUT_SIZE) : NULL;
  size_t got = INPUT_SIZE;
  int failed = 0;
  for (size_t read = 0; buffer != NULL && got == INPUT_SIZE && read < MOST_LOOKED_AT; read += got) {
    failed = ms_source_read(&source, buffer, INPUT_SIZE, &got, err);
    if (failed != 0) break;
  }
  free(buffer);
  ms_source_close(&source);
  return failed == 0 ? 0 : ms_error_place(err, path, 0);
}

void ms_source_blame(const char *path, ms_error *err) {
  ms_error damage = {0};
  if (err == NULL || err->code != MS_FIL || err->line <= 0) return;
  if (ms_source_check(path, &damage) == 0 || damage.code != MS_FIL) return;
  if (strcmp(damage.message, err->message) == 0) return;
  ms_error line = *err;
  ms_error_clear(err);
  ms_error_set(err, MS_FIL, "%s (line %d: %s)", damage.message, line.line, line.message);
  ms_error_place(err, path, 0);
}
