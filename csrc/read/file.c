/* SPDX-License-Identifier: MIT
 *
 * Files: see file.h. */
#include "read/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "array/view.h"

/* The most that is given to one write, read or checksum: their counts are 32 bits wide. */
#define PIECE ((size_t)1 << 24)
#define CHUNK 8192 /* elements gathered, or settled, at a time */

static int file_error(const char *path, ms_error *err, const char *what) {
  ms_error_set(err, MS_FIL, "%s", what);
  return ms_error_place(err, path, 0);
}

static int memory_error(const char *path, ms_error *err, const char *what) {
  ms_error_memory(err, MS_FIL, "%s", what);
  return ms_error_place(err, path, 0);
}

static void free_writer(ms_file_writer *writer) {
  if (writer->fd >= 0) close(writer->fd);
  free(writer->path);
  free(writer->temporary);
  free(writer);
}

/* The directory part of a path, with its slash; its length. */
static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Creates the temporary file beside the target, under a name that nobody else uses. */
static int open_temporary(ms_file_writer *writer, mode_t mode, ms_error *err) {
  static unsigned counter;
  size_t directory = directory_length(writer->path), size = strlen(writer->path) + 64;
  writer->temporary = malloc(size);
  if (writer->temporary == NULL) return memory_error(writer->path, err, "writing a file");
  for (int attempt = 0; attempt < 100; attempt++) {
    snprintf(writer->temporary, size, "%.*s.%s.%ld.%u.tmp", (int)directory, writer->path,
             writer->path + directory, (long)getpid(), ++counter);
    writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (writer->fd >= 0 || errno != EEXIST) break;
  }
  if (writer->fd >= 0) return 0;
  char message[256];
  snprintf(message, sizeof message, "cannot be written: %s", strerror(errno));
  return file_error(writer->path, err, message);
}

/* Refuses targets that a rename must not replace; `mode` is that of a file that is there. */
static int check_target(const char *path, mode_t *mode, ms_error *err) {
  struct stat state;
  *mode = 0666;
  if (stat(path, &state) != 0) return 0;
  if (S_ISDIR(state.st_mode)) return file_error(path, err, "is a directory");
  if (!S_ISREG(state.st_mode)) return file_error(path, err, "is not a regular file");
  *mode = state.st_mode & 0777;
  return 0;
}

ms_file_writer *ms_file_writer_open(const char *path, ms_error *err) {
  mode_t mode;
  if (check_target(path, &mode, err) != 0) return NULL;
  ms_file_writer *writer = calloc(1, sizeof *writer);
  if (writer == NULL) {
    memory_error(path, err, "writing a file");
    return NULL;
  }
  writer->fd = -1;
  writer->path = realpath(path, NULL);
  if (writer->path == NULL) writer->path = strdup(path);
  if (writer->path == NULL || open_temporary(writer, mode, err) != 0) {
    memory_error(path, err, "writing a file");
    free_writer(writer);
    return NULL;
  }
  return writer;
}

int ms_file_writer_write(ms_file_writer *writer, const void *bytes, size_t size, ms_error *err) {
  const unsigned char *at = bytes;
  while (size > 0) {
    size_t piece = size < PIECE ? size : PIECE;
    ssize_t done = write(writer->fd, at, piece);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      char message[256];
      snprintf(message, sizeof message, "cannot be written: %s (what was there before is kept)",
               strerror(done < 0 ? errno : EIO));
      return file_error(writer->path, err, message);
    }
    writer->crc = (uint32_t)crc32(writer->crc, at, (uInt)done);
    writer->bytes += (uint64_t)done;
    at += done;
    size -= (size_t)done;
  }
  return 0;
}

int ms_file_writer_elements(ms_file_writer *writer, const ms_array *array, ms_error *err) {
  if (ms_array_check(array, err) != 0) return -1;
  double room[CHUNK]; /* elements of any type */
  ms_view view = ms_view_of(array);
  size_t size = view.ops->size;
  void *direct = ms_view_direct(&view, 0, view.count);
  if (direct != NULL) return ms_file_writer_write(writer, direct, (size_t)view.count * size, err);
  for (int64_t first = 0; first < view.count; first += CHUNK) {
    int64_t n = view.count - first < CHUNK ? view.count - first : CHUNK;
    ms_view_gather(&view, first, n, room);
    if (ms_file_writer_write(writer, room, (size_t)n * size, err) != 0) return -1;
  }
  return 0;
}

/* Makes a rename in the directory durable. File systems that cannot are left alone. */
static void sync_directory(const char *path) {
  size_t length = directory_length(path);
  char *directory = length == 0 ? strdup(".") : strndup(path, length);
  if (directory == NULL) return;
  int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  free(directory);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

int ms_file_writer_commit(ms_file_writer *writer, ms_error *err) {
  bool written = fsync(writer->fd) == 0;
  if (close(writer->fd) != 0) written = false;
  writer->fd = -1;
  if (!written || rename(writer->temporary, writer->path) != 0) {
    char message[256];
    snprintf(message, sizeof message, "cannot be written: %s (what was there before is kept)",
             strerror(errno));
    file_error(writer->path, err, message);
    ms_file_writer_abort(writer);
    return -1;
  }
  sync_directory(writer->path);
  free_writer(writer);
  return 0;
}

void ms_file_writer_abort(ms_file_writer *writer) {
  if (writer == NULL) return;
  unlink(writer->temporary);
  free_writer(writer);
}

ms_file_reader *ms_file_reader_open(const char *path, ms_error *err) {
  struct stat state;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, &state) != 0) {
    file_error(path, err, strerror(errno));
    if (fd >= 0) close(fd);
    return NULL;
  }
  ms_file_reader *reader = S_ISREG(state.st_mode) ? calloc(1, sizeof *reader) : NULL;
  char *name = reader != NULL ? strdup(path) : NULL;
  if (name == NULL) {
    if (S_ISREG(state.st_mode)) {
      memory_error(path, err, "reading a file");
    } else {
      bool directory = S_ISDIR(state.st_mode);
      file_error(path, err, directory ? "is a directory, not a file" : "is not a regular file");
    }
    free(reader);
    close(fd);
    return NULL;
  }
  *reader = (ms_file_reader){.path = name, .fd = fd, .size = (uint64_t)state.st_size};
  return reader;
}

int ms_file_reader_read(ms_file_reader *reader, void *bytes, uint64_t size, ms_error *err) {
  unsigned char *at = bytes;
  if (size > reader->size - reader->position) {
    return file_error(reader->path, err, "the file is truncated");
  }
  while (size > 0) {
    size_t piece = size < PIECE ? (size_t)size : PIECE;
    ssize_t done = read(reader->fd, at, piece);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return file_error(reader->path, err, strerror(errno));
    if (done == 0) return file_error(reader->path, err, "the file is truncated");
    reader->crc = (uint32_t)crc32(reader->crc, at, (uInt)done);
    reader->position += (uint64_t)done;
    at += done;
    size -= (uint64_t)done;
  }
  return 0;
}

int ms_file_reader_elements(ms_file_reader *reader, const ms_array *array, ms_error *err) {
  const ms_type_ops *ops = ms_type_of(array->type);
  char *at = array->data;
  for (int64_t left = array->count; left > 0;) {
    int64_t n = left < CHUNK ? left : CHUNK;
    if (ms_file_reader_read(reader, at, (uint64_t)n * ops->size, err) != 0) return -1;
    ms_type_settle_nan(array->type, at, (size_t)n);
    at += (size_t)n * ops->size;
    left -= n;
  }
  return 0;
}

void ms_file_reader_close(ms_file_reader *reader) {
  if (reader == NULL) return;
  close(reader->fd);
  free(reader->path);
  free(reader);
}

void *ms_file_memory(uint64_t size, ms_error *err) {
  void *memory = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
  if (memory == NULL) ms_error_memory(err, MS_ARR, "%" PRIu64 " bytes", size);
  return memory;
}

void ms_file_forget(void *memory) {
  free(memory);
}
