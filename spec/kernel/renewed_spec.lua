-- SPDX-License-Identifier: MIT
-- What a worker has made of captured functions and tables serves later executions of a loop as long
-- as they are the same, and no longer; numbers and arrays beside them may change.
local child = require "spec.support.child"

-- Prints what each execution gives with workers, beside what a plain loop gives.
local LOOPS = [[
local meissa = require "meissa" require("meissa.driver.small").most[0] = 0
meissa.init {workers = 1, quiet = true}
local parallel = meissa.parallel
local n, rate, table_of_rates, shift = 500, 0.5, {deep = {rate = 2}}, 0
local A, B = meissa.rand({n}, {seed = 1}), meissa.zeros(n)
local buffered = meissa.zeros(3)
local pending = meissa.buffer(buffered)
local function scaled(x) return x * rate + table_of_rates.deep.rate end
local function run()
  local sum = 0
  buffered:fill(0)
  for i in parallel(n, {engine = "native"}) do
    B[i] = scaled(A[i]) + shift
    sum = sum + B[i]
    pending[i % 3 + 1] = pending[i % 3 + 1] + scaled(i)
  end
  local plain, third = {}, {0, 0, 0}
  for i = 1, n do
    plain[i] = scaled(A[i]) + shift
    third[i % 3 + 1] = third[i % 3 + 1] + scaled(i)
  end
  for i = 1, n do assert(B[i] == plain[i], "element") end
  for k = 1, 3 do assert(buffered[k] == third[k], "buffer") end
  return sum
end
local function many(count) for k = 1, count do shift = k run() end end
many(30)
rate = 0.25 many(5)
table_of_rates.deep.rate = 3 many(5)
table_of_rates = {deep = {rate = 4}} many(5)
rate = 0.5 many(5)
print "as plain loops"
]]

-- A module that is sent by its name, which driver and worker load anew.
local MODULE = [[
local meissa = require "meissa" require("meissa.driver.small").most[0] = 0
meissa.init {workers = 1, quiet = true}
local parallel = meissa.parallel
local function write(rate)
  local file = io.open("rates.lua", "w")
  file:write(("return {token = newproxy(), rate = %d}"):format(rate))
  file:close()
end
write(2)
local rates = require "rates"
local A = meissa.zeros(500)
local function scaled(x) return x * rates.rate end
local function check()
  for _ = 1, 5 do
    for i in parallel(500, {engine = "native"}) do A[i] = scaled(i) end
    for i = 1, 500 do assert(A[i] == scaled(i), "element") end
  end
end
check()
write(3)
package.loaded.rates = nil
rates = require "rates"
for _ in parallel(1, {impure = true}) do loadstring "package.loaded.rates = nil" () end
check()
print "as plain loops"
]]

local function run(script)
  local directory = child.directory()
  child.write(directory .. "/script.lua", script)
  local output = child.shell(("cd %s && MEISSA_TRACE=kernel MEISSA_TRACE_FILE=trace.txt " ..
    "luajit script.lua 2>&1"):format(directory))
  local events = child.read(directory .. "/trace.txt") or ""
  child.remove(directory)
  return output, events
end

describe("captured functions on workers", function()
  local events, output

  setup(function() output, events = run(LOOPS) end)

  it("are what they are when a loop begins", function()
    assert.are.equal("as plain loops\n", output)
  end)

  it("lead to modules that workers have loaded anew", function()
    assert.are.equal("as plain loops\n", (run(MODULE)))
  end)

  it("are made once for executions between which they do not change", function()
    local _, made = events:gsub("kernel instance ", "")
    assert.is_true(made >= 5 and made <= 14, made .. " instances of 50 executions")
  end)
end)
