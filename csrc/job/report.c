/* SPDX-License-Identifier: MIT
 *
 * Report: see report.h. */
#include "job/report.h"

#include <string.h>

typedef struct record_head {
  uint32_t block, kind;
  uint64_t size;
} record_head;

typedef struct run_head {
  int64_t first, count;
} run_head;

void ms_report_add(ms_text *report, uint32_t block, uint32_t kind, const void *bytes, size_t size) {
  record_head head = {.block = block, .kind = kind, .size = size};
  ms_text_append(report, (const char *)&head, sizeof head);
  ms_text_append(report, bytes, size);
}

char *ms_report_open(ms_text *report, size_t most) {
  char *room = most > SIZE_MAX / 2 ? NULL : ms_text_room(report, sizeof(record_head) + most);
  return room == NULL ? NULL : room + sizeof(record_head);
}

void ms_report_close(ms_text *report, uint32_t block, uint32_t kind, size_t size) {
  record_head head = {.block = block, .kind = kind, .size = size};
  memcpy(report->bytes + report->length, &head, sizeof head);
  report->length += sizeof head + size;
}

int ms_report_next(const char *bytes, size_t size, size_t *at, ms_record *record) {
  record_head head;
  if (*at == size) return 0;
  if (size - *at < sizeof head) return -1;
  memcpy(&head, bytes + *at, sizeof head);
  if (head.size > size - *at - sizeof head) return -1;
  *record = (ms_record){.block = head.block,
                        .kind = head.kind,
                        .size = head.size,
                        .bytes = bytes + *at + sizeof head};
  *at += sizeof head + (size_t)head.size;
  return 1;
}

void ms_report_keep(ms_text *report, bool (*wanted)(const ms_record *record, const void *context),
                    const void *context) {
  size_t at = 0, from = 0, kept = 0;
  ms_record record;
  for (; ms_report_next(report->bytes, report->length, &at, &record) > 0; from = at) {
    if (!wanted(&record, context)) continue;
    memmove(report->bytes + kept, report->bytes + from, at - from);
    kept += at - from;
  }
  report->length = kept;
}

static bool is_printed(const ms_record *record, const void *context) {
  (void)context;
  return record->kind == MS_REPORT_PRINTED;
}

void ms_report_keep_printed(ms_text *report) {
  ms_report_keep(report, is_printed, NULL);
}

/* Element number `at` as it is now; *count: how many lie in a row from it. */
static const unsigned char *find(ms_change_runs *runs, int64_t at, int64_t *count) {
  int64_t after = at - runs->begin;
  if (after < 0 || after >= runs->here.count) {
    runs->here = ms_elements_run_at(&runs->now, at);
    runs->begin = at;
    after = 0;
  }
  int64_t stride = runs->here.stride;
  *count = stride == 1 ? runs->here.count - after : 1;
  return runs->here.data + after * stride * (int64_t)runs->now.operand->element;
}

static bool differs(ms_change_runs *runs, int64_t at) {
  int64_t count;
  size_t element = runs->now.operand->element;
  return memcmp(find(runs, at, &count), runs->before + (size_t)at * element, element) != 0;
}

/* Most elements compared in one step while nothing differs. */
#define STRIDE 512

/* Moves on to the next changed element, in long steps. */
static void skip_equal(ms_change_runs *runs) {
  size_t element = runs->now.operand->element;
  while (runs->next < runs->count) {
    int64_t step = runs->count - runs->next < STRIDE ? runs->count - runs->next : STRIDE, row;
    const unsigned char *now = find(runs, runs->next, &row);
    if (row < step) step = row;
    if (memcmp(now, runs->before + (size_t)runs->next * element, (size_t)step * element) != 0) {
      while (!differs(runs, runs->next)) runs->next++;
      return;
    }
    runs->next += step;
  }
}

size_t ms_change_runs_pack(ms_change_runs *runs, char *out, size_t room) {
  size_t used = 0, element = runs->now.operand->element;
  for (;;) {
    skip_equal(runs);
    if (runs->next == runs->count || room - used < sizeof(run_head) + element) return used;
    run_head head = {.first = runs->next};
    int64_t most = (int64_t)((room - used - sizeof head) / element);
    while (runs->next < runs->count && head.count < most && differs(runs, runs->next)) {
      head.count++;
      runs->next++;
    }
    memcpy(out + used, &head, sizeof head);
    used += sizeof head;
    ms_elements_gather(&runs->now, head.first, head.count, out + used);
    used += (size_t)head.count * element;
  }
}

int ms_change_runs_next(const char *bytes, size_t size, size_t element, size_t *at, int64_t *first,
                        int64_t *count) {
  run_head head;
  if (*at == size) return 0;
  if (size - *at < sizeof head) return -1;
  memcpy(&head, bytes + *at, sizeof head);
  size_t room = size - *at - sizeof head;
  if (head.first < 0 || head.count <= 0 || (uint64_t)head.count > room / element) return -1;
  *first = head.first;
  *count = head.count;
  *at += sizeof head + (size_t)head.count * element;
  return 1;
}

int ms_change_runs_apply(const char *bytes, size_t size, const ms_elements *all) {
  int64_t total = ms_elements_count(all), first, count;
  size_t at = 0, element = all->operand->element;
  int got;
  while ((got = ms_change_runs_next(bytes, size, element, &at, &first, &count)) > 0) {
    if (first > total || count > total - first) return -1;
    ms_elements_scatter(all, first, count, bytes + at - (size_t)count * element);
  }
  return got;
}
