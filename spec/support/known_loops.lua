-- SPDX-License-Identifier: MIT
--- The loops with known answers, as spec/support/loops.lua has others.
local entries_of = require("meissa.base.tables").each
local M = {}

-- Numbers from a seed for index tables.
local function indices(count, most)
  local state, list = 99, {}
  for k = 1, count do
    state = (state * 1103515245 + 12345) % 2 ^ 31
    list[k] = math.floor(state / 2 ^ 31 * most) + 1
  end
  return list
end

local function world_of(row)
  return function(meissa)
    local env, names = {}, {}
    for name in entries_of(row.bindings) do names[#names + 1] = name end
    table.sort(names)
    for seed, name in ipairs(names) do
      local what = row.bindings[name]
      if what.shape then
        env[name] = meissa.rand(what.shape, {seed = seed})
      elseif what.opaque then
        env[name] = indices(20, 12)
      else
        env[name] = what.number
      end
    end
    return env
  end
end

-- The row's text with an order.
local function with_order(text, ordered)
  local option = "ordered = " .. tostring(ordered)
  local changed, times = text:gsub("{(collapse = %d)}", "{%1, " .. option .. "}", 1)
  if times == 0 then changed = text:gsub("%) do", ", {" .. option .. "}) do", 1) end
  return changed
end

--- The rows of spec/data/loops.jsonl.
function M.of_file(path)
  local json, list = require "dkjson", {}
  for line in io.lines(path) do
    local row = assert(json.decode(line))
    for _, ordered in ipairs {true, false} do
      local answers = ordered and row.ordered or row.unordered
      list[#list + 1] = {
        name = row.id .. (ordered and " ordered" or " unordered"), ordered = ordered,
        serial = answers[1].strategy == "serial", answers = answers, world = world_of(row),
        text = with_order(row.source, ordered),
      }
    end
  end
  return list
end

return M
