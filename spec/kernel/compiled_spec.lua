-- SPDX-License-Identifier: MIT
--
-- The block loops of all examples, as the Lua engine runs them on a worker, under LuaJIT's own
-- report (-jv): what it compiled, and that it gave up on nothing.
local child = require "spec.support.child"
local expect = require "spec.support.expect"

-- The arguments that each example is run with; every example has to be here. `code`: the file that
-- its loops are in, if it is another. No arguments: it works on strings, and has no block loop.
local RUNS = {
  ["cp_tensor.lua"] = {"--entries 20000 --epochs 3"},
  ["gbt.lua"] = {"--points 4000 --epochs 2"},
  ["jacobi.lua"] = {"--size 100 --epochs 20"},
  ["kmeans.lua"] = {"--points 4000 --epochs 5"},
  ["lasso_cocoa.lua"] = {"--points 500 --features 100 --epochs 3"},
  ["linreg.lua"] = {"--examples 500 --features 60 --epochs 5"},
  ["logreg_harmonized.lua"] = {"--points 4000 --epochs 2"},
  ["lu.lua"] = {"--size 120 --method driver", "--size 120 --method nest"},
  ["pagerank.lua"] = {"--nodes 3000 --epochs 5"},
  ["stencil.lua"] = {"--size 100 --epochs 20", "--size 100 --epochs 20 --method gauss-seidel"},
  ["sweep.lua"] = {"--ratings 5000 --epochs 2 --rates 0.01 --regs 0.1",
                   code = "train_mf.lua"},
  ["wordcount.lua"] = {},
  ["train_cnn.lua"] = {"--points 640 --epochs 2"},
  ["train_lda.lua"] = {"--epochs 2"},
  ["train_mlp.lua"] = {"--points 640 --epochs 2"},
  ["train_slr.lua"] = {"--points 4000 --epochs 2"},
  ["train_svm.lua"] = {"--points 4000 --epochs 2"},
  ["train_mf.lua"] = {"--ratings 50000 --epochs 3 --rank 16",
                      "--ratings 50000 --epochs 3 --rank 32 --update adagrad"},
}

-- A program named luajit, because workers are started with what that name says, that writes each
-- worker's report to a file of its own.
local function put_reporter(directory)
  expect.put(directory .. "/luajit", ([[
#!/bin/sh
exec luajit -jv=%s/report.$$ "$@"
]]):format(directory))
  assert(os.execute(("chmod +x '%s/luajit'"):format(directory)) == 0)
end

-- What LuaJIT said in the workers of one run about code of the file `code`: how many root traces
-- it made, and the lines about what it cannot compile.
local function report_of(name, arguments, code)
  local traces, given_up = 0, {}
  expect.with_directory(function(directory)
    put_reporter(directory)
    local output, status = child.shell(
      ("MEISSA_LUAJIT=%s/luajit luajit examples/%s %s --workers 1 --engine lua --json"):format(
        directory, name, arguments))
    assert.equal(0, status, output)
    local report = io.popen(("cat '%s'/report.*"):format(directory))
    for line in report:lines() do
      if line:find(code .. ":", 1, true) then
        if line:find("^%[TRACE +%d+ [^%(]") then traces = traces + 1 end
        -- A trace that began in a function of the module ends when that returns to the loop, whose
        -- own trace takes the function in: nothing is given up.
        local returns = line:find("NYI: return to lower frame", 1, true)
        if line:find("NYI", 1, true) and not returns or line:find("blacklisted", 1, true) then
          given_up[#given_up + 1] = line
        end
      end
    end
    report:close()
  end)
  return traces, given_up
end

local function examples()
  local list, names = {}, io.popen("ls examples/*.lua")
  for path in names:lines() do list[#list + 1] = path:match("[^/]*$") end
  names:close()
  return list
end

describe("the block loops of", function()
  for _, name in ipairs(examples()) do
    it(name .. " are compiled without anything that LuaJIT gives up on", function()
      assert.is_table(RUNS[name], name .. " is missing in this spec's table")
      for _, arguments in ipairs(RUNS[name]) do
        local traces, given_up = report_of(name, arguments, RUNS[name].code or name)
        assert.is_true(traces > 0, arguments .. ": nothing was compiled")
        assert.same({}, given_up, arguments)
      end
    end)
  end

  it("a report would name what LuaJIT gives up on", function()
    expect.with_directory(function(directory)
      put_reporter(directory)
      expect.put(directory .. "/closures.lua", [[
        local meissa = require "meissa"
        local A = meissa.zeros(20000)
        for i in meissa.parallel(20000, {engine = "lua"}) do
          local f = function() return i end
          A[i] = f()
        end]])
      local output, status = child.shell(
        ("MEISSA_WORKERS=1 MEISSA_LUAJIT=%s/luajit luajit %s/closures.lua"):format(directory,
          directory))
      assert.equal(0, status, output)
      local report = io.popen(("cat '%s'/report.*"):format(directory))
      local text = report:read("*a")
      report:close()
      assert.truthy(text:find("closures.lua:%d+ %-%- NYI"), text)
    end)
  end)
end)
