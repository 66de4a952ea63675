-- SPDX-License-Identifier: MIT
-- Loops of which no text is kept, at a prompt, in a program that comes through a pipe, and in
-- stripped functions: with serial = true they run as they would in a file, else what says how.
local child = require "spec.support.child"
local expect = require "spec.support.expect"
local meissa = require "meissa"

-- Lines that stand by themselves, as at a prompt.
local LINES = [==[
meissa = require "meissa"
parallel = meissa.parallel
meissa.seed(7)
y = meissa.zeros(6)
for i in meissa.parallel(6, {serial = true}) do y[i] = i * i end
print(y:sum())
for i, j in parallel({2, 6, 2}, 2, {serial = true}) do
  print(i, j, meissa.random(), meissa.normal())
end
print(meissa.random())
for i, v in parallel(y, {serial = true}) do print(i, v) end
dims, entries = {4, 4}, {i = {3, 1, 3}, j = {1, 2, 1}, v = {5, 6, 7}}
s = meissa.sparse(dims, entries)
for i, j, v in parallel(s, {serial = true}) do print(i, j, v, meissa.random(100)) end
for i, j, v in parallel(s, {serial = true, ordered = true}) do
  print(i, j, v, meissa.random(100))
end
meissa.each(3, {serial = true}, function(i) print("each", i, meissa.random()) end)
for i in parallel(9, {serial = true}) do if i > 2 then break end print("before", i) end
for i in parallel(-1, {serial = true}) do print "nothing" end
for k in parallel(2, {serial = true}) do
  for i in parallel(2, {serial = true}) do print(k, i, meissa.random()) end
end
print(pcall(function() for i in parallel(3, {serial = true}) do error("at " .. i, 0) end end))
do local total = 0 for i in parallel(4, {serial = true}) do total = total + i end print(total) end
]==]

-- What a program says that comes through a pipe, or to a prompt that does.
local function piped(text, flag)
  local directory = child.directory()
  child.write(directory .. "/lines", text)
  local output = child.shell(("MEISSA_WORKERS=2 luajit %s < %s/lines"):format(flag, directory))
  child.remove(directory)
  return output
end

describe("loops without a text", function()
  teardown(function() meissa.init {} end)

  it("run with serial = true as in a file", function()
    local expected = child.script(LINES, {env = "MEISSA_WORKERS=2"})
    assert.truthy(#expected > 500 and not expected:find "script.lua", expected)
    assert.equal(expected, piped(LINES, "-"))
    -- A prompt writes "> " before each line that it reads.
    local shown = piped(LINES, "-i"):gsub("^LuaJIT[^\n]*\nJIT[^\n]*\n", "")
    shown = shown:gsub(">+ ", ""):gsub("%s*$", "")
    assert.equal((expected:gsub("%s*$", "")), shown)
  end)

  it("run with serial = true where they are stripped or named", function()
    local text = "local p, a = ... for i in p(5, {serial = true}) do a[i] = i * i end"
    for _, chunk in ipairs {assert(loadstring(text, "=(load)")),
                            assert(loadstring(string.dump(assert(loadstring(text)), true)))} do
      local a = meissa.zeros(5)
      chunk(meissa.parallel, a)
      assert.same({1, 4, 9, 16, 25}, a:totable())
      assert.is_nil(meissa.last())
    end
  end)

  it("say what to do where something of them has to be known", function()
    local output = piped([==[
meissa = require "meissa"
parallel = meissa.parallel
y = meissa.zeros(4)
b = meissa.buffer(y)
for i in parallel(4) do y[i] = i end
for i in parallel(4, {serial = true, check = true}) do y[i] = i end
for i in parallel(4, {serial = true}) do b[i] = b[i] + 1 end
for t, i in meissa.iterate(y, 3) do y[i] = y[i] + 1 end
for t, i in meissa.iterate(y, 3, {serial = true}) do y[i] = y[i] + 1 end
for i in parallel(1, {serial = true, explain = true}) do y[i] = 5 end
meissa.run [[ for i in parallel(4, {serial = true}) do b[i] = b[i] + i end ]]
meissa.run [[ for t, i in meissa.iterate(y, 3) do y[i] = y[i] + 1 end ]]
print("sum", y:sum(), meissa.last().rounds)
]==], "-i")
    local _, unread = output:gsub("SRC: the text of a program that comes through a pipe is not " ..
                                  "kept by LuaJIT", "")
    assert.equal(3, unread, output)
    expect.has(output, "With {serial = true} parallel and each run it as it stands",
               "ARR: a buffer of DistArray<double>[4] dense, 4 blocks, 32 bytes is for the body " ..
               "of a parallel loop, whose text is kept (at a prompt: meissa.run); outside of " ..
               "one nothing is pending",
               "OPT: meissa.iterate has no option 'serial': a round reads what the round before " ..
               "it has left",
               "stdin:1: the loop runs serially, as written; its text is not kept",
               "sum\t27\t3")
  end)
end)
