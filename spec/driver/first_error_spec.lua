-- SPDX-License-Identifier: MIT
-- Of several iterations that fail the same one is told of, whichever fails first by the clock: in
-- ordered loops the one at which the plain loop would have ended.
local child = require "spec.support.child"
local seed = require "spec.support.seed"
local support = require "spec.driver.support"
local thrown = require "meissa.base.thrown"

local function run(environment)
  local output, status = child.shell(environment .. " luajit spec/support/first_errors.lua")
  assert.equal(0, status, output)
  return output
end

local function without_places(output) return (output:gsub(" @ [^\n]*", "")) end

describe("of several errors", function()
  local expected

  setup(function() expected = run("MEISSA_WORKERS=1") end)

  it("ordered loops raise the one of the plain loop", function()
    local raised, plain, compared = {}, {}, 0
    for name, sign, words in expected:gmatch("([^\n:=]+)([:=]) ([^\n]*)") do
      if sign == ":" then raised[name] = words else plain[name] = words end
    end
    for name, words in pairs(plain) do
      compared = compared + 1
      assert.equal(name .. " " .. words, name .. " " .. tostring(raised[name]))
    end
    assert.equal(13, compared)
    assert.is_nil(expected:match "left")
    assert.is_nil(expected:match "no error")
  end)

  for _, environment in ipairs {
    "MEISSA_WORKERS=5", "MEISSA_WORKERS=2 MEISSA_ENGINE=lua SLOW=300000",
    "MEISSA_WORKERS=5 MEISSA_ENGINE=native", "MEISSA_WORKERS=2 MEISSA_SHM=0",
    "MEISSA_WORKERS=5 MEISSA_SHM=0 SLOW=100000",
    "MEISSA_WORKERS=3 MEISSA_SHM=0 MEISSA_TRANSPORT=tcp",
  } do
    it("the same is raised with " .. environment, function()
      assert.equal(expected, run(environment))
    end)
  end

  for _, engine in ipairs {"lua", "native"} do
    it("the same is raised in this process, engine " .. engine, function()
      local output = run("MEISSA_WORKERS=0 MEISSA_ENGINE=" .. engine)
      assert.equal(without_places(expected), without_places(output))
    end)
  end

  for _, environment in ipairs {
    "MEISSA_WORKERS=2", "MEISSA_WORKERS=5", "MEISSA_WORKERS=3 MEISSA_SHM=0",
  } do
    it("that of the plain loop is raised by random ordered loops with " .. environment, function()
      local output, status = child.shell(("%s luajit spec/support/first_errors_random.lua %d 40")
        :format(environment, seed))
      assert.equal(0, status, output)
      assert.equal("done\n", output)
    end)
  end

  for _, road in ipairs(support.roads) do
    it("the first is raised after a worker's death, too: " .. road.name, function()
      local session = assert(support.session {
        workers = 2, transport = road.transport, shm = road.shm})
      local mark = os.tmpname()
      local ok, err = session:run {
        key = "dies once", strategy = "independent", ranges = {10}, transaction = true,
        kernel = ([[
          local ffi = require "ffi"
          ffi.cdef "int kill(int, int); int getpid(void); int usleep(unsigned);"
          return function(block)
            if block == 7 then error "seven" end
            if block == 4 then error "four" end
            if block == 2 then
              ffi.C.usleep(50000)
              if os.remove(%q) then ffi.C.kill(ffi.C.getpid(), 9) end
            end
          end]]):format(mark),
      }
      session:stop()
      assert.is_nil(ok)
      assert.equal("BDY", err.code)
      assert.equal(4, err.block)
      assert.matches("four", thrown.decode(err.payload).message)
      assert.is_nil(io.open(mark))
    end)
  end
end)
