-- SPDX-License-Identifier: MIT
-- Loops of every class give the bits of the loop as written (ordered) or of the plan's serial order
-- (unordered), for every number of workers, over shared memory and by value, on either engine.
local child = require "spec.support.child"
local loops = require "spec.support.loops"

local ROWS = "spec/data/loops.jsonl"

-- Runs all loops in a child: {[name] = {strategy =, arrays =, numbers =}}.
local function run(mode, file, environment)
  local output, status = child.shell(("%s luajit spec/support/classes.lua %s %s"):format(
    environment or "", mode, file or ""))
  assert(status == 0, ("%s: %s"):format(environment or mode, output))
  local results = {}
  local line = "([^\t\n]*)\t([^\t]*)\t([^\t]*)\t([^\n]*)\n"
  for name, strategy, arrays, numbers in output:gmatch(line) do
    results[name] = {strategy = strategy, arrays = arrays, numbers = numbers}
  end
  return results
end

local function is_listed(case, strategy)
  for _, answer in ipairs(case.answers or {case}) do
    if answer.strategy == strategy then return true end
  end
  return false
end

for title, file in pairs {
  ["loops of all classes"] = false, ["the loops with known answers"] = ROWS,
} do
  describe(title, function()
    local cases = file and require("spec.support.known_loops").of_file(file) or loops.list
    local written, serial, one

    setup(function()
      written = run("plain", file)
      serial = run("meissa", file, "MEISSA_WORKERS=0")
      one = run("meissa", file, "MEISSA_WORKERS=1")
    end)

    -- What a run must have left: sums of numbers with fractions depend on the blocks, so those of
    -- ordered loops are compared among runs on workers.
    local function check(results)
      local seen = 0
      for _, case in ipairs(cases) do
        local name = case.name
        if not case.serial then
          local right, result = (case.ordered and written or serial)[name], results[name]
          assert.is_truthy(result, name .. " did not run")
          assert.is_true(is_listed(case, result.strategy), name .. " ran as " .. result.strategy)
          assert.equal(right.arrays, result.arrays, name)
          assert.equal(one[name].numbers, result.numbers, name)
          if not case.ordered or not file then
            assert.equal(right.numbers, result.numbers, name)
          end
          seen = seen + 1
        end
      end
      assert.is_true(seen > 50)
    end

    it("are of every strategy that is parallel", function()
      local seen = {}
      for _, result in pairs(serial) do seen[result.strategy] = true end
      for name, traits in pairs(require "meissa.plan.strategy") do
        -- rounds: see iterate_spec.lua
        assert.is_true(seen[name] or traits.alone or name == "rounds" or
          file and name == "levels", name) -- which depend on data
      end
    end)

    it("has the bits of the loop as written in this process, where it is ordered", function()
      for _, case in ipairs(cases) do
        if case.ordered and not case.serial then
          assert.equal(written[case.name].arrays, serial[case.name].arrays, case.name)
        end
      end
    end)

    for _, workers in ipairs {1, 2, 3, 5} do
      for _, shm in ipairs {1, 0} do
        local engine = (workers + shm) % 2 == 0 and "native" or "lua"
        local environment = ("MEISSA_WORKERS=%d MEISSA_SHM=%d MEISSA_ENGINE=%s"):format(workers,
          shm, engine)
        it(environment, function() check(run("meissa", file, environment)) end)
      end
    end

    it("MEISSA_WORKERS=3 MEISSA_SHM=0 MEISSA_TRANSPORT=tcp", function()
      check(run("meissa", file, "MEISSA_WORKERS=3 MEISSA_SHM=0 MEISSA_TRANSPORT=tcp"))
    end)
  end)
end
