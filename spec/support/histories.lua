-- SPDX-License-Identifier: MIT
--- Random histories that are valid, made from the rules as docs/rounds.md and the papers have them,
-- without any of the checker's code; and histories in the papers' notation.
local tables = require "meissa.base.tables" -- hot loops by `pairs` may fault, as it says

local M = {}

local inf = math.huge

--- Published settings: name, read_lag, write_lag, read_ahead, depth, scope, and whether everyone's
-- clock counts.
M.SETTINGS = {
  {"data-centric", 0, 1, 0, 2, "range"}, {"data-centric", 0, 0, 0, 1, "range"},
  {"data-centric", 1, 2, 0, 4, "range"}, {"data-centric", 2, 3, 0, 6, "range"},
  {"data-centric", 1, 0, 0, 2, "range"}, {"bsp", 0, 0, 0, 1, "global"},
  {"pd-delay", 1, 1, 1, 1, "range"}, {"pd-delay", 2, 2, 2, 1, "range"},
  {"ssp", 0, inf, 0, 2, "global", 1}, {"ssp", 1, inf, 1, 4, "global", 1},
  {"ssp", 2, inf, 2, 6, "global", 1}, {"async", inf, inf, inf, 0, "nobody"},
  {"notify-ack", 0, 1, 0, 2, "edge"},
}

local function shown(value) return value == inf and "inf" or ("%d"):format(value) end

--- A writer of lines: numbers and times them.
function M.writer()
  local lines, seq, time = {"meissa-history 1"}, {}, 0
  return lines, function(process, incarnation, kind, ...)
    local of = process .. incarnation
    seq[of] = (seq[of] or -1) + 1
    time = time + 1e-6
    lines[#lines + 1] = ("%d %.9f %s %d %s"):format(seq[of], time, process, incarnation,
      kind:format(...))
  end
end

--- The same lines, numbered and timed anew, where some were moved, added or taken out.
function M.renumber(lines)
  local made, seq = {lines[1]}, {}
  for k = 2, #lines do
    local process, incarnation, rest = lines[k]:match "^%S+ %S+ (%S+) (%d+) (.*)$"
    local of = process .. incarnation
    seq[of] = (seq[of] or -1) + 1
    made[k] = ("%d %.9f %s %s %s"):format(seq[of], k * 1e-6, process, incarnation, rest)
  end
  return made
end

--- The lines that begin a job of rounds.
function M.begin_rounds(write, job, setting, rounds, blocks)
  write("driver", 0, "rounds job=%d sync=%s read_lag=%s write_lag=%s read_ahead=%s depth=%d "
    .. "scope=%s rounds=%d clocks=%d", job, setting[1], shown(setting[2]), shown(setting[3]),
    shown(setting[4]), setting[5], setting[6], rounds, setting[7] or 0)
  for _, block in ipairs(blocks) do
    local reads = {}
    for range in tables.each(block.reads) do reads[#reads + 1] = range end
    table.sort(reads)
    write("driver", 0, "block job=%d block=%d reads=%s writes=%d", job, block.number,
      #reads > 0 and table.concat(reads, ",") or "-", block.number)
  end
end

-- Blocks that each write the range of their number, on workers, and read some.
local function draw_blocks(draw)
  local blocks, workers = {}, draw(3)
  local dense = draw(3)
  for number = 0, workers + draw(3) - 2 do
    local block = {number = number, worker = number < workers and number or draw(workers) - 1,
                   reads = {}}
    blocks[#blocks + 1] = block
  end
  for _, block in ipairs(blocks) do
    for _, other in ipairs(blocks) do
      if draw(dense) == 1 then block.reads[other.number] = true end
    end
  end
  return blocks, workers
end

-- Whether the block may read for its next round, and write in it.
local function may_read(blocks, setting, block, round)
  for _, q in ipairs(blocks) do
    local counts = block.reads[q.number] or setting[6] == "global" and
      (next(block.reads) or setting[7])
    if setting[6] ~= "nobody" and counts and q ~= block and q.done < round - 1 - setting[2] then
      return false
    end
  end
  return true
end

local function may_write(blocks, setting, block, round)
  for _, p in ipairs(blocks) do
    local counts = p.reads[block.number] or setting[6] == "global" and next(p.reads)
    if setting[3] ~= inf and counts and p ~= block and p.seen < round - setting[3] then
      return false
    end
  end
  return true
end

-- A version that the block may see: own ones as of the round before, others' as new as they may be.
local function version_of(blocks, setting, block, range, round)
  if range == block.number then return round - 1 end
  return math.min(blocks[range + 1].done, round - 1 + setting[4])
end

local function read_all(write, blocks, setting, block, job)
  local in_place = setting[5] == 1 and setting[4] > 0
  local ranges = {}
  for range in tables.each(block.reads) do ranges[#ranges + 1] = range end
  table.sort(ranges)
  for _, range in ipairs(ranges) do
    local version = version_of(blocks, setting, block, range, block.round)
    write("worker-" .. block.worker + 1, block.incarnation,
      "%s job=%d block=%d round=%d range=%d version=%d hash=%d", in_place and "read" or "pin", job,
      block.number, block.round, range, version, version == 0 and 7 or range * 1000 + version)
  end
end

-- What a block does, one after the other: functions that return false where they must wait, each.
local function steps_of(write, blocks, setting, block, job)
  local two_phase = setting[3] == 0
  local function say(...) write("worker-" .. block.worker + 1, block.incarnation, ...) end
  local function begin()
    block.round = block.done + 1
    if not may_read(blocks, setting, block, block.round) then return false end
    if not two_phase and not may_write(blocks, setting, block, block.round) then return false end
    say("begin job=%d block=%d round=%d", job, block.number, block.round)
    read_all(write, blocks, setting, block, job)
  end
  local function seen()
    say("seen job=%d block=%d round=%d", job, block.number, block.round)
    block.seen = block.round
  end
  local function fill()
    if not may_write(blocks, setting, block, block.round) then return false end
    say("fill job=%d block=%d round=%d range=%d", job, block.number, block.round, block.number)
  end
  local function commit()
    say("write job=%d block=%d round=%d range=%d hash=%d", job, block.number, block.round,
      block.number, block.number * 1000 + block.round)
    say("commit job=%d block=%d", job, block.number)
    block.done, block.seen = block.round, block.round
  end
  return two_phase and {{begin, seen}, {fill, commit}} or {{begin, fill, commit}}
end

-- The order in which a worker takes the steps of its blocks in a round.
local function plan_of(write, blocks, setting, worker, job)
  local plan, phases = {}, setting[3] == 0 and 2 or 1
  for phase = 1, phases do
    for _, block in ipairs(blocks) do
      if block.worker == worker then
        for _, step in ipairs(steps_of(write, blocks, setting, block, job)[phase]) do
          plan[#plan + 1] = {step = step, block = block}
        end
      end
    end
  end
  return plan
end

-- A worker dies while its block is under way: the next incarnation begins it again.
local function die(write, worker, at)
  local block = worker.plan[at].block
  local old = worker.incarnation
  worker.incarnation = old + 1
  for _, each in ipairs(worker.plan) do each.block.incarnation = worker.incarnation end
  write("driver", 0, "fence worker=worker-%d incarnation=%d", worker.number + 1, old)
  while at > 1 and worker.plan[at - 1].block == block do at = at - 1 end
  return at
end

--- A random job of rounds, some with a death.
-- @func draw draw(n): 1 to n
-- @tab setting one of SETTINGS, or nil: a random one
-- @treturn table lines
-- @treturn table `setting`, `rounds`, `blocks`, `deaths`
function M.rounds(draw, setting)
  setting = setting or M.SETTINGS[draw(#M.SETTINGS)]
  local lines, write = M.writer()
  local blocks, count = draw_blocks(draw)
  local rounds, job, workers = 1 + draw(5), draw(9), {}
  for _, block in ipairs(blocks) do block.done, block.seen, block.incarnation = 0, 0, 0 end
  M.begin_rounds(write, job, setting, rounds, blocks)
  for number = 0, count - 1 do
    workers[number + 1] = {number = number, at = 1, round = 1, incarnation = 0,
                           plan = plan_of(write, blocks, setting, number, job)}
  end
  local left, deaths, standing = count, 0, 0
  while left > 0 do
    local worker = workers[draw(count)]
    if worker.round <= rounds then
      if setting[3] > 0 and worker.at % 3 ~= 1 and draw(60) == 1 then
        worker.at, deaths = die(write, worker, worker.at), deaths + 1
      end
      if worker.plan[worker.at].step() ~= false then
        standing, worker.at = 0, worker.at + 1
      end
      if worker.at > #worker.plan then worker.at, worker.round = 1, worker.round + 1 end
      if worker.round > rounds then left = left - 1 end
    end
    standing = standing + 1
    assert(standing < 10000, "nobody goes on")
  end
  write("driver", 0, "end job=%d", job)
  return lines, {setting = setting, rounds = rounds, blocks = blocks, deaths = deaths}
end

-- Elements that a block touches: those of its row, and some of a shared array.
local function draw_touches(draw, number)
  local touches = {{array = 1, first = number * 10, last = number * 10 + 9, write = 1}}
  if draw(2) == 1 then
    local first = draw(12)
    touches[2] = {array = 2, first = first, last = first + draw(3), write = draw(2) - 1}
  end
  return touches
end

local function meet(one, other)
  for _, a in ipairs(one) do
    for _, b in ipairs(other) do
      local apart = a.array ~= b.array or a.last < b.first or b.last < a.first
      if not apart and a.write + b.write > 0 then return true end
    end
  end
  return false
end

-- Whether a block may begin: those before it that it meets are over.
local function is_free(blocks, block, ordered)
  for _, other in ipairs(blocks) do
    if other ~= block and meet(block.touches, other.touches) then
      if other.state == "runs" then return false end
      local before = ordered == 1 and other.number < block.number
      if before and other.state ~= "over" then return false end
    end
  end
  return true
end

--- A random job of blocks, with buffers now and then.
-- @treturn table lines
-- @treturn table `blocks` with their `touches`, `ordered`, `stages`
function M.loop(draw)
  local lines, write = M.writer()
  local blocks, ordered, merges, workers = {}, draw(2) - 1, draw(2) == 1, draw(4)
  for number = 0, draw(8) do
    blocks[#blocks + 1] = {number = number, state = "waits", touches = draw_touches(draw, number)}
  end
  local free, over = {}, 0
  write("driver", 0, "loop job=1 blocks=%d ordered=%d stages=%d", #blocks, ordered,
    merges and 1 or 0)
  while over < #blocks do
    local block = blocks[draw(#blocks)]
    if block.state == "waits" and #free + 1 <= workers and is_free(blocks, block, ordered) then
      block.process = 1
      while free[block.process] do block.process = block.process + 1 end
      if block.process <= workers then
        free[block.process], block.state = true, "runs"
        write("worker-" .. block.process, 0, "begin job=1 block=%d", block.number)
        for _, touch in ipairs(block.touches) do
          write("worker-" .. block.process, 0, "touch job=1 block=%d array=%d first=%d last=%d "
            .. "write=%d", block.number, touch.array, touch.first, touch.last, touch.write)
        end
      end
    elseif block.state == "runs" and draw(2) == 1 then
      free[block.process], block.state, over = nil, "over", over + 1
      write("worker-" .. block.process, 0, "commit job=1 block=%d", block.number)
    end
  end
  for _, block in ipairs(merges and blocks or {}) do
    write("driver", 0, "merge job=1 stage=1 block=%d", block.number)
  end
  local sent, dropped = draw(100), draw(9) - 1
  write("driver", 0, "ledger job=1 produced=%d sent=%d pending=0.5 dropped=%d invalidated=-0.5",
    sent + dropped, sent, dropped)
  write("driver", 0, "end job=1")
  return lines, {blocks = blocks, ordered = ordered, merges = merges}
end

--- A history in the Parameter Database paper's notation, "r1[1][1] w2[2][1]": worker, partition,
-- iteration; a worker 0 is the sequential computation, whose one block reads and writes all.
-- @tab setting as in SETTINGS
-- @func version of a read (worker, partition, iteration), or nil: the newest one
function M.of_paper(text, setting, version)
  local lines, write = M.writer()
  local newest, sequential = {[1] = 0, [2] = 0}, text:find "r%[" ~= nil
  if sequential then
    write("driver", 0, "rounds job=1 sync=%s read_lag=%s write_lag=%s read_ahead=%s depth=%d "
      .. "scope=%s rounds=2", setting[1], shown(setting[2]), shown(setting[3]), shown(setting[4]),
      setting[5], setting[6])
    write("driver", 0, "block job=1 block=0 reads=1,2 writes=1,2")
  else
    M.begin_rounds(write, 1, setting, 2, {{number = 1, reads = {[1] = true, [2] = true}},
                                          {number = 2, reads = {[1] = true, [2] = true}}})
  end
  for kind, worker, partition, round in text:gmatch "([rw])(%d?)%[(%d)%]%[(%d)%]" do
    worker, partition, round = tonumber(worker) or 0, tonumber(partition), tonumber(round)
    if kind == "r" then
      local seen = version and version(worker, partition, round) or newest[partition]
      write("worker-" .. worker + 1, 0, "read job=1 block=%d round=%d range=%d version=%d", worker,
        round, partition, seen)
    else
      newest[partition] = round
      write("worker-" .. worker + 1, 0, "write job=1 block=%d round=%d range=%d", worker, round,
        partition)
    end
  end
  write("driver", 0, "end job=1")
  return lines
end

return M
