-- SPDX-License-Identifier: MIT
--- Collective operations of replicas between the workers that carry them, without the driver: sums,
-- what the first one has, exchanges, barriers, over two mailboxes (meissa.kernel.mailbox) in turn.
--
-- A replica's row in a mailbox begins with a head. In the head of its first replica's row a worker
-- says what its replicas wait for. When all workers have come to a meeting (job:meet), they look
-- into each other's heads: if all say the same, they do it; else, or if one of them wants to, all
-- leave for the driver. So they agree without asking.
--
-- An array that is worth it is cut into a slice for each worker (Rabenseifner's reduce-scatter and
-- all-gather): that forms its slice's sum from all rows, in the order of the replicas, puts it into
-- its own row, and after a second meeting all take the slices from there. An element that nobody
-- else reads is not put anywhere.
--
-- Where replicas give an operation the first worker combines all rows by that of its first replica,
-- puts what comes of it into the first row, and after a second meeting all take it from there; or,
-- if that is the driver's to do, all leave.
--
-- Sums of integers may not fit. All workers form all of those, before any other, and so find alike
-- that one does not: then all leave with what they came with, and the driver says what is wrong.
--
-- A mailbox is written again two meetings later: by then all have come to one after they read it.
-- Stamps tell all the same, as those of messages do, that nobody wrote what was read: the first
-- of each is of what was put, the second of its slice's sum, or of what an operation gave.
-- @module meissa.worker.collective

local array = require "meissa.array"
local array_exchange = require "meissa.worker.array_exchange"
local ffi = require "ffi"
local mailboxes = require "meissa.kernel.mailbox"
local operations = require "meissa.worker.operation"
local row_sums = require "meissa.worker.row_sum"
local value_rows = require "meissa.worker.value_rows"
local values = require "meissa.sync.values"

local M = {}

local Collective = {}
Collective.__index = Collective

-- Bytes of an array whose sum is shared out: each worker forms all of smaller ones.
local SHARED_OUT = 32768

-- What a worker says at a meeting. `size` bytes of a form; -1: it leaves. `done`: how many of its
-- replicas have finished their steps. `combined`: the stamp, once an operation has given something.
local LONGEST = mailboxes.HEAD - 24
local heads = ffi.typeof("struct {double stamp, combined; int32_t size, done; char form[$];} *",
                         LONGEST)

local bytes_at = ffi.typeof "char *"

--- The collectives of one job.
-- @param job the worker's @tab about `count` replicas, `firsts`: the first one of each worker, and
-- one after the last; `block`: which worker this is; `boards`: the mailbox that is written first,
-- and the other one; `stamp`, from which on stamps are the job's own
function M.new(job, about)
  return setmetatable({job = job, count = about.count, firsts = about.firsts, block = about.block,
                       boards = about.boards, stamp = about.stamp, meetings = 0},
                      Collective)
end

-- ------------------------------------------------------------------------------- who says what

--- The mailbox of the present meeting, and the stamp of what replicas leave for the driver there.
function Collective:board()
  return self.boards[2 - self.meetings % 2], self.stamp + 2 * self.meetings + 1
end

-- The stamp of what is put at the present meeting.
local function stamp_of(self) return self.stamp + 2 * self.meetings end

local function row_of(board, k) return board.memory + (k - 1) * board.size end

local function head_of(self, board, block)
  return ffi.cast(heads, row_of(board, self.firsts[block]))
end

-- Says what this worker's replicas wait for: a form, or nil.
local function say(self, board, form, replicas)
  local head, done = head_of(self, board, self.block), 0
  for _, replica in ipairs(replicas) do done = done + (replica.request.done and 1 or 0) end
  head.stamp, head.size, head.done = stamp_of(self), form and #form or -1, done
  head.combined = 0
  if form then ffi.copy(head.form, form, #form) end
end

-- What a replica waits for, as text; nil where that is not for workers alone.
local function form_of_request(request)
  if request.kind == "barrier" then return request.kind end
  if request.kind == "exchange" then return array_exchange.form(request) end
  if request.kind ~= "allReduce" and request.kind ~= "scatter" then return nil end
  local of_values = values.form(request.values)
  return of_values and request.kind .. (request.op and "+" or "") ..
    (request.alone and "=" or "*") .. of_values
end

-- The exchange that all replicas of this worker wait for.
local function form_of(self, replicas)
  local form
  for _, replica in ipairs(replicas) do
    local own = form_of_request(replica.request)
    if not own or form and own ~= form then return nil end
    form = own
  end
  local op = self.block == 1 and replicas[1].request.op
  if op and not operations.is_simple(op) then return nil end
  return #form <= LONGEST and form or nil
end

-- Whether all workers say the same, and how many replicas have finished; nil: somebody wrote there.
local function compare(self, board, form)
  local done = 0
  for block = 1, #self.firsts - 1 do
    local head = head_of(self, board, block)
    if head.stamp ~= stamp_of(self) then
      self.torn = true
      return nil
    end
    if head.size ~= #form or ffi.string(head.form, #form) ~= form then return false end
    done = done + head.done
  end
  return true, done
end

-- ------------------------------------------------------------------------------- what is whose

-- The elements of a worker's slice of an array: from `first` on, to before `last`.
local function slice_of(self, place, block)
  -- Slices begin at whole lines of the cache.
  local workers, unit = #self.firsts - 1, mailboxes.LINE / place.size
  local function cut(b)
    return math.min(place.count, math.ceil(place.count * b / workers / unit) * unit)
  end
  return cut(block - 1), cut(block)
end

local function is_integer(place) return string.find(place.type, "^int") ~= nil end

local function is_shared_out(self, place)
  return #self.firsts > 2 and place.bytes >= SHARED_OUT and not is_integer(place)
end

-- Whether all that was put on the rows up to number `last` is what this meeting's replicas put.
local function check_put(self, board, layout, last)
  for k = 1, last do
    local row = row_of(board, k)
    for _, place in ipairs(layout.places) do
      if not value_rows.has_stamp(row, place, 0, stamp_of(self)) then self.torn = true end
    end
  end
  return not self.torn
end

-- The replicas of this worker with their values: `memory` where the elements of their arrays lie,
-- none if these are not one behind the other, or share memory; and `sums`, where sums go.
local function members_of(replicas, layout)
  local members = {}
  for n, replica in ipairs(replicas) do
    local given = replica.request.values or {}
    local member = {index = replica.index, values = given, list = values.leaves(given),
                    op = replica.request.op,
                    memory = {}, sums = {}, copies = {}}
    local apart = values.are_apart(member.list)
    for _, place in ipairs(layout.places) do
      local value = member.list[place.e]
      if place.e and not apart then
        member.copies[place.e] = array.zeros(place.dims, {type = place.type})
      end
      if place.e then
        local core = array.core_of_part(apart and value or member.copies[place.e])
        member.sums[place.e] = ffi.cast(bytes_at, core.data)
        if apart then member.memory[place.e] = member.sums[place.e] end
      end
    end
    members[n] = member
  end
  return members
end

-- Puts what others read of a replica's values.
local function put(self, board, layout, member, is_sum)
  local row, stamp = row_of(board, member.index), stamp_of(self)
  for _, place in ipairs(layout.places) do
    if not place.e then
      value_rows.write_between(row, place, 0, stamp, value_rows.put_numbers, member.list)
    else
      local first, last = 0, 0
      if is_sum and is_shared_out(self, place) then
        first, last = slice_of(self, place, self.block)
      end
      value_rows.write_between(row, place, 0, stamp, value_rows.put_array,
                               member.list[place.e], board, member.memory[place.e], first,
                               last)
    end
  end
end

-- ------------------------------------------------------------------------------- sums

-- Where an array of each replica is read, and where its sum goes in this process.
local function terms_of(self, board, members, place)
  local terms, to = {}, {}
  for k = 1, self.count do terms[k] = row_of(board, k) + place.at end
  for n, member in ipairs(members) do
    terms[member.index] = member.memory[place.e] or terms[member.index]
    to[n] = member.sums[place.e]
  end
  return terms, to
end

-- Sums this worker's slice of an array, which others take from its first row.
local function sum_slice(self, board, members, place)
  local row, terms, to = row_of(board, members[1].index), terms_of(self, board, members, place)
  local first, last = slice_of(self, place, self.block)
  to[#to + 1] = row + place.at
  value_rows.write_between(row, place, 1, stamp_of(self), function()
    row_sums.add_up(place, terms, to, first, last)
  end)
end

-- Takes the slices of the sum that other workers have computed. Whether all of them were of this
-- meeting.
local function gather(self, board, members, place)
  for block = 1, #self.firsts - 1 do
    local first, last = slice_of(self, place, block)
    local row, at = row_of(board, self.firsts[block]), first * place.size
    for _, member in ipairs(block ~= self.block and members or {}) do
      ffi.copy(member.sums[place.e] + at, row + place.at + at, last * place.size - at)
    end
    for number = 0, 1 do
      if not value_rows.has_stamp(row, place, number, stamp_of(self)) then self.torn = true end
    end
  end
  return not self.torn
end

-- Sums arrays of integers; false, and all is as it was: some do not fit.
local function sum_integers(self, board, layout, members)
  local fit = true
  for _, place in ipairs(layout.places) do
    if place.e and is_integer(place) then
      local terms, to = terms_of(self, board, members, place)
      fit = fit and row_sums.add_up(place, terms, to, 0, place.count)
    end
  end
  for _, place in ipairs(fit and {} or layout.places) do
    for _, member in ipairs(place.e and is_integer(place) and members or {}) do
      ffi.copy(member.sums[place.e], row_of(board, member.index) + place.at,
               place.count * place.size)
    end
  end
  return fit
end

-- Sums arrays that are not shared out, and the slices of those that are; the number of the latter.
local function sum_arrays(self, board, layout, members)
  local shared = 0
  for _, place in ipairs(layout.places) do
    if place.e and is_shared_out(self, place) then
      sum_slice(self, board, members, place)
      shared = shared + 1
    elseif place.e and not is_integer(place) then
      local terms, to = terms_of(self, board, members, place)
      row_sums.add_up(place, terms, to, 0, place.count)
    end
  end
  return shared
end

-- Puts numbers into the places of numbers; and does what is to be done with the arrays.
local function assign(members, numbers, take)
  for _, member in ipairs(members) do
    local e = 0
    values.walk(member.values, function(old)
      e = e + 1
      if numbers[e] then return numbers[e] end
      take(member, e, old)
      return nil
    end)
  end
end

-- All get the sums. False: some do not fit; nil: others have left, or wrote what was read.
local function sum_up(self, board, layout, members)
  local fit = sum_integers(self, board, layout, members)
  local shared = fit and sum_arrays(self, board, layout, members) or 0
  local sums = value_rows.numbers_of(members[1].list, function(n)
    local sum = value_rows.number_at(row_of(board, 1), layout, n)
    for k = 2, self.count do sum = sum + value_rows.number_at(row_of(board, k), layout, n) end
    return sum
  end)
  if not check_put(self, board, layout, self.count) then return nil end
  if (shared > 0 or not fit) and not self.job:meet(2 * self.meetings, true) then return nil end
  if not fit then return false end
  for _, place in ipairs(shared > 0 and layout.places or {}) do
    local shares = place.e and is_shared_out(self, place)
    if shares and not gather(self, board, members, place) then return nil end
  end
  assign(members, sums, function(member, e, old)
    if member.copies[e] then old:copy(member.copies[e]) end
  end)
  return true
end

-- All get what lies on the first row: stamps with this number. Nil: somebody wrote there.
local function take_first(self, board, layout, members, number)
  local row = row_of(board, 1)
  local numbers, arrays = value_rows.values_on(row, layout, members[1].list, board)
  assign(members, numbers, function(member, e, old)
    if number == 1 or member.index ~= 1 then old:copy(arrays[e]) end
  end)
  for _, place in ipairs(layout.places) do
    if not value_rows.has_stamp(row, place, number, stamp_of(self)) then self.torn = true end
  end
  return not self.torn or nil
end

-- Combines what lies on all rows. Nil: somebody wrote what was read.
local function combine(self, board, layout, members)
  local rows = {}
  for k = 1, self.count do rows[k] = row_of(board, k) end
  local done = operations.combine(members[1].op, rows, layout, members[1].list, board,
                                  stamp_of(self))
  if not check_put(self, board, layout, self.count) then return nil end
  if done then head_of(self, board, 1).combined = stamp_of(self) end
  return true
end

-- All get what the first replica's operation gives. False: that is the driver's to do; nil: others
-- have left, or wrote what was read.
local function operate(self, board, layout, members)
  if self.block == 1 and not combine(self, board, layout, members) then return nil end
  if not self.job:meet(2 * self.meetings, true) then return nil end
  if head_of(self, board, 1).combined ~= stamp_of(self) then return false end
  return take_first(self, board, layout, members, 1)
end

-- ------------------------------------------------------------------------------- the meeting

-- Puts what others read of the replicas' values.
local function put_all(self, board, layout, members, kind)
  for _, member in ipairs(members) do
    if kind ~= "scatter" or member.index == 1 then
      put(self, board, layout, member, kind == "allReduce" and not member.op)
    end
  end
end

-- All get their next rows. Nil: somebody wrote what was read.
local function exchange(self, board, layout, replicas)
  return array_exchange.merge(replicas, function(k)
    return row_of(board, k) + layout.places[1].at
  end, self.count, function() return check_put(self, board, layout, self.count) end) or nil
end

-- Does what all wait for. False: all leave with it; nil: others are gone, or wrote what was read.
local function perform(self, board, layout, kind, members, replicas)
  if kind == "exchange" then return exchange(self, board, layout, replicas) end
  if kind == "scatter" then return take_first(self, board, layout, members, 0) end
  if kind ~= "allReduce" then return true end
  return (members[1].op and operate or sum_up)(self, board, layout, members)
end

-- Finds out which exchange all replicas have come for, and does it.
local function meet(self, board, form, layout, replicas)
  local members, kind = members_of(replicas, layout), replicas[1].request.kind
  put_all(self, board, layout, members, kind)
  say(self, board, form, replicas)
  local come = self.job:meet(2 * self.meetings - 1, true)
  if come == nil then return false, 0 end -- they cannot meet
  if not come then return nil, 0 end
  local alike, done = compare(self, board, form)
  if alike then alike = perform(self, board, layout, kind, members, replicas) end
  if alike == nil then self.job:leave() end
  return alike, done or 0
end

--- Comes to the next meeting with what this worker's replicas wait for, and does it.
-- @tab[opt] replicas all of them, in their order: `index` and `request` of each; nil: leaves
-- @treturn boolean true: it is done; false: all leave with what they wait for; nil: others are gone
-- or, where `torn` is set, have written what was read
-- @treturn number how many replicas have finished their steps
-- @treturn number bytes of a row that these values need
function Collective:join(replicas)
  self.meetings = self.meetings + 1
  local board, form = self:board(), replicas and form_of(self, replicas)
  local layout = form and value_rows.layout(values.leaves(replicas[1].request.values or {}))
  if layout and layout.size <= board.size then
    local alike, done = meet(self, board, form, layout, replicas)
    return alike, done, layout.size
  end
  say(self, board, nil, {})
  self.job:meet(2 * self.meetings - 1, false)
  return false, 0, layout and layout.size or 0
end

return M
