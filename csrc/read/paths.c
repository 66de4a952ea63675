/* SPDX-License-Identifier: MIT
 *
 * Paths: see paths.h. */
#include "read/paths.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "a list of files");
}

static int refuse(const char *text, const char *why, ms_error *err) {
  ms_error_set(err, MS_FIL, "%s", why);
  return ms_error_place(err, text, 0);
}

/* Takes the path over, also on failure. */
static int add(ms_paths *list, char *path, ms_error *err) {
  char **grown =
      path == NULL ? NULL : realloc(list->paths, ((size_t)list->count + 1) * sizeof *list->paths);
  if (grown == NULL) {
    free(path);
    return out_of_memory(err);
  }
  list->paths = grown;
  list->paths[list->count++] = path;
  return 0;
}

static bool is_directory(const char *path) {
  struct stat state;
  return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

static int add_directory(ms_paths *list, const char *text, ms_error *err) {
  DIR *directory = opendir(text);
  if (directory == NULL) return refuse(text, strerror(errno), err);
  const char *slash = text[strlen(text) - 1] == '/' ? "" : "/";
  const struct dirent *each;
  int failed = 0;
  while (failed == 0 && (each = readdir(directory)) != NULL) {
    if (each->d_name[0] == '.') continue;
    char *path = NULL;
    if (asprintf(&path, "%s%s%s", text, slash, each->d_name) < 0) path = NULL;
    if (path != NULL && is_directory(path)) {
      free(path);
      continue;
    }
    failed = add(list, path, err);
  }
  closedir(directory);
  if (failed == 0 && list->count == 0) failed = refuse(text, "the directory has no files", err);
  return failed;
}

static int add_matches(ms_paths *list, const char *text, ms_error *err) {
  glob_t found = {0};
  int state = glob(text, GLOB_NOSORT, NULL, &found);
  int failed = state == GLOB_NOSPACE ? out_of_memory(err) : 0;
  for (size_t k = 0; state == 0 && failed == 0 && k < found.gl_pathc; k++) {
    if (!is_directory(found.gl_pathv[k])) failed = add(list, strdup(found.gl_pathv[k]), err);
  }
  globfree(&found);
  if (failed == 0 && list->count == 0) failed = refuse(text, "no file matches", err);
  return failed;
}

static int compare(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int find(ms_paths *list, const char *text, ms_error *err) {
  struct stat state;
  bool there = stat(text, &state) == 0;
  int failed;
  if (there && S_ISDIR(state.st_mode)) {
    failed = add_directory(list, text, err);
  } else if (there || strpbrk(text, "*?[") == NULL) {
    if (!there) return refuse(text, strerror(errno), err);
    failed = add(list, strdup(text), err);
  } else {
    failed = add_matches(list, text, err);
  }
  if (failed == 0) qsort(list->paths, (size_t)list->count, sizeof *list->paths, compare);
  return failed;
}

ms_paths *ms_paths_find(const char *text, ms_error *err) {
  ms_paths *list = calloc(1, sizeof *list);
  if (list == NULL) {
    out_of_memory(err);
    return NULL;
  }
  if (find(list, text, err) == 0) return list;
  ms_paths_free(list);
  return NULL;
}

void ms_paths_free(ms_paths *paths) {
  if (paths == NULL) return;
  for (int64_t k = 0; k < paths->count; k++) free(paths->paths[k]);
  free(paths->paths);
  free(paths);
}
