/* SPDX-License-Identifier: MIT
 *
 * Walk, impure: calls of what a worker cannot do as the program would. See walk.h. */
#include <string.h>

#include "depend/impure.h"

void ms_impure_find_random(ms_walk *walk, const ms_node *node) {
  ms_walk_find(walk, MS_REASON_RANDOM, true, node,
               "use meissa.random() or meissa.normal(), which depend on the iteration",
               "math.random gives numbers in the order of its calls, which a parallel loop does "
               "not keep");
}

/* Whether lookups that are described so find modules: those in package.loaded, package.preload. */
static bool finds_modules(const char *words) {
  return strncmp(words, "package.", strlen("package.")) == 0 ||
         strstr(words, " in package") != NULL || strstr(words, " leads to package") != NULL;
}

void ms_impure_find_globals(ms_walk *walk, const char *words, const ms_node *node) {
  bool modules = finds_modules(words);
  const char *message = ms_arena_format(
      walk->arena, "%s: a worker has only those %s that the body and its functions name", words,
      modules ? "modules" : "variables");
  walk->failed = walk->failed || message == NULL;
  ms_walk_find(walk, MS_REASON_GLOBALS, false, node,
               modules ? "load it before the loop: local module = require(\"name\")"
                       : "look it up before the loop: local value = _G[name]",
               message);
}

/* A line of the barred fields: the remedy, a tab, why. */
static void find_barred(ms_walk *walk, const char *name, const char *line, const ms_node *node) {
  size_t remedy = strcspn(line, "\t");
  const char *why = line + remedy + 1;
  const char *message =
      ms_arena_format(walk->arena, "%s, which the program has given plain values, %.*s", name,
                      (int)strcspn(why, "\n"), why);
  walk->failed = walk->failed || message == NULL;
  if (strncmp(line, "impure", remedy) == 0 && remedy > 0) {
    ms_walk_find(walk, MS_REASON_IMPURE, false, node, NULL, message);
    return;
  }
  bool named = strncmp(line, "name", remedy) == 0 && remedy > 0;
  ms_walk_find(walk, MS_REASON_METHOD, false, node,
               named ? "call the function by a name: local f = string.name  ... f(s)" : NULL,
               message);
}

void ms_impure_find_barred(ms_walk *walk, const char *name, const ms_node *node) {
  size_t length = strlen(name);
  for (const char *line = walk->space->barred; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, name, length) != 0 || line[length] != '\t') continue;
    find_barred(walk, name, line + length + 1, node);
    return;
  }
}

void ms_impure_find(ms_walk *walk, const char *name, const ms_node *node) {
  if (name != NULL && strstr(name, "it uses math.random") != NULL) {
    ms_impure_find_random(walk, node);
    return;
  }
  if (name != NULL && strstr(name, "it looks up variables") != NULL) {
    ms_impure_find_globals(walk, name, node);
    return;
  }
  if (name == NULL || walk->space->impure) return;
  if (strcmp(name, "os.exit") == 0) {
    ms_walk_find(walk, MS_REASON_IMPURE, walk->possible == 0, node,
                 "raise an error, which ends all of the loop: error(\"...\")",
                 "os.exit would end a worker, and not the program");
    return;
  }
  const char *message = ms_arena_format(
      walk->arena,
      "%s may reach files, the clock or code outside of Lua: what it does and gives "
      "would depend on which worker calls it, and when",
      name);
  if (message == NULL) {
    walk->failed = true;
    return;
  }
  ms_walk_find(walk, MS_REASON_IMPURE, walk->possible == 0, node, NULL, message);
}
