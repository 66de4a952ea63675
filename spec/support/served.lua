-- SPDX-License-Identifier: MIT
-- What the specs of served arrays and of element lists share: roads, worlds and their bits.
local array = require "meissa.array"
local meissa = require "meissa"

local M = {roads = {}}

--- Shared memory, and by value over ipc and tcp, for several numbers of workers.
for _, workers in ipairs {1, 2, 3, 5} do
  M.roads[#M.roads + 1] = {workers = workers}
  for _, transport in ipairs {"ipc", "tcp"} do
    M.roads[#M.roads + 1] = {workers = workers, shm = false, transport = transport}
  end
end

function M.name_of(road)
  return ("%d workers%s%s"):format(road.workers, road.shm == false and ", by value" or "",
                                   road.transport == "tcp" and ", tcp" or "")
end

--- The bits of an array's numbers.
function M.bits(A)
  local words = {}
  local function add(list)
    for _, value in ipairs(list) do
      if type(value) == "table" then add(value) else words[#words + 1] = ("%a"):format(value) end
    end
  end
  add(A:totable())
  return table.concat(words, " ")
end

--- A loop of a body, and options as text, over so many iterations.
function M.loop_of(count, body, options)
  return assert(loadstring(("for i in parallel(%d, %s) do %s end"):format(count, options, body)))
end

--- A world with the same values; its arrays of these names are its own.
function M.copy_of(env, names)
  local own = {}
  for name, value in pairs(env) do own[name] = value end
  for _, name in ipairs(names) do
    if array.is(env[name]) then own[name] = env[name]:clone() end
  end
  return own
end

--- What a world has now under these names.
function M.contents(env, names)
  local all = {}
  for k, name in ipairs(names) do
    all[k] = array.is(env[name]) and M.bits(env[name]) or env[name]
  end
  return all
end

--- Holds a world to what another one, or itself, had under these names.
function M.expect_contents(expected, env, names, told)
  local found = M.contents(env, names)
  for k, name in ipairs(names) do
    assert(expected[k] == found[k], told .. ": " .. name)
  end
end

--- Runs a text with some globals, and takes them away again.
function M.run(text, env)
  for name, value in pairs(env) do rawset(_G, name, value) end
  local ok, err = pcall(meissa.run, text)
  for name in pairs(env) do rawset(_G, name, nil) end
  if not ok then error(err, 0) end
end

--- Whether the lists of what is read were made, if anything is served.
function M.is_listed(plan)
  if not plan.prefetch then return true end
  local needs = plan.cut and plan.cut.needs
  return needs and needs.lists ~= nil
end

return M
