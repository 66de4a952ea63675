-- SPDX-License-Identifier: MIT
--- Which file uses which: the includes of C files, and of Lua files all that leads to another
-- module of ours: require, also in functions, and look-ups in package.loaded. Who fills in a field
-- of another module has it by one of these. See arrows_spec.lua.
local files = require "tools.files"
local M = {}

-- Lua text without its comments; strings stay.
local function without_comments(text)
  return (text:gsub("%-%-%[(=*)%[.-%]%1%]", ""):gsub("%-%-[^\n]*", ""))
end

--- The modules that a Lua text uses: {[module] = how}.
function M.of_lua(text)
  local uses = {}
  text = without_comments(text)
  for _, pattern in ipairs {"require%s*%(?%s*[\"'](meissa[%w_.]*)[\"']",
                            "loaded%s*%[%s*[\"'](meissa[%w_.]*)[\"']%s*%]",
                            "loaded%.(meissa)%f[^%w_]"} do
    for module in text:gmatch(pattern) do
      if module ~= "meissa.core" then uses[module] = "uses" end
    end
  end
  return uses
end

--- The files that a C text includes, by their paths under csrc.
function M.of_c(text)
  local uses = {}
  for path in text:gmatch "#%s*include%s+\"([^\"]+)\"" do
    if not path:find "%.inc$" then uses[path] = "includes" end
  end
  return uses
end

--- All Lua modules of the project: {[module] = {[module] = how}}.
function M.lua_files()
  local all = {}
  for _, path in ipairs(files.lines "cd lua && find meissa -name '*.lua' | sort") do
    local module = path:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
    all[module] = M.of_lua(files.read("lua/" .. path))
  end
  return all
end

--- All C files but tests and fuzzers, which may include what they like.
function M.c_files()
  local all = {}
  for _, path in ipairs(files.lines "cd csrc && find . -name '*.[ch]' | sed 's:^./::' | sort") do
    if not path:find "_test%.c$" and not path:find "_fuzz%.c$" then
      all[path] = M.of_c(files.read("csrc/" .. path))
    end
  end
  return all
end

-- Headers of tests: not in the module.
local TESTING = {["base/test.h"] = true}

--- Arrows that lead to a room further up: {"a -> b", ...}; what belongs to no room: {"a", ...}.
-- @tab all {[file] = {[file] = how}}
-- @tab order the rooms, the lowest first
-- @func room_of of a file
function M.upward(all, order, room_of)
  local level, found, homeless = {}, {}, {}
  for k, room in ipairs(order) do level[room] = k end
  for file, uses in pairs(all) do
    local own = level[room_of(file)]
    if not own then homeless[#homeless + 1] = file end
    for other in pairs(uses) do
      local its = level[room_of(other)]
      if not its then homeless[#homeless + 1] = other end
      if own and its and its > own and not TESTING[other] then
        found[#found + 1] = ("%s -> %s"):format(file, other)
      end
    end
  end
  table.sort(found)
  table.sort(homeless)
  return found, homeless
end

--- Files of different rooms that use each other, if by others: lists of names.
function M.cycles(all, room_of)
  local index, low, stack, on_stack, count, found = {}, {}, {}, {}, 0, {}
  local function visit(file)
    count = count + 1
    index[file], low[file] = count, count
    stack[#stack + 1], on_stack[file] = file, true
    for other in pairs(all[file] or {}) do
      if not index[other] then
        visit(other)
        low[file] = math.min(low[file], low[other])
      elseif on_stack[other] then
        low[file] = math.min(low[file], index[other])
      end
    end
    if low[file] < index[file] then return end
    local members, rooms = {}, {}
    local other
    repeat
      other = table.remove(stack)
      on_stack[other] = nil
      members[#members + 1], rooms[room_of(other) or "?"] = other, true
    until other == file
    if next(rooms, next(rooms)) then
      table.sort(members)
      found[#found + 1] = table.concat(members, " ")
    end
  end
  local names = {}
  for file in pairs(all) do names[#names + 1] = file end
  table.sort(names)
  for _, file in ipairs(names) do
    if not index[file] then visit(file) end
  end
  return found
end

return M
