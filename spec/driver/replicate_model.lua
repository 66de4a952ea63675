-- SPDX-License-Identifier: MIT
--- A serial model of loops over replicas, in plain Lua and from the manual's words alone: shares,
-- rounds, exchanges without filters, the final merge; and one whose exchanges are those of
-- exchange_model.lua, all at once, with everything. What specs compare loops with, bit for bit.
local exchanges = require "spec.driver.exchange_model"
local ffi = require "ffi"
local settings_of = require "meissa.sync.settings"
local tables = require "meissa.base.tables"

local M = {}

--- The iterations of each replica, {pass, e} one after the other: shares of n values, longer ones
-- first.
function M.shares(passes, n, replicas)
  local list, first = {}, 1
  for k = 1, replicas do
    local length = math.floor(n / replicas) + (k <= n % replicas and 1 or 0)
    list[k] = {}
    for pass = 1, passes do
      for e = first, first + length - 1 do table.insert(list[k], {pass, e}) end
    end
    first = first + length
  end
  return list
end

--- How many rounds there are.
function M.rounds(shares, passes, every)
  local largest = 0
  for _, each in ipairs(shares) do largest = math.max(largest, #each) end
  if every == math.huge then return 1 end
  if every < 1 then every = every * largest / passes end
  return math.ceil(largest / every * (1 - 1e-12))
end

-- Sums in the order of the replicas, then divides or scales.
local function sum(list, f, factors)
  local total = factors and factors[1] * list[1][f] or list[1][f]
  for k = 2, #list do total = total + (factors and factors[k] * list[k][f] or list[k][f]) end
  return total
end

-- Whom replica i hears, itself among them, by number, with weights.
local function heard(topology, i, t, rows)
  local list, weights = {}, {}
  local row = topology:weights(t)[i]
  for j = 1, #row do
    if row[j] ~= 0 then list[#list + 1], weights[#weights + 1] = rows[j], row[j] end
  end
  return list, weights
end

local function uniform(weights)
  for _, each in ipairs(weights) do
    if each ~= weights[1] then return false end
  end
  return true
end

-- The values after an exchange.
function M.exchange(rows, before, topology, merge, t)
  local out = {}
  for i in ipairs(rows) do
    local list, weights = heard(topology, i, t, rows)
    out[i] = {}
    for f = 1, #rows[i] do
      if merge == "mean" and uniform(weights) then
        out[i][f] = sum(list, f) / #list
      elseif merge == "mean" then
        out[i][f] = sum(list, f, weights)
      else
        local deltas = {}
        for k, row in ipairs(rows) do deltas[k] = {[f] = row[f] - before[k][f]} end
        out[i][f] = before[i][f] + merge.add * sum(deltas, f)
      end
    end
  end
  return out
end

local function copies(w, replicas)
  local rows = {}
  for k = 1, replicas do rows[k] = tables.copy(w) end
  return rows
end

--- Runs a loop: body(row, e, pass, k) changes row. `o` has passes, n, replicas, every, topology
-- (an object), merge ("mean" or {add =}), w (a list); the merged w, the rows, and rounds.
function M.run(o, body)
  local shares = M.shares(o.passes, o.n, o.replicas)
  local rounds = M.rounds(shares, o.passes, o.every)
  local rows = copies(o.w, o.replicas)
  for t = 1, rounds do
    local before = {}
    for k, row in ipairs(rows) do
      before[k] = tables.copy(row)
      local count = #shares[k]
      for s = math.floor(count * (t - 1) / rounds) + 1, math.floor(count * t / rounds) do
        body(row, shares[k][s][2], shares[k][s][1], k)
      end
    end
    rows = M.exchange(rows, before, o.topology, o.merge, t)
    if o.cut then o.cut(t, rows) end
  end
  local w, alike = {}, o.complete
  for f = 1, #o.w do w[f] = alike and rows[1][f] or sum(rows, f) / o.replicas end
  return w, rows, rounds
end

local function vectors(rows)
  local list = {}
  for k, row in ipairs(rows) do list[k] = ffi.new("double[?]", #row, row) end
  return list
end

--- The same with the options of meissa.replicate, and what is answered by the round after which it
-- governs; the rows, and the bytes that were exchanged.
function M.run_at_once(o, options, body, answers)
  local settings = settings_of.read("a model", options, options.replicas)
  local shares = M.shares(o.passes, o.n, options.replicas)
  local rounds, count = M.rounds(shares, o.passes, options.every), #o.w
  local rows, bytes = copies(o.w, options.replicas), 0
  local exchange = exchanges.new(settings, count, vectors(rows))
  for t = 1, rounds do
    local before, out = vectors(rows), vectors(rows)
    for k, row in ipairs(rows) do
      for s = math.floor(#shares[k] * (t - 1) / rounds) + 1, math.floor(#shares[k] * t / rounds) do
        body(row, shares[k][s][2], shares[k][s][1], k)
      end
    end
    bytes = bytes + exchange:round(t, before, vectors(rows), out)
    for k, row in ipairs(rows) do
      for f = 1, count do row[f] = out[k][f - 1] end
    end
    local answer = answers and answers[t]
    if answer and (answer.filter or answer.merge) then
      settings = settings_of.changed(settings, answer)
      exchange:change(settings, vectors(rows))
    end
  end
  return rows, bytes
end

-- The rows of a round, by what the local work of rounds has come to: replica k hears what sender j
-- had come to lag(t, j) rounds earlier than the last one, but nothing twice.
local function merge_old(o, history, t, k, known)
  local list, others = {}, o.topology:weights(t - 1)[k]
  for j, weight in ipairs(others) do
    local version = j == k and t - 1 or math.max(0, t - 1 - o.lag(t, j))
    if j == k then
      table.insert(list, {history[t - 1][k], 1})
    elseif weight ~= 0 and version > known[k][j] then
      table.insert(list, {history[version][j], version - (t - 1), weight})
      known[k][j] = version
    end
  end
  return list
end

-- What a function makes of such a list, one after the other.
local function fold(rule, list, own)
  local row = tables.copy(own)
  for _, each in ipairs(list) do
    for f = 1, each[1] ~= own and #own or 0 do row[f] = rule(row[f], each[1][f], each[3]) end
  end
  return row
end

-- The mean of such a list, or what is weighted by age (form "shifted"), or what a function makes.
local function combine(o, list, own)
  if o.rule then return fold(o.rule, list, own) end
  local row = {}
  for f = 1, #own do
    local all, total = o.lambda and own[f] or 0, o.lambda and 1 or #list
    for _, each in ipairs(list) do
      if not o.lambda then
        all = all + each[1][f]
      elseif each[1] ~= own then
        local u = o.lambda * math.max(each[2] + 1, 0)
        if u > 0 then all, total = all + u * each[1][f], total + u end
      end
    end
    row[f] = all / total
  end
  return row
end

--- The same with chosen lags, over uniform topologies: `lag(t, j)`, `lambda` of a merge that is
-- weighted, or `rule`, a function that merges; the last exchange is of the last round.
function M.run_stale(o, body)
  local shares = M.shares(o.passes, o.n, o.replicas)
  local rounds = M.rounds(shares, o.passes, o.every)
  local history, known, rows = {[0] = copies(o.w, o.replicas)}, {}, nil
  for k = 1, o.replicas do
    known[k] = {}
    for j = 1, o.replicas do known[k][j] = 0 end
  end
  for t = 1, rounds + 1 do
    rows = {}
    local rule = t > rounds and setmetatable({lag = function() return 0 end}, {__index = o}) or o
    for k = 1, o.replicas do
      local own = history[t - 1][k]
      rows[k] = t == 1 and tables.copy(own) or
        combine(o, merge_old(rule, history, t, k, known), own)
    end
    for k, row in ipairs(t <= rounds and rows or {}) do
      local count = #shares[k]
      for s = math.floor(count * (t - 1) / rounds) + 1, math.floor(count * t / rounds) do
        body(row, shares[k][s][2], shares[k][s][1], k)
      end
    end
    history[t] = rows
  end
  local w = {}
  for f = 1, #o.w do w[f] = sum(rows, f) / o.replicas end
  return w, rows, rounds
end

return M
