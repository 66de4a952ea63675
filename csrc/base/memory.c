/* SPDX-License-Identifier: MIT
 *
 * Memory: see memory.h. Knows cgroup v2 (memory.max, memory.current) and v1
 * (memory.limit_in_bytes, memory.usage_in_bytes). Page cache that can be dropped (inactive_file)
 * counts as free, as the kernel itself counts it. */
#include "base/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* v1 writes "no limit" as a huge multiple of the page size. */
#define NO_LIMIT (UINT64_MAX / 4)

static FILE *open_under(const char *root, const char *path) {
  char full[PATH_MAX];
  int length = snprintf(full, sizeof full, "%s%s", root, path);
  return length > 0 && (size_t)length < sizeof full ? fopen(full, "re") : NULL;
}

/* The number after `name` at the start of a line; `found` tells whether there is one. */
static uint64_t number_after(FILE *file, const char *name, bool *found) {
  char line[256];
  size_t length = strlen(name);
  *found = false;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, length) != 0) continue;
    char *end;
    uint64_t value = strtoull(line + length, &end, 10);
    if (end == line + length) return UINT64_MAX;
    *found = true;
    return value;
  }
  return UINT64_MAX;
}

static uint64_t machine_available(const char *root) {
  FILE *file = open_under(root, "/proc/meminfo");
  if (file == NULL) return UINT64_MAX;
  bool found;
  uint64_t kilobytes = number_after(file, "MemAvailable:", &found);
  fclose(file);
  return found && kilobytes < UINT64_MAX / 1024 ? kilobytes * 1024 : UINT64_MAX;
}

typedef struct group_files {
  const char *mount, *limit, *usage, *cache;
} group_files;

static const group_files version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                      "inactive_file "};
static const group_files version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                      "memory.usage_in_bytes", "total_inactive_file "};

static uint64_t group_number(const char *root, const group_files *files, const char *group,
                             const char *name, const char *prefix) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s%s/%s", files->mount, group, name);
  if (length < 0 || (size_t)length >= sizeof path) return UINT64_MAX;
  FILE *file = open_under(root, path);
  if (file == NULL) return UINT64_MAX;
  bool found;
  uint64_t value = number_after(file, prefix, &found);
  fclose(file);
  return value;
}

static void look_at_group(const char *root, const group_files *files, const char *group,
                          ms_memory *memory) {
  uint64_t limit = group_number(root, files, group, files->limit, "");
  uint64_t usage = group_number(root, files, group, files->usage, "");
  if (limit >= NO_LIMIT || usage == UINT64_MAX) return;
  uint64_t cache = group_number(root, files, group, "memory.stat", files->cache);
  if (cache != UINT64_MAX) usage = cache < usage ? usage - cache : 0;
  uint64_t left = usage < limit ? limit - usage : 0;
  if (left >= memory->group_free) return;
  memory->group_free = left;
  memory->group_limit = limit;
}

/* A group's limit binds all groups below it: look at every one up to the root. Inside a container
 * the path may name groups that are not visible; the root then still is. */
static void look_upwards(const char *root, const group_files *files, char *group,
                         ms_memory *memory) {
  for (;;) {
    size_t length = strlen(group);
    while (length > 0 && group[length - 1] == '/') group[--length] = '\0';
    look_at_group(root, files, group, memory);
    char *slash = strrchr(group, '/');
    if (slash == NULL) return;
    *slash = '\0';
  }
}

/* Whether a comma-separated list of controllers has "memory" in it. */
static bool names_memory(const char *list) {
  for (const char *at = list; (at = strstr(at, "memory")) != NULL; at++) {
    bool starts = at == list || at[-1] == ',';
    if (starts && (at[6] == ',' || at[6] == '\0')) return true;
  }
  return false;
}

ms_memory ms_memory_read(const char *root) {
  ms_memory memory = {machine_available(root), UINT64_MAX, UINT64_MAX};
  FILE *file = open_under(root, "/proc/self/cgroup");
  if (file == NULL) return memory;
  char line[PATH_MAX];
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    if (controllers == NULL) continue;
    char *group = strchr(++controllers, ':');
    if (group == NULL) continue;
    *group++ = '\0';
    if (controllers[0] == '\0') {
      look_upwards(root, &version_2, group, &memory);
    } else if (names_memory(controllers)) {
      look_upwards(root, &version_1, group, &memory);
    }
  }
  fclose(file);
  return memory;
}

void ms_memory_trim(void) {
  malloc_trim(0);
}
