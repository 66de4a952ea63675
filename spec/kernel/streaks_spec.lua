-- SPDX-License-Identifier: MIT
-- What blocks leave of `if x < lo then lo, p = x, at elseif x > hi then hi, q = x, at end` gives
-- what the loop as written gives: sequences of a few values, cut and scattered in all ways, from
-- all kinds of starts. The proof is in csrc/depend/branch_gate.h. Of these cases the suite tries
-- one in eight, spread evenly and moved by the seed; MEISSA_STREAKS=100 tries all (make
-- fuzz-streaks).
local merge = require "meissa.kernel.merge"
local seed = require "spec.support.seed"
local streaks = require "meissa.kernel.streaks"

local SHARE = (tonumber(os.getenv "MEISSA_STREAKS" or "") or 12.5) / 100
local GOLDEN = (math.sqrt(5) - 1) / 2
local SHIFT = seed * GOLDEN % 1

-- Whether to try this one of all cases.
local function is_drawn(number) return (number * GOLDEN + SHIFT) % 1 < SHARE end

local NAN, INF = 0 / 0, math.huge

local BEYOND = {min = function(a, b) return b < a end, max = function(a, b) return b > a end}
local EQUAL = {min = function(a, b) return b <= a end, max = function(a, b) return b >= a end}
local TAKES = {beyond = BEYOND, equal = EQUAL}
local IDENTITY = {min = INF, max = -INF}

-- The statement: `first` is what its first branch keeps, "min" or "max", `wins` of both.
local function form(first, wins, later_wins)
  local second = first == "min" and "max" or "min"
  return {first = first, second = second, wins = wins, later_wins = later_wins,
          takes = TAKES[wins][first], later_takes = TAKES[later_wins][second]}
end

-- What a kernel of it tells; the results: lo, p, hi, q, and of blocks in the loop's order the heads
-- of hi and q.
local function info_of(shape, scattered)
  local function reduction(capture, op, wins, leader, gate)
    return {role = "reduction", capture = capture, op = op, wins = wins, leader = leader,
            gate = gate, unset = false, ranked = scattered and op ~= "with"}
  end
  local list = {reduction(1, shape.first, shape.wins, 1), reduction(2, "with", shape.wins, 1),
                reduction(3, shape.second, shape.later_wins, 3, 1),
                reduction(4, "with", shape.later_wins, 3, 1)}
  if not scattered then
    list[5], list[6] = {role = "head", capture = 3}, {role = "head", capture = 4}
  end
  return {results = list, positions = scattered and 1 or 0, dim_count = 1}
end

-- The loop as written, over the elements of `xs` whose block is `block`, or all.
local function run(shape, state, xs, blocks, block, meet)
  for at = 1, #xs do
    local x = xs[at]
    if blocks and blocks[at] ~= block then -- luacheck: ignore 542
    elseif shape.takes(state.lo, x) then
      if meet then meet(state, x, at) end
      state.lo, state.p = x, at
    elseif shape.later_takes(state.hi, x) then
      state.hi, state.q = x, at
    end
  end
  return state
end

-- What the block function of kernel/emit returns, as merge.take gets it.
local function leave(shape, xs, blocks, block, scattered, each)
  local head, place, flat = nil, nil, {}
  local last = shape.wins == "equal" and shape.later_wins == "equal"
  local state = run(shape, {lo = IDENTITY[shape.first], hi = IDENTITY[shape.second]}, xs, blocks,
                    block, function(state, x, at)
    if not head or last and x == head then head, place = x, at end
    if state.hi ~= IDENTITY[shape.second] then return end
    local n, goes_on = #flat, #flat > 0
    for before = flat[n] and flat[n] * each or at, at do
      goes_on = goes_on and blocks[before] == block
    end
    if goes_on and last and flat[n - 3] == x then n, goes_on = n - 4, false end
    if goes_on then
      flat[n - 1] = x
    else -- lo, p, the end, the iteration
      flat[n + 1], flat[n + 2], flat[n + 3], flat[n + 4] = x, at, x, math.ceil(at / each)
    end
  end)
  local set = "1" .. (state.p and 1 or 0) .. "1" .. (state.q and 1 or 0)
  local sent = {state.lo, state.p, state.hi, state.q}
  if not scattered then
    sent[5], sent[6] = head, place
    sent[7], sent[8], sent[10] = set .. (head and "11" or "00"), "", "......"
    return sent
  end
  local p, q = state.p and math.ceil(state.p / each), state.q and math.ceil(state.q / each)
  p, q = p or "-", q or "-"
  sent[5], sent[6], sent[8] = set, table.concat({p, p, q, q}, ";"), "...."
  sent[9] = streaks.pack(flat, #flat, 2, 1, function(list, at) return {list[at]} end)
  return sent
end

local function same(a, b)
  return a == b and (a ~= 0 or 1 / a == 1 / b) or a ~= a and b ~= b
end

-- The first difference between the loop and its blocks, as text, or nil. `order`: the blocks.
local function difference(shape, info, xs, blocks, order, lo, hi)
  local expected = run(shape, {lo = lo, hi = hi, p = "p", q = "q"}, xs)
  local final = {}
  for n, value in ipairs {lo, "p", hi, "q"} do final[n] = {value = value} end
  for n = 5, #info.results do final[n] = {} end
  for _, block in ipairs(order) do
    merge.take(info, final, leave(shape, xs, blocks, block, info.positions > 0, info.each))
  end
  merge.finish(info, final)
  for n, name in ipairs {"lo", "p", "hi", "q"} do
    if not same(final[n].value, expected[name]) then
      return ("%s %s %s: %s in blocks %s from %s, %s: %s is %s, not %s"):format(
        shape.first, shape.wins, shape.later_wins, table.concat(xs, " "),
        table.concat(blocks, " "), lo, hi, name, tostring(final[n].value),
        tostring(expected[name]))
    end
  end
end

-- Calls visit(list) for all lists of so many of the values.
local function each_list(count, values, visit, list)
  list = list or {}
  if #list == count then return visit(list) end
  for _, value in ipairs(values) do
    list[#list + 1] = value
    each_list(count, values, visit, list)
    list[#list] = nil
  end
end

local SPECIAL = {0, -0, 1, INF, -INF, NAN}

local STARTS = {INF, -INF, 1, 0, -0, NAN}

local ALL = #STARTS * #STARTS

-- Compares those that are drawn of all, with so many starts each, which go round; `each`: values of
-- an iteration. How many there are in all.
local function compare(shape, scattered, values, cuts, orders, starts, each)
  local info, turn = info_of(shape, scattered), 0
  info.each = each or 1
  each_list(#cuts[1], values, function(xs)
    for _, blocks in ipairs(cuts) do
      for _, order in ipairs(orders) do
        for _ = 1, starts do
          turn = turn + 1
          if is_drawn(turn) then
            local lo = STARTS[turn % #STARTS + 1]
            local hi = STARTS[math.floor(turn / #STARTS) % #STARTS + 1]
            assert.is_nil(difference(shape, info, xs, blocks, order, lo, hi))
          end
        end
      end
    end
  end)
  return turn
end

-- All ways of cutting so many elements into ranges; of scattering them over three blocks.
local function ranges(count)
  local list = {}
  each_list(count - 1, {0, 1}, function(cut)
    local blocks = {1}
    for at = 2, count do blocks[at] = blocks[at - 1] + cut[at - 1] end
    list[#list + 1] = blocks
  end)
  return list
end

local function scatterings(count)
  local list = {}
  each_list(count, {1, 2, 3}, function(blocks) list[#list + 1] = {unpack(blocks)} end)
  return list
end

describe("minimum and maximum in one statement", function()
  for _, wins in ipairs {"beyond", "equal"} do
    for _, later_wins in ipairs {"beyond", "equal"} do
      for _, first in ipairs {"min", "max"} do
        local shape = form(first, wins, later_wins)
        local name = ("(%s, %s, %s)"):format(first, wins, later_wins)

        it("are those of the loop, in blocks one after the other " .. name, function()
          local order = {{1, 2, 3, 4, 5, 6}}
          assert.equal(3 ^ 6 * 2 ^ 5, compare(shape, false, {0, 1, 2}, ranges(6), order, 1))
          compare(shape, false, {0, 1, 2}, ranges(3), order, ALL)
          compare(shape, false, SPECIAL, ranges(3), order, ALL)
        end)

        it("are those of the loop, in scattered blocks " .. name, function()
          local order = {1, 2, 3}
          assert.equal(3 ^ 10, compare(shape, true, {0, 1, 2}, scatterings(5), {order}, 1))
          compare(shape, true, {0, 1, 2, 3}, scatterings(4), {{3, 2, 1}}, 1)
          local pairs_of = {{1, 1, 2, 2}, {2, 2, 1, 1}, {1, 1, 1, 1}}
          compare(shape, true, {0, 1, 2}, pairs_of, {order}, ALL, 2)
          compare(shape, true, SPECIAL, scatterings(3), {{3, 1, 2}}, 1)
          compare(shape, true, {0, 1, NAN}, scatterings(3), {{2, 3, 1}}, ALL)
        end)
      end
    end
  end
end)
