/* SPDX-License-Identifier: MIT
 *
 * Task: see task.h. */
#include "job/task.h"

#include <string.h>

static void put(ms_text *text, uint64_t value) {
  ms_text_append(text, (const char *)&value, sizeof value);
}

static void put_bytes(ms_text *text, const void *bytes, size_t size) {
  put(text, size);
  ms_text_append(text, bytes, size);
}

static uint32_t space_ranges(const ms_task *task) {
  return task->grid.ranges[ms_grid_space(&task->grid)];
}

/* The operands without pointers, then all their sections. */
static void put_operands(const ms_task *task, ms_text *text) {
  size_t sections = 0;
  put(text, task->operand_count * sizeof *task->operands);
  for (uint32_t i = 0; i < task->operand_count; i++) {
    ms_operand operand = task->operands[i];
    operand.sections = NULL;
    operand.lists = NULL;
    sections += operand.section_count;
    ms_text_append(text, (const char *)&operand, sizeof operand);
  }
  put(text, sections * sizeof(ms_section));
  for (uint32_t i = 0; i < task->operand_count; i++) {
    const ms_operand *operand = &task->operands[i];
    if (operand->section_count == 0) continue;
    ms_text_append(text, (const char *)operand->sections,
                   operand->section_count * sizeof(ms_section));
  }
}

static void put_rounds(const ms_task *task, ms_text *text) {
  const ms_task_rounds *rounds = &task->rounds;
  const ms_gate_setting *setting = &rounds->setting;
  put(text, setting->name != NULL);
  if (setting->name == NULL) return;
  put(text, (uint64_t)setting->read_lag);
  put(text, (uint64_t)setting->write_lag);
  put(text, (uint64_t)setting->read_ahead);
  put(text, (uint64_t)setting->depth);
  put(text, (uint64_t)setting->scope);
  put(text, setting->clocks);
  put(text, setting->backup);
  put(text, setting->timeout);
  size_t firsts = rounds->reads == NULL ? 0 : space_ranges(task) + (size_t)1;
  put_bytes(text, rounds->read_first, firsts * sizeof *rounds->read_first);
  put_bytes(text, rounds->reads, rounds->read_count * sizeof *rounds->reads);
}

void ms_task_write(const ms_task *task, ms_text *text) {
  put(text, (uint64_t)task->grid.strategy);
  put(text, task->grid.count);
  put(text, task->grid.sequential);
  put(text, task->grid.first);
  put(text, task->grid.last);
  put(text, task->grid.reach[0]);
  put(text, task->grid.reach[1]);
  put(text, task->grid.together);
  put(text, task->workers);
  for (uint32_t dim = 0; dim < task->grid.count; dim++) put(text, task->grid.ranges[dim]);
  put_bytes(text, task->range_owner, space_ranges(task) * sizeof *task->range_owner);
  for (uint32_t dim = 0; dim < task->grid.count; dim++) {
    size_t count = task->bounds.start[dim] == NULL ? 0 : task->grid.ranges[dim] + (size_t)1;
    put_bytes(text, task->bounds.start[dim], count * sizeof(int64_t));
  }
  put_operands(task, text);
  put_bytes(text, &task->log, sizeof task->log);
  put_rounds(task, text);
  put_bytes(text, task->key, task->key_size);
  put_bytes(text, task->run, task->run_size);
  put(text, task->kernel != NULL);
  if (task->kernel != NULL) put_bytes(text, task->kernel, task->kernel_size);
}

/* A reader that remembers running past the end. */
typedef struct cursor {
  const char *at;
  size_t left;
  ms_arena *arena;
  bool failed;
} cursor;

static const char *take(cursor *c, size_t size) {
  if (c->failed || size > c->left) {
    c->failed = true;
    return "";
  }
  const char *here = c->at;
  c->at += size;
  c->left -= size;
  return here;
}

static uint64_t take_number(cursor *c) {
  uint64_t value = 0;
  const char *bytes = take(c, sizeof value);
  if (!c->failed) memcpy(&value, bytes, sizeof value);
  return value;
}

static uint32_t take_small(cursor *c) {
  uint64_t value = take_number(c);
  if (value > UINT32_MAX) c->failed = true;
  return (uint32_t)value;
}

static const char *take_bytes(cursor *c, size_t *size) {
  *size = (size_t)take_number(c);
  return take(c, *size);
}

/* A vector of `count` elements (any number when `count` is NULL), copied to where it is aligned. */
static void *take_vector(cursor *c, size_t element, size_t *found) {
  size_t size;
  const char *bytes = take_bytes(c, &size);
  if (c->failed || size % element != 0) {
    c->failed = true;
    return NULL;
  }
  *found = size / element;
  void *copy = ms_arena_take(c->arena, *found + 1, element);
  if (copy == NULL) {
    c->failed = true;
  } else {
    memcpy(copy, bytes, size);
  }
  return copy;
}

static void take_bounds(cursor *c, ms_task *task, uint32_t dim) {
  size_t count;
  const int64_t *start = take_vector(c, sizeof *start, &count);
  if (c->failed || (count != 0 && count != task->grid.ranges[dim] + (size_t)1)) {
    c->failed = true;
    return;
  }
  task->bounds.start[dim] = count == 0 ? NULL : start;
}

/* Gives each operand its sections. */
static void take_sections(cursor *c, ms_operand *operands, size_t count) {
  size_t left = 0;
  const ms_section *next = take_vector(c, sizeof *next, &left);
  for (size_t i = 0; !c->failed && i < count; i++) {
    operands[i].lists = NULL;
    if (operands[i].section_count > left) c->failed = true;
    operands[i].sections = operands[i].section_count > 0 ? next : NULL;
    if (c->failed) return;
    next += operands[i].section_count;
    left -= operands[i].section_count;
  }
  if (left > 0) c->failed = true;
}

static void take_operands(cursor *c, ms_task *task, bool shared, ms_error *err) {
  size_t count = 0;
  ms_operand *operands = take_vector(c, sizeof *operands, &count);
  if (count > UINT32_MAX / 2) c->failed = true;
  take_sections(c, operands, count);
  task->operands = operands;
  if (c->failed) return;
  task->operand_count = (uint32_t)count;
  for (uint32_t i = 0; i < task->operand_count; i++) {
    const ms_operand *operand = &task->operands[i];
    bool moves = ms_operand_moves(operand);
    if (ms_operand_check(operand, i, &task->grid, shared, err) != 0 ||
        (!shared && moves && task->bounds.start[operand->cut] == NULL)) {
      c->failed = true;
    }
  }
}

static void take_log(cursor *c, ms_task_log *log) {
  size_t size;
  const char *bytes = take_bytes(c, &size);
  if (size != sizeof *log) c->failed = true;
  if (!c->failed) memcpy(log, bytes, sizeof *log);
  if (log->place > log->segment_size || log->size > log->segment_size - log->place ||
      log->slots > log->size) {
    c->failed = true;
  }
}

/* A lag or a depth: within bounds, or without one. */
static int64_t take_lag(cursor *c) {
  uint64_t value = take_number(c);
  if (value > (uint64_t)1 << 33 && value != (uint64_t)MS_GATE_UNBOUNDED) c->failed = true;
  return (int64_t)value;
}

static void take_rounds(cursor *c, ms_task *task) {
  ms_task_rounds *rounds = &task->rounds;
  ms_gate_setting *setting = &rounds->setting;
  uint64_t any = take_number(c);
  if (any == 0 || c->failed) return;
  setting->name = "rounds";
  setting->read_lag = take_lag(c);
  setting->write_lag = take_lag(c);
  setting->read_ahead = take_lag(c);
  setting->depth = take_lag(c);
  uint64_t scope = take_number(c), clocks = take_number(c);
  setting->backup = take_small(c);
  setting->timeout = take_small(c);
  if (setting->timeout > MS_GATE_TIMEOUT) c->failed = true;
  if (scope > MS_GATE_GLOBAL || clocks > 1 || setting->depth < 1 || any != 1) c->failed = true;
  setting->scope = (ms_gate_scope)scope;
  setting->clocks = clocks == 1;
  setting->delivered = true;
  size_t firsts = 0;
  rounds->read_first = take_vector(c, sizeof *rounds->read_first, &firsts);
  rounds->reads = take_vector(c, sizeof *rounds->reads, &rounds->read_count);
  if (firsts == 0) rounds->reads = NULL; /* else a gate is not made of what does not fit */
  if (c->failed || task->grid.strategy != MS_ROUNDS ||
      (firsts != 0 && (firsts != space_ranges(task) + (size_t)1 ||
                       rounds->read_first[firsts - 1] > rounds->read_count))) {
    c->failed = true;
  }
}

int ms_task_read(ms_task *task, const char *bytes, size_t size, bool shared, ms_arena *arena,
                 ms_error *err) {
  cursor c = {.at = bytes, .left = size, .arena = arena};
  *task = (ms_task){0};
  uint32_t strategy = take_small(&c);
  task->grid.strategy = strategy < MS_STRATEGIES ? (ms_strategy)strategy : MS_SERIALLY;
  task->grid.count = take_small(&c);
  task->grid.sequential = take_small(&c);
  task->grid.first = take_small(&c);
  task->grid.last = take_small(&c);
  task->grid.reach[0] = take_small(&c);
  task->grid.reach[1] = take_small(&c);
  task->grid.together = take_small(&c);
  task->workers = take_small(&c);
  if (strategy >= MS_STRATEGIES || task->grid.count > MS_CUTS) c.failed = true;
  for (uint32_t dim = 0; !c.failed && dim < task->grid.count; dim++) {
    task->grid.ranges[dim] = take_small(&c);
  }
  if (!c.failed && ms_grid_refusal(&task->grid) != NULL) c.failed = true;
  size_t owners = 0;
  if (!c.failed) task->range_owner = take_vector(&c, sizeof *task->range_owner, &owners);
  if (!c.failed && owners != space_ranges(task)) c.failed = true;
  for (uint32_t dim = 0; !c.failed && dim < task->grid.count; dim++) take_bounds(&c, task, dim);
  if (!c.failed) take_operands(&c, task, shared, err);
  take_log(&c, &task->log);
  take_rounds(&c, task);
  task->key = take_bytes(&c, &task->key_size);
  task->run = take_bytes(&c, &task->run_size);
  uint64_t known = take_number(&c);
  if (known == 1) task->kernel = take_bytes(&c, &task->kernel_size);
  if (!c.failed && known <= 1 && c.left == 0) return 0;
  return ms_error_set(err, MS_NET, "a worker was sent a task that it cannot read");
}
