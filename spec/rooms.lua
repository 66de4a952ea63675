-- SPDX-License-Identifier: MIT
--- The rooms of the house, in the order in which they stand: folders of lua/meissa and of csrc. A
-- file uses its own room and those before it; CONTRIBUTING.md says what each room is for, and
-- spec/project/arrows_spec.lua sees to it.
local M = {}

--- Lua rooms, the lowest first. `read` and `file` do not use each other. The files beside the
-- folders are the face.
M.lua_order = {"base", "array", "sync", "capture", "read", "file", "plan", "kernel", "worker",
               "driver", "check", "face"}

--- C rooms, the lowest first.
M.c_order = {"base", "syntax", "array", "read", "depend", "plan", "kernel/emit", "kernel/native",
             "kernel/compile", "sync", "net", "job", "driver", "worker", "binding"}

-- The beginning of a name that is one of these rooms, or nil.
local function find(order, name)
  for _, room in ipairs(order) do
    if name == room or name:sub(1, #room + 1) == room .. "/" then return room end
  end
end

--- The room of a Lua module ("meissa.array.make"), or nil.
function M.of_module(module)
  local name = module:match "^meissa%.(.*)$"
  if not name or not name:find(".", 1, true) and not find(M.lua_order, name) then return "face" end
  return find(M.lua_order, (name:gsub("%.", "/")))
end

--- The room of a C file by its path under csrc ("array/ids.c"), or nil.
function M.of_source(path) return find(M.c_order, path) end

return M
