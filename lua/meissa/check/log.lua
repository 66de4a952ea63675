-- SPDX-License-Identifier: MIT
--- What a recorded loop touched: elements by their place in storage, variables by their name.
--
-- A store stands for one piece of memory, or for the body's variables; its `cells` are lists of
-- visits {n =, read =, write =, fresh =, read_line =, write_line =}, one for each iteration that
-- came by, in the order of execution. `fresh`: the iteration read before it wrote.
-- @module meissa.check.log

local M = {}
M.__index = M

-- "@/some/where/lua/meissa/": what the sources of the module's own functions begin with.
local own_prefix = string.match(debug.getinfo(1, "S").source, "^(@.*meissa/)") or "@meissa/"

--- A log without iterations.
function M.new()
  return setmetatable({iterations = {}, n = 0, stores = {}}, M)
end

--- Adds a store; `about` says what it is in messages.
function M:store(about)
  local store = about
  store.cells = {}
  self.stores[#self.stores + 1] = store
  return store
end

--- Begins the next iteration, at these indices.
function M:begin(at)
  self.n = self.n + 1
  self.iterations[self.n] = at
end

-- The line of the body, or of a function that it calls, that is running.
local function user_line()
  for level = 4, 12 do
    local info = debug.getinfo(level, "Sl")
    if not info then return nil end
    if info.currentline > 0 and string.sub(info.source, 1, #own_prefix) ~= own_prefix then
      return info.currentline
    end
  end
end

--- Notes that the running iteration reads or writes a cell. Between iterations (when the space is
-- walked) nothing is noted.
function M:touch(store, place, write)
  if self.n == 0 then return end
  local cell = store.cells[place]
  if not cell then
    cell = {}
    store.cells[place] = cell
  end
  local visit = cell[#cell]
  if not visit or visit.n ~= self.n then
    visit = {n = self.n, fresh = not write}
    cell[#cell + 1] = visit
  end
  if write and not visit.write then
    visit.write, visit.write_line = true, user_line()
  elseif not write and not visit.read then
    visit.read, visit.read_line = true, user_line()
  end
end

return M
