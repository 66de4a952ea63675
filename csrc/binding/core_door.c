/* SPDX-License-Identifier: MIT
 *
 * The door to the core: meissa/core.so, which `require "meissa.core"` loads. It opens the core
 * itself, libcore.so beside it, and gives what that gives.
 *
 * Lua binds at once whatever a module and the libraries behind it call; of the core's, most is
 * never called, and finding it all takes a third of the time of loading Meissa. Here it is bound
 * when it is called first. Both objects stay in memory when the state that has loaded them closes.
 */
#include <dlfcn.h>
#include <lauxlib.h>
#include <limits.h>
#include <lua.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/api.h"

#define CORE "libcore.so"

MS_API int luaopen_meissa_core(lua_State *L);

/* Something that lies in this object. */
static const char inside;

/* Where the core is: beside this object's own file, whatever links lead to it. False: nowhere. */
static bool find_core(char path[PATH_MAX + sizeof CORE]) {
  Dl_info about;
  if (dladdr(&inside, &about) == 0 || realpath(about.dli_fname, path) == NULL) return false;
  strcpy(strrchr(path, '/') + 1, CORE);
  return true;
}

int luaopen_meissa_core(lua_State *L) {
  char path[PATH_MAX + sizeof CORE];
  if (!find_core(path)) return luaL_error(L, "meissa/core.so does not know where it is");
  void *core = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  void *found = core == NULL ? NULL : dlsym(core, "ms_core_open");
  if (found == NULL) return luaL_error(L, "%s", dlerror());
  lua_CFunction open;
  memcpy(&open, &found, sizeof open);
  open(L);
  lua_pushstring(L, path);
  lua_setfield(L, -2, "path");
  return 1;
}
