-- SPDX-License-Identifier: MIT
--- Runs a script whose results are lines "name<tab>result" and prints each of them as a record of
-- the bank (tools/bank.lua): a line "@@bank<tab>name<tab>result<tab>plan". What is written between
-- two records, reports, notices and what bodies print, belongs to the second.
--
--     luajit spec/bank/watch.lua SCRIPT ARGUMENT...
local ffi = require "ffi"

local M = {}

--- FNV-1a of 64 bits, as hexadecimal digits.
function M.digest(text)
  local hash, prime = 0xcbf29ce484222325ULL, 0x100000001b3ULL
  for k = 1, #text do hash = bit.bxor(hash, ffi.cast("uint64_t", text:byte(k))) * prime end
  return bit.tohex(hash)
end

-- What the manual says of plans that is the same in each run.
local WORDS = {"strategy", "verdict", "engine", "serial", "ordered", "sequential", "stages",
               "workers", "redone", "repeated", "deaths"}
local LISTS = {"grid", "dims", "indices", "row", "distances"}

local function list_words(list)
  if type(list) ~= "table" then return tostring(list) end
  local words = {}
  for k, each in ipairs(list) do words[k] = list_words(each) end
  return "{" .. table.concat(words, ",") .. "}"
end

-- The fields of named things: of arrays, of scalars.
local function map_words(map, fields)
  local parts = {}
  for name, each in pairs(map or {}) do
    local words = {}
    for _, field in ipairs(fields) do words[#words + 1] = tostring(each[field]) end
    parts[#parts + 1] = name .. ":" .. table.concat(words, ",")
  end
  table.sort(parts)
  return table.concat(parts, " ")
end

--- A plan on one line.
function M.plan(plan)
  if not plan then return "none" end
  local parts = {}
  for _, key in ipairs(WORDS) do parts[#parts + 1] = key .. "=" .. tostring(plan[key]) end
  -- Of several workers it depends on who was free which block goes where.
  if plan.workers and plan.workers < 2 then parts[#parts + 1] = "moved=" .. tostring(plan.moved) end
  for _, key in ipairs(LISTS) do parts[#parts + 1] = key .. "=" .. list_words(plan[key]) end
  parts[#parts + 1] = map_words(plan.arrays, {"access", "placement", "follows", "base"})
  parts[#parts + 1] = map_words(plan.scalars, {"role", "op"})
  for _, reason in ipairs(plan.reasons or {}) do parts[#parts + 1] = reason.code end
  return table.concat(parts, " ")
end

--- Prints a record.
-- @param plan a plan, or what stands for it as text
function M.record(name, result, plan)
  local text = type(plan) == "string" and plan or M.plan(plan)
  io.stderr:flush()
  io.stdout:write("@@bank\t", name, "\t", (result:gsub("[\n\t]", " ")), "\t", text, "\n")
  io.stdout:flush()
end

-- The script's own `print`; bodies meet the usual one.
local function watching_print(...)
  local words = {}
  for k = 1, select("#", ...) do words[k] = tostring((select(k, ...))) end
  local line = table.concat(words, "\t")
  local name, result = line:match "^([^\t\n]+)\t(.*)$"
  if not name then return print(line) end
  M.record(name, result, require("meissa").last())
end

if arg and arg[0] and arg[0]:find("bank/watch.lua", 1, true) then
  io.stdout:setvbuf "line"
  local script = table.remove(arg, 1)
  rawset(arg, 0, script)
  local chunk = assert(loadfile(script))
  setfenv(chunk, setmetatable({print = watching_print}, {__index = _G}))(unpack(arg))
end

return M
