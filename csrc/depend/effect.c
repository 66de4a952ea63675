/* SPDX-License-Identifier: MIT
 *
 * Effects: see effect.h. */
#include "depend/effect.h"

#include <stddef.h>
#include <string.h>

#include "array/method.h"

typedef struct entry {
  const char *name; /* ending in '.': all names with this prefix; exact names come first */
  ms_effect effect;
} entry;

static const entry builtins[] = {
    {"math.random", MS_EFFECT_RANDOM},
    {"math.randomseed", MS_EFFECT_RANDOM},
    {"math.", MS_EFFECT_PURE},
    {"bit.", MS_EFFECT_PURE},
    {"string.", MS_EFFECT_PURE},
    {"os.", MS_EFFECT_PURE},
    {"io.", MS_EFFECT_PURE},
    {"print", MS_EFFECT_PURE},
    {"tonumber", MS_EFFECT_PURE},
    {"tostring", MS_EFFECT_PURE},
    {"type", MS_EFFECT_PURE},
    {"error", MS_EFFECT_PURE},
    {"debug.traceback", MS_EFFECT_PURE},
    {"rawequal", MS_EFFECT_PURE},
    {"rawlen", MS_EFFECT_PURE},
    {"table.concat", MS_EFFECT_PURE},
    {"table.maxn", MS_EFFECT_PURE},
    {"table.insert", MS_EFFECT_STORE},
    {"table.remove", MS_EFFECT_STORE},
    {"table.sort", MS_EFFECT_STORE},
    {"table.clear", MS_EFFECT_STORE},
    {"rawset", MS_EFFECT_STORE},
    {"setmetatable", MS_EFFECT_STORE},
    {"assert", MS_EFFECT_PASS},
    {"ipairs", MS_EFFECT_PASS},
    {"next", MS_EFFECT_PASS},
    {"pairs", MS_EFFECT_PASS},
    {"rawget", MS_EFFECT_PASS},
    {"select", MS_EFFECT_PASS},
    {"unpack", MS_EFFECT_PASS},
    {"table.unpack", MS_EFFECT_PASS},
    {"getmetatable", MS_EFFECT_PASS},
    {"table.new", MS_EFFECT_FRESH},
    {"ffi.new", MS_EFFECT_FRESH},
    {"ffi.cast", MS_EFFECT_PASS},
    {"ffi.typeof", MS_EFFECT_FRESH},
    {"ffi.string", MS_EFFECT_PURE},
    {"ffi.sizeof", MS_EFFECT_PURE},
    {"ffi.istype", MS_EFFECT_PURE},
    {"coroutine.yield", MS_EFFECT_YIELD},
    {"kernel.", MS_EFFECT_PURE}, /* what a kernel's text calls, where a loop in it is analysed */
    {"meissa.random", MS_EFFECT_PURE},
    {"meissa.normal", MS_EFFECT_PURE},
    {"meissa.clock", MS_EFFECT_PURE},
    {"meissa.scratch", MS_EFFECT_FRESH},
    {"meissa.zeros", MS_EFFECT_FRESH},
    {"meissa.ones", MS_EFFECT_FRESH},
    {"meissa.full", MS_EFFECT_FRESH},
    {"meissa.rand", MS_EFFECT_FRESH},
    {"meissa.randn", MS_EFFECT_FRESH},
    {"meissa.from", MS_EFFECT_FRESH},
    {"meissa.cat", MS_EFFECT_FRESH},
    {"meissa.abs", MS_EFFECT_FRESH},
    {"meissa.exp", MS_EFFECT_FRESH},
    {"meissa.log", MS_EFFECT_FRESH},
    {"meissa.pow", MS_EFFECT_FRESH},
    {"meissa.sqrt", MS_EFFECT_FRESH},
    {"meissa.tanh", MS_EFFECT_FRESH},
    {"meissa.sparse", MS_EFFECT_FRESH},
    {"meissa.parallel", MS_EFFECT_FRESH},
    {"meissa.read.run", MS_EFFECT_FRESH}, /* calls a function of the user's for many lines */
};

static const entry functions[] = {{"math.", MS_EFFECT_PURE},    {"bit.", MS_EFFECT_PURE},
                                  {"string.", MS_EFFECT_PURE},  {"tonumber", MS_EFFECT_PURE},
                                  {"type", MS_EFFECT_PURE},     {"select", MS_EFFECT_PURE},
                                  {"rawequal", MS_EFFECT_PURE}, {"rawlen", MS_EFFECT_PURE}};

/* What depends on more than its arguments: files, processes, the clock, foreign code; and code that
 * is made at run time, which may assign globals. */
static const entry impure[] = {
    {"os.difftime", MS_EFFECT_PURE},     {"os.getenv", MS_EFFECT_PURE},
    {"os.", MS_EFFECT_UNKNOWN},          {"io.", MS_EFFECT_UNKNOWN},
    {"meissa.clock", MS_EFFECT_UNKNOWN}, {"ffi.load", MS_EFFECT_UNKNOWN},
    {"dofile", MS_EFFECT_UNKNOWN},       {"loadfile", MS_EFFECT_UNKNOWN},
    {"load", MS_EFFECT_UNKNOWN},         {"loadstring", MS_EFFECT_UNKNOWN},
    {"setfenv", MS_EFFECT_UNKNOWN},
};

static const char *const string_methods[] = {"byte",  "find",  "format", "gmatch", "gsub",
                                             "len",   "lower", "match",  "rep",    "reverse",
                                             "split", "sub",   "upper"};

static bool names(const entry *each, const char *name) {
  size_t length = strlen(each->name);
  bool prefix = each->name[length - 1] == '.';
  return prefix ? strncmp(each->name, name, length) == 0 : strcmp(each->name, name) == 0;
}

static ms_effect find(const entry *table, size_t count, const char *name, ms_effect others) {
  for (size_t k = 0; k < count; k++) {
    if (names(&table[k], name)) return table[k].effect;
  }
  return others;
}

static bool lists(const entry *table, size_t count, const char *name) {
  for (size_t k = 0; k < count; k++) {
    if (names(&table[k], name)) return true;
  }
  return false;
}

bool ms_effect_is_impure(const char *name) {
  return find(impure, sizeof impure / sizeof impure[0], name, MS_EFFECT_PURE) != MS_EFFECT_PURE;
}

bool ms_effect_is_function(const char *name) {
  return lists(functions, sizeof functions / sizeof functions[0], name) &&
         ms_effect_of_builtin(name) != MS_EFFECT_RANDOM;
}

ms_effect ms_effect_of_builtin(const char *name) {
  return find(builtins, sizeof builtins / sizeof builtins[0], name, MS_EFFECT_UNKNOWN);
}

static ms_method_effect method_effect(const char *name) {
  const ms_method *method = ms_method_find(name);
  return method != NULL ? (ms_method_effect)method->effect : MS_METHOD_UNKNOWN;
}

ms_effect ms_effect_of_method(const char *name, uint32_t arguments) {
  static const ms_effect effects[] = {
      [MS_METHOD_UNKNOWN] = MS_EFFECT_UNKNOWN, [MS_METHOD_FREE] = MS_EFFECT_UNKNOWN,
      [MS_METHOD_SHAPE] = MS_EFFECT_PURE,      [MS_METHOD_READ] = MS_EFFECT_PURE,
      [MS_METHOD_OUTPUT] = MS_EFFECT_PURE,     [MS_METHOD_FRESH] = MS_EFFECT_FRESH,
      [MS_METHOD_VIEW] = MS_EFFECT_VIEW,       [MS_METHOD_WRITE] = MS_EFFECT_WRITE,
      [MS_METHOD_UPDATE] = MS_EFFECT_UPDATE,
  };
  const ms_method *method = ms_method_find(name);
  if (method == NULL) return MS_EFFECT_UNKNOWN;
  bool along = method->dimension > 0 && arguments >= (uint32_t)method->dimension;
  return along ? MS_EFFECT_FRESH : effects[method->effect];
}

bool ms_effect_changes(const char *name) {
  ms_method_effect effect = method_effect(name);
  return effect == MS_METHOD_WRITE || effect == MS_METHOD_UPDATE || effect == MS_METHOD_FREE;
}

bool ms_effect_adds(const char *name, uint32_t arguments) {
  const ms_method *method = ms_method_find(name);
  return method != NULL && arguments > 0 && (int64_t)arguments <= method->adds;
}

bool ms_effect_is_shape(const char *name) {
  return method_effect(name) == MS_METHOD_SHAPE;
}

bool ms_effect_is_output(const char *name) {
  return method_effect(name) == MS_METHOD_OUTPUT;
}

int ms_effect_is_string_method(const char *name) {
  for (size_t k = 0; k < sizeof string_methods / sizeof string_methods[0]; k++) {
    if (strcmp(string_methods[k], name) == 0) return 1;
  }
  return 0;
}
