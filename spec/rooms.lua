-- SPDX-License-Identifier: MIT
--- The rooms of the house: which file belongs to which, and in which order they stand. A file uses
-- its own room and those before it; CONTRIBUTING.md says what each room is for, and
-- spec/arrows_spec.lua sees to it.
local M = {}

-- Words of a text, each with the value it is listed under.
local function spread(lists)
  local map = {}
  for value, text in pairs(lists) do
    for word in text:gmatch "%S+" do
      assert(not map[word], word)
      map[word] = value
    end
  end
  return map
end

--- Lua rooms, the lowest first. `read` and `file` do not use each other.
M.lua_order = {"base", "array", "capture", "read", "file", "plan", "kernel", "worker", "driver",
               "check", "face"}

--- Rooms of Lua modules, by their names without "meissa."; a name stands for what is below it, too.
M.lua = spread {
  base = [[basics builtin chunks encoded environment errors ffi globals interpreter interrupt
    libraries nesting notice progress public remember requires spread strict system tables thrown
    core]],
  array = "array buffer read.gather scratch version",
  capture = "capture dump frame source undefined",
  read = "read",
  file = "file",
  plan = "axis captured grid items partition picture plan report space stage views weigh",
  kernel = "engine execution kernel native_run private random",
  worker = "worker",
  driver = "crew failure inprocess job loop map pool prefetch record speculate",
  check = "check recorder",
  face = "analyze cli",
}

--- C rooms, the lowest first.
M.c_order = {"base", "syntax", "array", "read", "depend", "plan", "kernel/emit", "kernel/native",
             "kernel/compile", "sync", "net", "job", "driver", "worker", "binding"}

--- Rooms of C files, by their names under csrc without their endings; a folder stands for what is
-- below it.
M.c = spread {
  base = "base array/fingerprint array/memory kernel/digest",
  syntax = "syntax",
  array = "array",
  read = [[array/batch array/docword array/entries array/fields array/file array/ids array/libsvm
    array/lines array/number array/paths array/pieces array/pipeline array/reading array/scan
    array/source array/stretch array/table array/table_format array/triples]],
  depend = "depend",
  plan = "array/needs runtime/grid runtime/schedule",
  ["kernel/emit"] = [[kernel/assign kernel/chain kernel/draft kernel/draws kernel/emit
    kernel/interval kernel/nest kernel/random kernel/row kernel/scalar kernel/splice kernel/strict
    kernel/variable kernel/view]],
  ["kernel/native"] = "kernel",
  ["kernel/compile"] = "kernel/build kernel/cache kernel/compile kernel/object kernel/toolchain",
  sync = "array/pending",
  net = "net",
  job = [[runtime/board runtime/box runtime/item runtime/parcel runtime/private runtime/redo
    runtime/report runtime/setup runtime/spin runtime/task runtime/undo runtime/undo_scene
    runtime/wanted]],
  driver = [[runtime/cached runtime/failure runtime/gather runtime/interrupt runtime/load
    runtime/member runtime/recover runtime/replace runtime/run runtime/session
    runtime/session_state runtime/spawn runtime/wait]],
  worker = [[runtime/apart runtime/bundle runtime/exchange runtime/fake_driver runtime/guard
    runtime/held runtime/hostile runtime/native_run runtime/token runtime/worker
    runtime/worker_failure runtime/worker_job runtime/worker_redo runtime/worker_report
    runtime/worker_return runtime/worker_state runtime/worker_take]],
  binding = "binding",
}

-- The value of a name, or of the longest beginning of it that has one.
local function find(map, name, separator)
  while name do
    if map[name] then return map[name] end
    name = name:match("^(.*)" .. separator .. "[^" .. separator .. "]*$")
  end
end

--- The room of a Lua module ("meissa.array.make"), or nil.
function M.of_module(module)
  if module == "meissa" then return "face" end
  return find(M.lua, module:match "^meissa%.(.*)$", "%.")
end

--- The room of a C file by its path under csrc ("array/ids.c"), or nil. Tests, fuzzers and programs
-- belong to what they are named after.
function M.of_source(path)
  local name = path:gsub("%.%w+$", "")
  name = name:gsub("_test$", ""):gsub("_fuzz$", ""):gsub("_main$", "")
  return find(M.c, name, "/")
end

return M
