-- SPDX-License-Identifier: MIT
-- What bodies capture that is no plain value of the program: files and foreign code, what cannot
-- travel, and tables so large that they are worth a word.
local child = require "spec.support.child"
local expect = require "spec.support.expect"
local ffi = require "ffi"
local meissa = require "meissa"
local parallel = meissa.parallel
-- Specs run in an environment that finds globals by a function, which the analyser never calls.
local io = io

ffi.cdef "int getpid(void);"

local contains, refusal = expect.has, expect.refusal

for _, workers in ipairs {0, 1, 2, 3} do
  describe(("files and foreign code, with %d workers,"):format(workers), function()
    setup(function() meissa.init {workers = workers} end)
    teardown(function() meissa.init {} end)

    it("are refused", function()
      local function log(i) io.open("/dev/null", "a"):write(i) end
      local function refused(fn, ...)
        contains(refusal(fn), "DEP116 files or foreign code in the body",
                 "if their order does not matter:  parallel(3, {impure = true})", ...)
      end
      refused(function() for i in parallel(3) do io.open("/dev/null" .. i) end end, "io.open may")
      refused(function() for i in parallel(3) do os.remove("/nonexistent/" .. i) end end)
      refused(function() for i in parallel(3) do io.stderr:write(i) end end, "io.stderr (a")
      refused(function() for i in parallel(3) do log(i) end end, "log (it uses io) may")
      refused(function() for _ in parallel(3) do ffi.C.getpid() end end, "ffi.C (a userdata)")
    end)

    it("run when they are allowed", function()
      local name = os.tmpname()
      local function append(i)
        local file = io.open(name, "a")
        file:write(i, "\n")
        file:close()
      end
      for i in parallel(8, {impure = true}) do append(i) end
      local seen = {}
      for line in io.lines(name) do seen[tonumber(line)] = true end
      os.remove(name)
      assert.equal(8, #seen)
    end)

    it("of FFI run when they are allowed", function() -- outside of the runner, which wraps ffi.cdef
      local out = child.script(([[
local ffi, meissa = require "ffi", require "meissa"
meissa.init {workers = %d}
ffi.cdef "int getpid(void);"
local pids = meissa.zeros(4)
for i in meissa.parallel(4, {impure = true}) do
  ffi.cdef "int getpid(void);"
  pids[i] = ffi.C.getpid()
end
print(pids[1] > 0, pids[1] == ffi.C.getpid())
]]):format(workers))
      assert.equal(("true\t%s\n"):format(workers == 0), out)
    end)

    it("do not include memory for numbers, print, and what only looks at its arguments", function()
      local A = meissa.zeros(3)
      for i in parallel(3) do
        local room = ffi.new("double[2]")
        room[1] = i
        A[i] = os.difftime(3, 2) == 1 and os.getenv("HOME") ~= 1 and room[1] or 0
      end
      assert.same({1, 2, 3}, A:totable())
    end)

    it("include the clock, wherever it is looked at", function()
      local A = meissa.zeros(3)
      local function late() return os.clock() > 3 end
      local tell = meissa.clock
      local loops = {
        function() for i in parallel(3) do A[i] = os.time() end end,
        function() for i in parallel(3) do A[i] = os.clock() end end,
        function() for i in parallel(3) do A[i] = #os.date() end end,
        function() for i in parallel(3) do A[i] = #os.tmpname() end end,
        function() for i in parallel(3) do A[i] = meissa.clock() end end,
        function() for i in parallel(3) do A[i] = tell() end end,
        function() for i in parallel(3) do if late() then A[i] = 1 end end end,
      }
      for _, loop in ipairs(loops) do
        local ok, err = pcall(loop)
        assert.is_false(ok)
        assert.equal("DEP", err.code)
        assert.truthy(err.message:find("DEP116", 1, true), err.message)
        assert.truthy(err.message:find("impure = true", 1, true), err.message)
      end
      for i in parallel(3, {impure = true}) do A[i] = os.time() end
      assert.truthy(A[1] > 1e9)
    end)
  end)
end

describe("large captured tables", function()
  local function script(body)
    return [[
local meissa = require "meissa"
local parallel = meissa.parallel
meissa.init {workers = 2}
local big = {}
for i = 1, 1100000 do big[i] = i + 0.5 end
]] .. body
  end

  for _, shared in ipairs {"1", "0"} do
    it("are named once and sent once, MEISSA_SHM=" .. shared, function()
      local out = child.script(script [[
for round = 1, 3 do
  if round == 3 then big[2] = 7 end
  local sum = 0
  for i in parallel(3) do sum = sum + big[i] end
  print(round, sum, meissa.last().moved > 9e6)
end
]], {env = "MEISSA_SHM=" .. shared})
      local sent = shared == "0" and "true" or "false"
      contains(out, ("1\t7.5\t%s\n2\t7.5\tfalse\n3\t12\t%s\n"):format(sent, sent),
               "'big' is 9.9 MB and is sent to each worker once, and again when it changes",
               "Numbers in an array (meissa.from) need not be sent.")
      assert.is_nil(out:find("'big'.*'big'"))
    end)
  end

  it("keep their identity with other captured values", function()
    local out = child.script(script [[
local rows = {}
for i = 1, 4 do rows[i] = {i, big} end
local third, hits = rows[3], 0
for i in parallel(4) do if rows[i] == third then hits = hits + rows[i][1] end end
print(hits)
]], {})
    contains(out, "3\n", "'rows' is 9.9 MB and is sent to each worker with every run of the loop")
  end)
end)

describe("what cannot travel", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  it("is named with its path", function()
    local opts = {model = {handle = io.stdout, size = 3}}
    local A = meissa.zeros(3)
    contains(refusal(function()
      for i in parallel(3) do A[i] = i + (opts.model.handle and 1 or 2) end
    end), "opts.model.handle is a userdata: it cannot be sent to the workers")
    local deep = {list = {1, {co = coroutine.create(print)}}}
    contains(refusal(function() for i in parallel(3) do A[i] = #deep.list[2] end end),
             "deep.list[2].co is a coroutine")
    for i in parallel(3) do A[i] = opts.model.size end
    assert.equal(3, A[1])
  end)

  it("does not include modules and their functions", function()
    local lib, A = require "string.buffer", meissa.zeros(3)
    for i in parallel(3) do A[i] = lib.decode(lib.encode(i)) end
    assert.equal(3, A[3])
  end)
end)
