/* SPDX-License-Identifier: MIT
 *
 * Scan: see scan.h. Each file is a pipeline; of several files, one thread each takes the next. */
#include "read/scan.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "read/pipeline.h"

/* One file while it is read, and the parts that it gave. */
typedef struct file_scan {
  const ms_files *files;
  const ms_scanner *scanner;
  void *owner;
  ms_scan_part *first, **last;
  bool failed;
  ms_error err;
} file_scan;

/* All files. */
typedef struct scan {
  file_scan *each;
  int64_t count;
  int threads;                /* for the ranges of one file */
  atomic_llong taken, failed; /* the next file; the first one that failed */
} scan;

ms_scan_part *ms_scan_part_free(ms_scan_part *part) {
  ms_scan_part *next = part->next;
  part->scanner->clear(part);
  free(part);
  return next;
}

void ms_scan_parts_free(ms_scan_part **parts) {
  while (*parts != NULL) *parts = ms_scan_part_free(*parts);
  ms_memory_trim();
}

/* Shows the reader lines of the first file until it knows the format. */
static int look_at_first(const ms_files *files, const ms_scanner *scanner, void *owner,
                         ms_error *err) {
  ms_lines lines;
  const char *line;
  size_t length;
  if (ms_lines_open(&lines, files->paths[0], err) != 0) return -1;
  int known = 0, got = 1;
  while (known == 0 && got == 1) {
    got = ms_lines_next_data(&lines, files->comment, files->skip, &line, &length, err);
    if (got == 1) known = scanner->look(owner, &lines, line, length, err);
  }
  ms_lines_close(&lines);
  if (known >= 0 && got >= 0) return 0;
  ms_source_blame(files->paths[0], err);
  return -1;
}

/* The pipeline's look: the format is known. */
static int known_already(void *owner, const ms_byte_range *range, ms_error *err) {
  (void)owner;
  (void)range;
  (void)err;
  return 1;
}

static int take_lines(const file_scan *f, ms_scan_part *part, const ms_byte_range *range,
                      ms_error *err) {
  ms_lines lines;
  const char *line;
  size_t length;
  int got;
  ms_lines_of(&lines, range);
  while ((got = ms_lines_next_data(&lines, f->files->comment, f->files->skip, &line, &length,
                                   err)) == 1) {
    if (f->scanner->take(f->owner, part, &lines, line, length, err) != 0) return -1;
  }
  return got;
}

static void *read_range(const void *owner, const ms_byte_range *range, ms_error *err) {
  const file_scan *f = owner;
  ms_scan_part *part = calloc(1, f->scanner->part_size);
  if (part == NULL) {
    ms_error_memory(err, MS_ARR, "the contents of the file");
    return NULL;
  }
  part->scanner = f->scanner;
  if (take_lines(f, part, range, err) == 0) return part;
  ms_scan_part_free(part);
  return NULL;
}

static void drop(void *result) {
  ms_scan_part_free(result);
}

static int join(void *owner, void *result, ms_error *err) {
  (void)err;
  file_scan *f = owner;
  *f->last = result;
  f->last = &((ms_scan_part *)result)->next;
  return 0;
}

static void read_file(file_scan *f, const char *path, int threads) {
  const ms_pipeline pipeline = {.range_bytes = (size_t)f->files->range_bytes,
                                .threads = threads,
                                .progress = f->files->progress,
                                .look = known_already,
                                .read = read_range,
                                .join = join,
                                .drop = drop};
  f->last = &f->first;
  f->failed = ms_pipeline_run(&pipeline, path, f, &f->err) != 0;
}

/* A thread of the scan: reads files one after the other, and begins none behind one that has
 * failed. */
static void work(void *context) {
  scan *s = context;
  for (;;) {
    long long k = atomic_fetch_add(&s->taken, 1);
    if (k >= s->count || k > atomic_load(&s->failed)) return;
    file_scan *f = &s->each[k];
    read_file(f, f->files->paths[k], s->threads);
    long long least = atomic_load(&s->failed);
    while (f->failed && k < least && !atomic_compare_exchange_weak(&s->failed, &least, k)) {
    }
  }
}

/* Puts the files' parts in one list, or fills the error of the first file that has one. */
static int collect(scan *s, ms_scan_part **parts, ms_error *err) {
  ms_scan_part **last = parts;
  int failed = 0;
  *parts = NULL;
  for (int64_t k = 0; k < s->count; k++) {
    file_scan *f = &s->each[k];
    if (f->first != NULL) {
      *last = f->first;
      last = f->last;
    }
    if (!f->failed || failed != 0) continue;
    failed = ms_error_set(err, (ms_code)f->err.code, "%s", f->err.message);
    if (f->err.file[0] != '\0') ms_error_place(err, f->err.file, f->err.line);
  }
  if (failed != 0) ms_scan_parts_free(parts);
  return failed;
}

int ms_scan(const ms_files *files, const ms_scanner *scanner, void *owner, ms_scan_part **parts,
            ms_error *err) {
  *parts = NULL;
  if (scanner->look != NULL && look_at_first(files, scanner, owner, err) != 0) return -1;
  scan s = {.count = files->count, .failed = files->count};
  s.each = calloc((size_t)files->count + 1, sizeof *s.each);
  if (s.each == NULL) return ms_error_memory(err, MS_ARR, "a list of files");
  for (int64_t k = 0; k < s.count; k++) {
    s.each[k] = (file_scan){.files = files, .scanner = scanner, .owner = owner};
  }
  int threads = files->threads > 0 ? files->threads : ms_threads_count();
  bool single = files->count == 1;
  s.threads = single ? threads : 1;
  ms_threads_run(single ? 1 : threads, work, &s);
  int failed = collect(&s, parts, err);
  free(s.each);
  return failed;
}
