-- SPDX-License-Identifier: MIT
-- Mutants of how the module's files are loaded. Their form: rules.lua.
local chunks = {spec = "spec/base/chunks_spec.lua"}

return {
  {
    rule = "bytecode is used where its text is that of the file",
    finders = {chunks},
    mutants = {
      {"texts of the same size are the same", "csrc/binding/chunks.c",
       "memcmp(piece, bytes + done, (size_t)got) != 0)", "memcmp(piece, piece, (size_t)got) != 0)"},
      {"files may end early", "csrc/binding/chunks.c", "return done == size;", "return true;"},
      {"spans leave the file", "csrc/binding/chunks.c",
       "where.place <= list->size && where.size <= list->size - where.place", "list->size > 0"},
      {"names begin like others", "csrc/binding/chunks.c",
       "if (order == 0 && name.size == length) return", "if (order == 0) return"},
      {"names are short", "csrc/binding/chunks.c", "number >= 128; number >>= 7",
       "number >= 65536; number >>= 7"},
      {"modules lie in one directory", "csrc/binding/chunks.c", "&& part[k] == '.' ? '/' :",
       "&& part[k] == '.' ? '.' :"},
      {"only the first place is searched", "csrc/binding/chunks.c",
       "if (file >= 0) return file;", "return file;"},
      {"the first file that suits is taken", "csrc/binding/chunks.c",
       "if (file >= 0) return file;",
       "if (file >= 0 && strstr(path, \"init\") == NULL) return file;"},
      {"workers load the driver", "lua/meissa/driver/pool.lua", 'require "meissa.kernel.execution"',
       'require "meissa.driver.loop"'},
    },
  },
  {
    rule = "the collector begins behind what is loaded",
    finders = {chunks},
    mutants = {
      {"the collector goes over what is loaded", "csrc/binding/chunks.c",
       "  put_off_collection(L, list->size);", "  (void)put_off_collection;"},
      {"the collector's pause is another one", "csrc/binding/chunks.c",
       "  lua_gc(L, LUA_GCSETPAUSE, pause);", "  (void)pause;"},
      {"a collector that is stopped begins", "csrc/binding/chunks.c",
       "if (!lua_gc(L, LUA_GCISRUNNING, 0)) return;", ""},
    },
  },
  {
    rule = "modules that are loaded late are those that would have been loaded at first",
    finders = {{spec = "spec/base/late_spec.lua"}},
    mutants = {
      {"they are where package.path leads to by then", "lua/meissa/base/late.lua",
       "chunks.path = system.search_paths()", "chunks.path = nil"},
      {"what was interrupted counts as loaded", "lua/meissa/base/late.lua",
       "  forget_unfinished()\n", ""},
      {"they are loaded at first", "lua/meissa/read/init.lua",
       "local readers = late(function()",
       "local readers = (function(get) return get() end)(function()"},
    },
  },
}
