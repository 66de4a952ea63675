-- SPDX-License-Identifier: MIT
--- Merging: the scalars that a block has left are combined with those of the blocks before it.
--
-- Blocks come in the plan's order. Most scalars go by themselves. Variables that are assigned
-- together (`if v < best then best, at = v, i end`) are a tuple: its leader, which the body
-- compares, decides, and the others go with it. Where blocks may run in another order than the
-- loop, followers come with the iteration that gave them, and of equal leaders the earlier
-- iteration (or the later, for `<=`) wins as it does in the loop.
-- @module meissa.kernel.merge
local gathered = require "meissa.kernel.gathered"
local streaks = require "meissa.kernel.streaks"
local strict = require "meissa.base.strict"
local tables = require "meissa.base.tables"

local M = {}

local bor, band, bxor = strict.bit.bor, strict.bit.band, strict.bit.bxor

-- What blocks of bits begin with is no result of theirs: a block that has combined nothing leaves
-- it.
local identities = { ["+"] = -0, ["*"] = 1, min = math.huge, max = -math.huge, ["and"] = true,
  ["or"] = false, ["bit.bor"] = 2 ^ 32, ["bit.band"] = 2 ^ 32 - 1, ["bit.bxor"] = 2 ^ 32 }

--- The value that leaves a reduction unchanged.
-- @tab reduction `op`: "+" "*" "min" "max" "and" "or" "bit.bor" "bit.band" "bit.bxor"
-- @param initial the variable's value before the loop
function M.identity(reduction, initial)
  if (reduction.op == "or" or reduction.op == "+") and initial == nil then return nil end
  return identities[reduction.op]
end

-- Whether the value b that a block has formed takes the place of a, by the rule of the body's text.
local takes = {
  max = {
    beyond = function(a, b) return b > a end,
    equal = function(a, b) return b >= a end,
    unless = function(a, b) return not (a > b) and b ~= -math.huge end, -- luacheck: ignore 581
  },
  min = {
    beyond = function(a, b) return b < a end,
    equal = function(a, b) return b <= a end,
    unless = function(a, b) return not (a < b) and b ~= math.huge end, -- luacheck: ignore 581
  },
  ["or"] = {
    beyond = function(a) return not a end,
    equal = function(_, b) return b end,
  },
  ["and"] = {
    beyond = function(a) return a end,
  },
}

local function merge_bits(merge, op)
  return function(old, new)
    if new == identities[op] then return old end
    return merge(old, new)
  end
end

local merges = {
  ["+"] = function(old, new) -- nil: `(s or 0) + e` of an s that is nil before
    if old == nil or new == nil then return old or new end
    return old + new
  end,
  ["*"] = function(old, new) return old * new end,
  ["bit.bor"] = merge_bits(bor, "bit.bor"),
  ["bit.band"] = merge_bits(band, "bit.band"),
  ["bit.bxor"] = merge_bits(bxor, "bit.bxor"),
}

--- An old value combined with what one block has formed from the identity.
-- @tab reduction `op`, and `wins` of extremes and logic: "beyond" "equal" "unless" (see plan.h)
function M.combine_one(reduction, old, new)
  local merge = merges[reduction.op]
  if merge then return merge(old, new) end
  if takes[reduction.op][reduction.wins](old, new) then return new end
  return old
end

--- Whether a reduction's bits depend on where blocks end. Those of others are the loop's as
-- written, in the plan's order, so that a plain run has them.
function M.depends_on_blocks(reduction)
  return reduction.op == "+" or reduction.op == "*" or reduction.wins == "unless"
end

-- Whether a reduction is `s or e` or `s and e`, which evaluate e as long as s does not decide.
local function is_logic(result)
  return result.wins == "beyond" and (result.op == "or" or result.op == "and")
end

--- The captured values as blocks get them: of variables that `and` and `or` reduce, whether they
-- are true.
-- @tab info of the kernel @tab values by capture
function M.given(info, values)
  local given
  for _, result in ipairs(info.results) do
    if is_logic(result) then
      if not given then
        given = {}
        for c, value in tables.each(values) do given[c] = value end
      end
      given[result.capture] = not not values[result.capture]
    end
  end
  return given or values
end

--- The captured values as blocks get them that form each their own, whatever variables that `and`
-- and `or` reduce have become before: of these, what changes nothing.
-- @tab info of the kernel @tab values by capture
function M.anew(info, values)
  local anew = {}
  for c, value in tables.each(values) do anew[c] = value end
  for _, result in ipairs(info.results) do
    if is_logic(result) then anew[result.capture] = result.op == "and" end
  end
  return anew
end

--- Changes `given` to what the block after one with these results is to get.
-- @tab info of the kernel @tab given by capture @tab block see M.take
function M.decide(info, given, block)
  local count = #info.results
  for n, result in ipairs(info.results) do
    local value = not not block[n]
    local set = is_logic(result) and string.byte(block[count + 1], n) == 49
    if set and value == (result.op == "or") then given[result.capture] = value end
  end
end

--- Whether blocks evaluate what the loop may have skipped, so that an error of theirs may be none.
function M.speculates(info)
  for _, result in ipairs(info.results) do
    if is_logic(result) then return true end
  end
  return false
end

-- ------------------------------------------------------------------------------------ positions

-- Whether the iteration "3,-2" comes after another one, or nil, in loop order.
local function comes_after(position, other)
  if not other then return true end
  local theirs = string.gmatch(other, "[^,]+")
  for part in string.gmatch(position, "[^,]+") do
    local a, b = tonumber(part), tonumber(theirs())
    if a ~= b then return a > b end
  end
  return true
end

--- Whether a result comes with the iteration that gave it, and with the first that gave it any.
-- @tab info of the kernel @tab result one of its results
-- @treturn boolean
-- @treturn boolean
function M.is_tracked(info, result)
  local reduction = result.role == "reduction"
  local tracked = info.positions > 0 and
    (result.role == "private" or reduction and
     (result.op == "with" and not result.tie or result.ranked))
  return tracked, tracked and reduction and result.ranked and result.unset
end

-- --------------------------------------------------------------------------------------- tuples

--- Roles of results that are tables.
M.TABLES = { sliced = true, listed = true, counted = true, marked = true }

-- What is known of a kernel's results: `singles`, those that go by themselves; `tables`; `tuples`,
-- those that another goes before (`gate`) first, {leader =, followers = {...}, heads = {[result] =
-- head's number}, ties = {...}, last =, gate =}; `ties`: the followers that decide between equal
-- leaders, one after the other; `last`: what decides if all are equal, of ties and leader;
-- `plain`: the first of the other followers; `of`: the tuple by its leader. All are numbers of
-- results.
local function arrange(info)
  local at, heads, tuples, of, singles, gathers = {}, {}, {}, {}, {}, {}
  for n, result in ipairs(info.results) do
    if result.role == "head" then heads[result.capture] = n else at[result.capture] = n end
  end
  local function is_tuple(result)
    return result.role == "reduction" and
      (result.op == "with" or result.unset and result.op ~= "+" or result.ranked or
       result.gate ~= nil)
  end
  local function tuple_of(leader)
    if of[leader] then return of[leader] end
    local gate = info.results[leader].gate
    local tuple = { leader = leader, followers = {}, heads = {}, ties = {}, last = leader,
      gate = gate and at[gate] }
    of[leader] = tuple
    table.insert(tuples, gate and 1 or #tuples + 1, tuple)
    return tuple
  end
  for n, result in ipairs(info.results) do
    if is_tuple(result) then
      local tuple = tuple_of(at[result.leader])
      if n ~= tuple.leader then tuple.followers[#tuple.followers + 1] = n end
      if result.tie then tuple.ties[result.tie] = n
      elseif n ~= tuple.leader then tuple.plain = tuple.plain or n end
      tuple.heads[n] = heads[result.capture]
    end
  end
  for _, tuple in ipairs(tuples) do tuple.last = tuple.ties[#tuple.ties] or tuple.leader end
  for n, result in ipairs(info.results) do
    if result.role ~= "head" and not is_tuple(result) and not of[n] then
      table.insert(M.TABLES[result.role] and gathers or singles, n)
    end
  end
  return { singles = singles, tuples = tuples, tables = gathers, of = of }
end

-- By kernel info.
local arranged = setmetatable({}, { __mode = "k" })

-- Gives the results of a tuple the values that `source` has for them.
local function assign(tuple, final, source)
  local leader = final[tuple.leader]
  leader.value, leader.set = source(tuple.leader)
  leader.set = true
  for _, n in ipairs(tuple.followers) do
    final[n].value, final[n].set, final[n].position = source(n)
  end
end

-- Whether a block's tuple, of which value(n) gives the results, replaces what `final` has; it is of
-- the iteration `position` if iterations count.
local function replaces(info, tuple, final, value, position)
  local out, rule, n = final[tuple.leader], info.results[tuple.leader], tuple.leader
  for _, tie in ipairs(tuple.ties) do
    if value(n) ~= final[n].value then break end
    n, rule = tie, info.results[tie]
  end
  local old, new = final[n].value, value(n)
  if n == tuple.last and position and out.position and new == old then
    return comes_after(position, out.position) == (rule.wins == "equal")
  end
  return takes[rule.tie_op or rule.op][rule.wins](old, new)
end

-- Takes a block's tuple of which the first value stays if it is nan, where blocks run in another
-- order than the loop: whether a block's first is the loop's, the iterations `origins` tell.
local function take_first_of(tuple, final, block, is_set, origins)
  local out, head, origin = final[tuple.leader], tuple.heads[tuple.leader], origins[tuple.leader]
  if out.goes_on or origin == "-" or out.origin and comes_after(origin, out.origin) then return end
  out.origin = origin
  out.lasting = is_set(head) and function(n) return block[tuple.heads[n]], true end or nil
end

-- Takes a block's tuple. `block` has its values, `is_set(n)` says which were assigned.
local function take_tuple(info, tuple, final, block, is_set, positions, origins)
  local out = final[tuple.leader]
  local head, follower = tuple.heads[tuple.leader], tuple.plain
  local function from_heads(n) return block[tuple.heads[n]], true end
  local function from_block(n) return block[n], true, positions and positions[n] end
  if origins and origins[tuple.leader] then
    take_first_of(tuple, final, block, is_set, origins)
  elseif head and is_set(head) then
    local first = block[head]
    if tuple.gate then
      local gate, before = info.results[tuple.gate], final[tuple.gate].value
      if not takes[gate.op][gate.wins](before, first) and
         replaces(info, tuple, final, from_heads) then
        assign(tuple, final, from_heads)
      end
    elseif out.value == nil then
      assign(tuple, final, from_heads)
    end
  end
  local new = block[tuple.leader]
  if new == nil or (follower and not is_set(follower)) then return end
  local position = positions and (follower and positions[follower] or positions[tuple.leader])
  if position == "-" then return end -- nothing was taken
  if out.value == nil or replaces(info, tuple, final, from_block, position) then
    assign(tuple, final, from_block)
    out.position = position or nil
  end
end

-- --------------------------------------------------------------------------------------- blocks

-- Puts a block's part of a table into the table.
local function merge_slice(whole, part, kind, gone)
  gathered.mark(whole, part, kind)
  for _, key in ipairs(gone or {}) do whole[key] = nil end
end

-- The iterations that come with a block's results, by result, and those that gave them their first
-- values; nil where iterations do not count.
local function positions_of(info, text)
  if info.positions == 0 then return nil end
  local found, origins, each = {}, {}, string.gmatch(text, "[^;]+")
  for n, result in ipairs(info.results) do
    local tracked, begun = M.is_tracked(info, result)
    if tracked then found[n] = each() end
    if begun then origins[n] = each() end
  end
  return found, origins
end

-- Puts a block's list, sums or set to those before it; a list with runs is kept until M.finish.
local function gather(out, result, part, kind, runs)
  if result.role ~= "listed" then
    out.exact = result.exact
    gathered[result.role == "counted" and "add" or "unite"](out, part, kind)
  elseif runs then
    out.waiting = out.waiting or {}
    table.insert(out.waiting, { part = part, kind = kind, runs = runs })
  else
    gathered.append(out.value, part, kind)
  end
end

-- What the second branch gets of the streaks that blocks have left.
local function finish_streaks(info, tuple, final)
  local gate = info.results[tuple.gate]
  streaks.finish(info, final, tuple.leader, takes[gate.op][gate.wins], function(value, position)
    if replaces(info, tuple, final, value, position) then
      assign(tuple, final, value)
      final[tuple.leader].position = position
    end
  end)
end

-- Takes what a block has put into tables; where the next of its values stands.
local function take_tables(info, known, final, block)
  local count = #info.results
  local at = count + 4
  for _, n in ipairs(known.tables) do
    local result, runs, kind = info.results[n], nil, string.sub(block[count + 4], n, n)
    if result.role == "sliced" then
      merge_slice(final[n].value, block[n], kind, block[count + 3] and block[count + 3][n])
    else
      if result.role == "listed" and result.ranked then runs, at = block[at + 1], at + 1 end
      if kind ~= "." then gather(final[n], result, block[n], kind, runs) end
    end
  end
  return at
end

local function take_single(out, result, value, position)
  if result.role == "reduction" then
    out.value, out.set = M.combine_one(result, out.value, value), true
  elseif not position or comes_after(position, out.position) then
    out.value, out.set, out.position = value, true, position or nil
  end
end

--- Takes one block's results into `final`.
-- @tab info of the kernel
-- @tab final by result {value =, set =, goes_on = whether it had a first value before}
-- @tab block the values by result, then which were assigned, "101", then the iterations that did,
-- then by result which elements of tables were assigned nil, how gathered tables travel, and the
-- runs of lists that have some, then streaks: see result.lua
function M.take(info, final, block)
  local count = #info.results
  local positions, origins = positions_of(info, block[count + 2])
  local set = block[count + 1]
  local function is_set(n) return string.byte(set, n) == 49 end
  local known = arranged[info]
  if not known then
    known = arrange(info)
    arranged[info] = known
  end
  local at = take_tables(info, known, final, block)
  for n, result in ipairs(info.results) do
    if streaks.has(result) then
      at = at + 1
      streaks.take(final[n], final[known.of[n].gate].value, block[at])
    end
  end
  for _, tuple in ipairs(known.tuples) do
    take_tuple(info, tuple, final, block, is_set, positions, origins)
  end
  for _, n in ipairs(known.singles) do
    local result = info.results[n]
    if is_set(n) then
      take_single(final[n], result, block[n], positions and positions[n])
    end
  end
end

--- What can be done once all blocks are taken: sums by key and sets, lists whose blocks run in
-- another order than the loop, and first values that last.
-- @tab info of the kernel @tab final see M.take
function M.finish(info, final)
  for n, out in ipairs(final) do
    if out.lasting then assign(arranged[info].of[n], final, out.lasting) end
    if out.streaks then finish_streaks(info, arranged[info].of[n], final) end
    gathered.finish_keyed(out)
    if out.waiting then gathered.append_in_order(out.value, out.waiting, info.dim_count) end
  end
end

return M
