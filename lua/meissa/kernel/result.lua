-- SPDX-License-Identifier: MIT
--- Results of blocks: on a worker from values to bytes, on the driver from the bytes of all blocks
-- to the scalars after the loop.
-- @module meissa.kernel.result
local c_core = require "meissa.base.c_core"
local ffi = require "ffi"
local gathered = require "meissa.kernel.gathered"
local helpers = require "meissa.kernel.helpers"
local late = require "meissa.base.late"
local memory = require "meissa.kernel.memory"
local merge = require "meissa.kernel.merge"
local native = require "meissa.kernel.native"
local streaks = require "meissa.kernel.streaks"
local tables = require "meissa.base.tables"
local unpack_values = require "meissa.kernel.unpack"
local interrupt = require "meissa.base.interrupt"

local serialize = late(function() return require "meissa.kernel.serialize" end)

local M = {}

-- The subscripts of an iteration, by what the block function tells it by, from `at` on, each
-- counted such that it ascends in the loop's order.
local function subscripts_of(self, numbers, at)
  local info, parts = self.kernel.info, {}
  for d = 1, info.dim_count do
    if info.entries then
      parts[d] = tonumber(self.operands.space.coords[d][numbers[at] - 1])
    else
      parts[d] = info.steps[d] > 0 and numbers[at + d - 1] or -numbers[at + d - 1]
    end
  end
  return parts
end

-- The iteration that a tracked scalar got its value from, as "3,-2".
local function position_of(self, results, at)
  return table.concat(subscripts_of(self, results, at), ",")
end

-- The iterations of all that is tracked, in the order of the results, and where they end.
local function positions_of(self, results)
  local info, positions, at = self.kernel.info, {}, #self.kernel.info.results + 1
  local function add(assigned)
    positions[#positions + 1] = assigned and results[at] and position_of(self, results, at) or "-"
    at = at + info.positions
  end
  for n, result in ipairs(info.results) do
    local tracked, begun = merge.is_tracked(info, result)
    if tracked then add(results[n] ~= helpers.none) end
    if begun then add(true) end
  end
  return table.concat(positions, ";"), at
end

local GATHERED = { listed = true, counted = true, marked = true }

-- The encoded forms of values on their way back, by value: all that the driver has sent.
-- @tab sent by capture, or 0 for what was not sent apart, the values by number
local function index_sent(sent)
  local codes = {}
  for c, objects in tables.each(sent) do
    for id, object in tables.each(objects) do
      codes[object] = codes[object] or { -id, c > 0 and c or nil }
    end
  end
  return codes
end

-- A gathered table on its way, and how it travels.
local function gather(result, part)
  if result.role == "listed" then return gathered.pack_list(part) end
  return gathered.pack_keyed(setmetatable(part, nil), result.role == "counted")
end

-- What a block has assigned to elements of a table on its way, how it travels, and the elements
-- that were assigned nil.
local function slice(part)
  if type(part) == "string" then return part, gathered.NUMBERS, nil end
  local content, gone = helpers.sliced(part)
  local packed, kind = gathered.pack_keys(content)
  return packed, kind, #gone > 0 and gone or nil
end

-- Puts the runs of lists, which the block function returned from `at` on, behind what is sent.
local function add_runs(self, results, at, sent, count)
  local info = self.kernel.info
  local function place(flat, from) return subscripts_of(self, flat, from) end
  for _, result in ipairs(info.results) do
    if result.role == "listed" and result.ranked then
      count = count + 1
      sent[count], at = gathered.pack_runs(results[at], info.positions, place), at + 1
    end
  end
  return count, at
end

-- Puts streaks, of which the block function returned the flat lists and their lengths from `at` on,
-- behind what is sent.
local function add_streaks(self, results, at, sent, count)
  local info = self.kernel.info
  local function place(flat, from) return subscripts_of(self, flat, from) end
  for _, result in ipairs(info.results) do
    if streaks.has(result) then
      count = count + 1
      sent[count] = streaks.pack(results[at], results[at + 1],
        select(2, streaks.member(info, result)), info.positions, place)
      at = at + 2
    end
  end
  return count
end

--- How values return to the driver, for serialize.encode.
-- @func path path(n): what the user calls value n
-- @func find_known find_known(value): see serialize.encode
function M.options(path, find_known)
  return { path = path, find_array = memory.refuse, find_known = find_known,
    code = "BDY", whither = "the driver",
    remedy = "Declare it local in the body if it is not needed after the loop",
    array_words = "an array or part of one",
    array_remedy = "Store its numbers, as its totable() gives them, or assign it to a row of an " ..
      "array that was made before the loop" }
end

-- A function that gives the encoded form of what the driver has sent to an instance.
local function known_to(self)
  local codes
  return function(value)
    codes = codes or index_sent(self.sent)
    return codes[value]
  end
end

-- Whether several blocks may leave one part of a table: sums that are exact in any order, and sets.
local function is_joinable(result)
  return result.role == "marked" or result.role == "counted" and result.exact
end

--- How many of the tables that blocks leave several of them may leave together, and how many things
-- else each of them leaves.
-- @tab info of the kernel
function M.count_joinable(info)
  local count = 0
  for _, result in ipairs(info.results) do count = count + (is_joinable(result) and 1 or 0) end
  return count, #info.results - count
end

--- These tables of what a block returned, by capture.
-- @tab info of the kernel @tab results likewise
function M.joinable(info, results)
  local found = {}
  for n, result in ipairs(info.results) do
    if is_joinable(result) then found[result.capture] = results[n] end
  end
  return found
end

--- What a block returned, as bytes: results by number, then "101": which private scalars were
-- assigned, then the iterations that assigned them, if blocks may run in another order than the
-- loop; then, by result, the elements of tables that were assigned nil; then how tables travel, a
-- letter for each result, the runs of those that have some, and streaks.
-- @tab self the instance @tab results what the block function returned
-- @bool[opt] deferred whether tables that several blocks may leave together come later
function M.encode(self, results, deferred)
  local info, sent, set, gone, kinds = self.kernel.info, {}, {}, {}, {}
  local captures, count = info.captures, #info.results
  local positions, at = positions_of(self, results)
  for n, result in ipairs(info.results) do
    local assigned = results[n] ~= helpers.none
    kinds[n] = "."
    if result.role == "sliced" then
      sent[n], kinds[n], gone[n] = slice(results[n])
    elseif GATHERED[result.role] then
      if not (deferred and is_joinable(result)) then
        sent[n], kinds[n] = gather(result, results[n])
      end
    elseif assigned then
      sent[n] = results[n]
    end
    set[n] = assigned and "1" or "0"
  end
  sent[count + 1], sent[count + 2] = table.concat(set), positions
  sent[count + 3], sent[count + 4] = tables.next(gone) and gone or nil, table.concat(kinds)
  local function path(n)
    return info.results[n] and captures[info.results[n].capture].path
  end
  local options = M.options(path, known_to(self))
  options.named = self.named
  count, at = add_runs(self, results, at, sent, count + 4)
  local bytes = serialize.encode(sent, add_streaks(self, results, at, sent, count), options)
  return bytes
end

-- Arrays are judged apart.
local function is_any_array(value) return memory.is_array(value) and 1 or nil end

--- All that captured values lead to, as a set: what a loop would have sent, and could return.
-- Values that cannot be sent are left out.
-- @tab values by capture @tab[opt] modules as serialize.encode takes them
function M.known(values, modules)
  local known = {}
  local function add(list, required)
    local ok, _, encoder = interrupt.pcall(serialize.encode, list, #list, { path = tostring,
      find_array = is_any_array, modules = required })
    for value in tables.each(ok and encoder.ids or {}) do
      if not memory.is_array(value) then known[value] = true end
    end
  end
  for _, value in tables.each(values) do add({ value }) end
  if modules then add({}, modules) end
  return known
end

--- The error of a value that cannot return to the driver; nil if it can.
-- @string path what the user calls it @tab known what M.known gave
function M.refusal(path, value, known)
  local function find_known(each) return known[each] and { -1 } or nil end
  local ok, err = interrupt.pcall(serialize.encode, { value }, 1,
    M.options(function() return path end, find_known))
  return not ok and err or nil
end

-- ms_reduce_op and ms_reduce_wins (depend/verdict.h), MS_COMBINE_LAST.
local OPS = { ["+"] = 0, ["*"] = 1, min = 2, max = 3, ["and"] = 4, ["or"] = 5, with = 9 }
local WINS = { beyond = 0, equal = 1, unless = 2 }
local LAST = -1

-- MS_COMBINE_MOST.
local MOST_WITH = 64

local rules_type = ffi.typeof("ms_combine_rule[?]")
local scalars_type = ffi.typeof("ms_native_slot[?]")

-- Where results go together: the leader's number and that of the first that goes with it, from 0,
-- each by the other one. False where C cannot tell: what has a head, a gate or ties.
local function partners_of(info)
  local at, with = {}, {}
  for n, scalar in ipairs(info.results) do at[scalar.capture] = n - 1 end
  for n, scalar in ipairs(info.results) do
    if scalar.unset or scalar.gate or scalar.tie then return false end
    if scalar.op == "with" then
      local leader = at[scalar.leader]
      with[n - 1], with[leader] = leader, with[leader] or n - 1
    end
  end
  return (tables.next(with) == nil or #info.results <= MOST_WITH) and with
end

-- What C combines a kernel's results with: `rules`, and room for the `scalars`. False if it cannot:
-- results other than those combined by operators, and what the last of some blocks assigned.
local function make_rules(info)
  local count, with = #info.results, partners_of(info)
  if count == 0 or info.positions > 0 or not with then return false end
  local rules = rules_type(count)
  for n, scalar in ipairs(info.results) do
    local op = scalar.role == "private" and LAST or scalar.role == "reduction" and OPS[scalar.op]
    if not op then return false end
    rules[n - 1].op, rules[n - 1].wins = op, WINS[scalar.wins] or 0
    rules[n - 1].with = with[n - 1] or -1
  end
  return { rules = rules, count = count, scalars = scalars_type(2 * count) }
end

-- By kernel info.
local rules_of = setmetatable({}, { __mode = "k" })

--- Whether the results of a kernel's blocks are best had as one string: it can be combined at once.
-- @tab info of the kernel
function M.combines_flat(info)
  local found = rules_of[info]
  if found == nil then
    found = make_rules(info)
    rules_of[info] = found
  end
  return found ~= false
end

--- What C combines a kernel's results with: {rules =, count =, scalars =}, nil if it cannot.
-- @tab info of the kernel
function M.rules(info)
  return M.combines_flat(info) and rules_of[info] or nil
end

--- Whether `and` or `or` reduces a scalar: whether it was true before the loop counts.
-- @tab scalar one of a kernel's results
function M.is_logic(scalar)
  return scalar.op == "and" or scalar.op == "or"
end

--- Whether what a scalar was before the loop counts, as a number.
-- @tab scalar one of a kernel's results
function M.counts_before(scalar)
  return scalar.role == "reduction" and scalar.op ~= "with" and not M.is_logic(scalar)
end

--- Puts into `scalars` what they are before the loop; false where C cannot go on from that.
-- @tab info of the kernel @tab values the captured values before the loop
function M.begin_scalars(info, values)
  local scalars = rules_of[info].scalars
  for n, scalar in ipairs(info.results) do
    local before = values[scalar.capture]
    if M.is_logic(scalar) then
      scalars[2 * n - 2].whole = before and 1 or 0
    elseif M.counts_before(scalar) then
      if type(before) ~= "number" then return false end
      scalars[2 * n - 2].number = before
    end
    scalars[2 * n - 1].whole = native.NONE
  end
  return true
end

--- What `scalars` say is to be assigned: a list of {capture =, value =}.
-- @tab info of the kernel
function M.end_scalars(info)
  local scalars, assigned = rules_of[info].scalars, {}
  for n, scalar in ipairs(info.results) do
    local set, value = native.value(scalars + 2 * n - 2)
    if set then assigned[#assigned + 1] = { capture = scalar.capture, value = value } end
  end
  return assigned
end

-- The results of all blocks at once; nil where one of them is no number, or what Lua has encoded.
local function combine_flat(info, values, results)
  local known, flat = rules_of[info], results.flat
  if not M.begin_scalars(info, values) then return nil end
  local failed = c_core.lib.ms_results_combine(known.rules, known.count, flat, results.blocks,
    known.scalars)
  return failed == 0 and M.end_scalars(info) or nil
end

-- The results of blocks, as a list of strings, from the one string that they came in.
local function apart(results)
  local list, size = {}, #results.flat / results.blocks
  for b = 1, results.blocks do list[b] = string.sub(results.flat, (b - 1) * size + 1, b * size) end
  return list
end

-- Whether what a reduction's variable is before the loop may not count: it, or what goes with it,
-- is nil then, which says that there is no value yet.
local function may_begin_anew(scalar)
  return scalar.role == "reduction" and scalar.unset and scalar.op ~= "+" and scalar.op ~= "with"
end

-- Whether it does not. Jobs after the first one of rounds go on from what that has left.
local function begins_anew(info, scalar, values)
  if not may_begin_anew(scalar) then return false end
  local anew = values[scalar.capture] == nil
  for _, other in ipairs(info.results) do
    local follows = other.op == "with" and other.leader == scalar.capture
    anew = anew or follows and values[other.capture] == nil
  end
  return anew
end

--- The scalars after the loop; see kernel.combine.
-- @tab info of the kernel @tab values the captured values before the loop
-- @tab results bytes of the blocks in plan order; or, of blocks that left equally many, {flat =
-- their bytes one after the other, blocks = how many}
-- @func[opt] known known(number, capture): the value that was sent by this number
function M.combine(info, values, results, known)
  if results.flat then
    local assigned = M.combines_flat(info) and native.is_flat(results, #info.results) and
      combine_flat(info, values, results)
    if assigned then return assigned end
    results = apart(results)
  end
  local final = {}
  for n, scalar in ipairs(info.results) do
    final[n] = { capture = scalar.capture, set = false }
    if not begins_anew(info, scalar, values) then
      final[n].value, final[n].goes_on = values[scalar.capture], may_begin_anew(scalar)
    end
  end
  for _, bytes in ipairs(#info.results > 0 and results or {}) do
    merge.take(info, final, native.is_slots(bytes) and
      native.decode(bytes, #info.results) or
      unpack_values.decode(bytes, { globals = _G, known = known }))
  end
  merge.finish(info, final)
  local assigned = {}
  for _, each in ipairs(final) do
    if each.set then assigned[#assigned + 1] = { capture = each.capture, value = each.value } end
  end
  return assigned
end

return M
