-- SPDX-License-Identifier: MIT
-- Modules that are loaded when they are asked for first: from where the others are, and again where
-- that was interrupted.
local child = require "spec.support.child"

describe("late modules", function()
  local dir

  before_each(function()
    dir = child.directory()
    child.write(dir .. "/t.csv", "a,b\n1,2\n3,4\n")
  end)
  after_each(function() child.remove(dir) end)

  local function run(text, workers)
    return (child.script("local meissa = require 'meissa'\n" .. text, {
      env = ("DATA=%s MEISSA_WORKERS=%d"):format(child.quote(dir .. "/t.csv"), workers or 2)}))
  end

  it("are not there before", function()
    assert.equal("nil\ttrue\n", run [[
local before = package.loaded["meissa.read.csv"]
meissa.read.csv(os.getenv "DATA")
print(before, package.loaded["meissa.read.csv"] ~= nil)]])
  end)

  it("are where they were, whatever the program has made of its directory and paths", function()
    assert.equal("10\t2\ttrue\n", (child.shell(([[
cp -r lua/meissa %s/meissa && cd %s &&
LUA_PATH='./?.lua;./?/init.lua;;' DATA=t.csv MEISSA_WORKERS=2 luajit -e '
local meissa = require "meissa"
local ffi = require "ffi"
ffi.cdef "int chdir(const char *);"
local data = "%s/t.csv"
ffi.C.chdir "/"
package.path = "/nowhere/?.lua"
local sum = meissa.read.csv(data):sum()
local list = meissa.replicas(2, function() return 1 end)
local right = pcall(function()
  local A = meissa.zeros(4)
  for i in meissa.parallel(4, {check = true}) do A[i] = i end
end)
print(sum, #list, right and package.path == "/nowhere/?.lua")']]):format(dir, dir, dir))))
  end)

  it("are loaded again where that was interrupted", function()
    assert.equal("false\tinterrupted!\t10\n", run [[
local interrupted = false
table.insert(package.loaders, 1, function(name)
  if name == "meissa.read.source" and not interrupted then
    interrupted = true
    error("interrupted!", 0)
  end
end)
local ok, message = pcall(meissa.read.csv, os.getenv "DATA")
print(ok, message, meissa.read.csv(os.getenv "DATA"):sum())]])
  end)

  it("have their functions' names, and errors the lines of those who call them", function()
    local output = run [[
local names = {}
for name, value in pairs(meissa.read) do
  assert(type(value) == "function")
  names[#names + 1] = name
end
table.sort(names)
print(table.concat(names, " "))
local _, err = pcall(function()
  meissa.read.csv(7)
end)
print(err.code, err.line)]]
    assert.equal("csv docword libsvm lines triples\nOPT\t10\n", output)
  end)
end)
