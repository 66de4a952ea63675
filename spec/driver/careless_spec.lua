-- SPDX-License-Identifier: MIT
--
-- What careless or hostile programs do, and what they are told: ranges that cannot be counted,
-- code made at run time, walks in the order of a hash table, misspelt variables of the environment,
-- slips in methods, options and values.

local child = require "spec.support.child"
local expect = require "spec.support.expect"
local meissa = require "meissa"
local parallel = meissa.parallel

local raises = expect.raises

describe("ranges near 2^53", function()
  local LARGEST = 2 ^ 53

  -- How many iterations there are; they must be those of the range.
  local function visited(lo, hi, step)
    local count, sum = 0, 0
    for i in parallel({ lo, hi, step }) do
      count = count + 1
      sum = sum + (i - lo)
    end
    assert.equal(step * count * (count - 1) / 2, sum)
    return count
  end

  local function refused(lo, hi, step)
    raises("OPT", "cannot be counted exactly", function()
      for _ in parallel({ lo, hi, step }) do end
    end)
  end

  it("run completely or not at all, wherever they run", function()
    local values = meissa.zeros(2, 12)
    local function both(count, lo, hi, step)
      assert.equal(count, visited(lo, hi, step))
      local list = {}
      for i in parallel({lo, hi, step}, {serial = true}) do
        list[#list + 1] = i
        assert.truthy(#list <= count)
      end
      assert.same({count, lo, hi}, {#list, list[1], list[count]})
      local pairs_of = 0
      for _, j in parallel(2, {lo, hi, step}, {serial = true}) do
        pairs_of = pairs_of + (j - lo) / step
        assert.truthy(pairs_of <= count * (count - 1))
      end
      assert.equal(count * (count - 1), pairs_of)
    end
    both(5, LARGEST - 5, LARGEST - 1, 1)
    both(5, LARGEST, LARGEST - 4, -1)
    both(5, -LARGEST, -LARGEST + 4, 1)
    both(3, LARGEST - 12, LARGEST - 4, 4)
    both(3, LARGEST - 3, LARGEST - 11, -4)
    both(3, 5 - LARGEST, 13 - LARGEST, 4)
    for i, j, v in parallel(values, {serial = true}) do values[i][j] = v + 1 end
    assert.equal(24, values:sum())
    refused(LARGEST - 4, LARGEST, 1)
    refused(-LARGEST + 4, -LARGEST, -1)
    refused(LARGEST - 11, LARGEST - 3, 4)
    refused(-LARGEST, LARGEST - 1, 1)
    refused(-LARGEST, 1, 2 ^ 40)
    raises("OPT", "within 2^53", function() for _ in parallel(2 ^ 53 + 2) do end end)
  end)

  it("are told apart, however long their numbers are", function()
    local function first(lo, hi)
      local least = math.huge
      for i in parallel({ lo, hi }) do least = math.min(least, i) end
      return least
    end
    for k = 10, 1, -1 do assert.equal(2 ^ 52 + k, first(2 ^ 52 + k, 2 ^ 52 + k + 1)) end
  end)
end)

describe("code made at run time", function()
  local A = meissa.zeros(4)

  local function refused(words, loop)
    raises("DEP", "DEP116", loop)
    raises("DEP", words, loop)
  end

  it("is refused in a body, where it may assign globals of a worker", function()
    local make = loadstring
    local function far() make("x = 4")() end
    refused("loadstring may reach", function()
      for i in parallel(4) do loadstring("x = 1")() A[i] = i end
    end)
    refused("loadstring may reach", function()
      for i in parallel(4) do make("x = 1")() A[i] = i end
    end)
    refused("load may reach", function() for i in parallel(4) do load("x = 1")() A[i] = i end end)
    refused("setfenv may reach", function()
      for i in parallel(4) do setfenv(1, {}) A[i] = i end
    end)
    refused("it uses loadstring", function() for i in parallel(4) do far() A[i] = i end end)
    for i in parallel(4, { impure = true }) do A[i] = loadstring("return " .. i)() end
    assert.same({ 1, 2, 3, 4 }, A:totable())
  end)
end)

describe("next on workers", function()
  it("visits keys in their order, as pairs does", function()
    local t, out = { 10, [1.5] = 2, [true] = 3, [false] = 4, [-7] = 5 }, {}
    for k = 1, 40 do t["key" .. k * 7919 % 1000] = k end
    local next = next
    for i in parallel(5) do
      local list = {}
      if i == 1 then
        for k in pairs(t) do list[#list + 1] = tostring(k) end
      elseif i == 2 then
        for k in next, t do list[#list + 1] = tostring(k) end
      elseif i == 3 then
        for k, v in next, t, nil do list[#list + 1] = t[k] == v and tostring(k) end
      elseif i == 4 then
        local k, v = next(t)
        while k ~= nil do
          list[#list + 1] = t[k] == v and tostring(k)
          k, v = next(t, k)
        end
      else
        local own = {}
        for k, v in next, t do own[k] = v end
        for k in next, own do
          list[#list + 1] = tostring(k)
          own[k] = nil
        end
        if next(own) ~= nil or next({}) ~= nil then list = {} end
      end
      out[i] = table.concat(list, " ")
    end
    assert.truthy(out[1]:find("^%-7 1 1%.5 key109 .* key975 false true$"), out[1])
    for i = 2, 5 do assert.equal(out[1], out[i]) end
  end)

  it("refuses what Lua's refuses", function()
    local t, A = { a = 1 }, meissa.zeros(1)
    raises("BDY", "invalid key to 'next'", function()
      for i in parallel(1) do A[i] = next(t, "b") end
    end)
    raises("BDY", "table expected", function() for i in parallel(1) do A[i] = next(i) end end)
  end)
end)

describe("a field that is summed up", function()
  it("is refused with the local to use where its table goes to a function", function()
    local model = { loss = 0, W = meissa.ones(10) }
    function model:err(i) return self.loss < 0 and 0 or self.W[i] end
    raises("DEP", "assigns model.loss, and also uses model as a whole", function()
      for i in parallel(10) do model.loss = model.loss + model:err(i) end
    end)
    local fix = "local loss = model.loss  for ... do loss = ... end  model.loss = loss"
    raises("DEP", fix, function()
      for i in parallel(10) do model.loss = model.loss + model:err(i) end
    end)
    local loss = model.loss
    for i in parallel(10) do loss = loss + model:err(i) end
    assert.equal(10, loss)
    for i in parallel(10) do model.loss = model.loss + model.W[i] end
    assert.equal(10, model.loss)
  end)
end)

describe("arguments that are too many or wrong", function()
  it("are named with the function that was called", function()
    raises("BDY", "not (1, 2, 3)", function() meissa.random(1, 2, 3) end)
    raises("BDY", "not (1, nil, 3)", function() meissa.random(1, nil, 3) end)
    raises("ARR", "scratch: extent -1 of dimension 1", function() meissa.scratch(-1) end)
    raises("ARR", "scratch: an array has 1 to 8 dimensions", function() meissa.scratch() end)
    raises("OPT", "scratch: no element type 'doubel' (did you mean 'double'?)", function()
      meissa.scratch(3, { type = "doubel" })
    end)
  end)
end)

describe("the environment", function()
  local where, script

  setup(function()
    where = child.directory()
    script = where .. "/loop.lua"
    child.write(script, [[
      local meissa = require "meissa"
      local A = meissa.zeros(4)
      for e = 1, 3 do for i in meissa.parallel(4) do A[i] = i end end
      for e = 1, 3 do for i in meissa.parallel(4, {engine = "native"}) do A[i] = i end end
      print(A:sum())
    ]])
  end)

  teardown(function() child.remove(where) end)

  -- What the script writes with a setting, on both channels.
  local function output(setting)
    local pipe = assert(io.popen(("env %s luajit %s 2>&1"):format(setting, script)))
    local text = pipe:read("*a")
    pipe:close()
    return text
  end

  local limit = "MEISSA_CC_LIMIT is a number of seconds above 0, not '%s', and is ignored"
  for setting, notice in pairs {
    ["MEISSA_CC_LIMT=3"] = "MEISSA_CC_LIMT is not looked at: did you mean MEISSA_CC_LIMIT?",
    ["MEISSA_WORKER=1"] = "MEISSA_WORKER is not looked at: did you mean MEISSA_WORKERS?",
    ["MEISSA_CC_LIMIT=soon"] = limit:format "soon",
    ["MEISSA_CC_LIMIT=-1"] = limit:format "-1",
    ["MEISSA_QUIET=no"] = "MEISSA_QUIET is 0 or 1, not 'no', which counts as 1",
  } do
    it("is told of " .. setting .. " once", function()
      assert.equal("meissa: " .. notice .. "\n10\n", output(setting))
    end)
  end

  it("may have other variables", function()
    assert.equal("10\n", output("MEISSA_DATA=here MEISSA_CC_LIMIT=20 MEISSA_QUIET=1 MEISSA_SHM= "))
  end)

  for setting, words in pairs {
    ["MEISSA_WORKERS=two"] = "OPT: MEISSA_WORKERS must be a whole number from 0 to 1024, not 'two'",
    ["MEISSA_SHM=yes"] = "OPT: MEISSA_SHM is 0 or 1, not 'yes'",
    ["MEISSA_TRANSPORT=udp"] = "OPT: MEISSA_TRANSPORT is \"ipc\" or \"tcp\", not 'udp'",
    ["MEISSA_ENGINE=gpu"] = "OPT: MEISSA_ENGINE is \"native\", \"lua\" or \"auto\", not 'gpu'",
  } do
    it("may not be " .. setting, function()
      local text = output(setting)
      assert.truthy(text:find(words, 1, true), text)
    end)
  end

  it("names a directory for C texts, which is made", function()
    local directory = where .. "/kept/deep"
    if require("meissa.kernel.compiler").missing() then return end
    assert.equal("10\n", output("MEISSA_KEEP_C=" .. directory))
    local pipe = assert(io.popen("ls " .. directory))
    assert.truthy(pipe:read("*a"):find("^loop%.lua_%d_%x+%.c\n"))
    pipe:close()
  end)
end)

describe("slips of a newcomer", function()
  local A, M = meissa.zeros(4), meissa.ones({ 4, 3 })

  it("in methods of arrays are named, with the nearest method and the line", function()
    local line = debug.getinfo(1, "l").currentline
    local function far(row) return row:nrom() end
    local err = raises("ARR", "no field or method 'dott' (did you mean 'dot'?)", function()
      for i in parallel(4) do
        local row = M[i]
        A[i] = row:dott(row)
      end
    end)
    assert.equal(line + 5, err.line)
    err = raises("ARR", "no field or method 'nrom' (did you mean 'norm'?)", function()
      for i in parallel(4, { ordered = false }) do A[i] = far(M[i]) end
    end)
    assert.equal(line + 10, err.line)
    raises("ARR", "no field or method 'xyz'", function()
      meissa.plan(4, function() M:xyz() end)
    end)
    for i in parallel(4) do A[i] = M[i]:sum() end
    assert.equal(12, A:sum())
  end)

  it("in fields of arrays are told by these", function()
    local model = {weights = meissa.zeros(4)}
    assert.equal(0, model.weights[1])
    for _, assign in ipairs {
      function() for i in parallel(4) do A.x = i end end,
      function() for i in parallel(4) do A["1"] = i end end,
      function() for i in parallel(4) do model.weights.x = i end end,
      function() for i in parallel(4) do M[i].x = i end end,
    } do
      raises("ARR", "to assign (iteration", assign)
    end
  end)

  it("in what parallel is given say what to write", function()
    raises("OPT", "a function is for meissa.each(n, function(i) ... end)", function()
      parallel(4, function(i) A[i] = i end)
    end)
    raises("OPT", 'how many nested loops to take in, not "2"', function()
      for i in parallel(4, { collapse = "2" }) do A[i] = i end
    end)
    raises("OPT", "collapse = 2 takes in 1 more numeric loop,", function()
      for i in parallel(4, { collapse = 2 }) do A[i] = i end
    end)
    raises("OPT", 'true or false, not "no"', function()
      for i in parallel(4, { ordered = "no" }) do A[i] = i end
    end)
  end)

  it("in what is stored are named after the user's things", function()
    raises("ARR", "cannot store a row of an array in", function() A[1] = M[1] end)
    raises("ARR", "cannot store an array in", function() A[1] = M end)
    raises("ARR", "cannot store a row of an array in", function()
      for i in parallel(4) do A[i] = M[i] end
    end)
  end)
end)

describe("messages to who begins", function()
  local A, B, list = meissa.zeros(8), meissa.ones(8, 3), { 3, 1, 2 }

  local function said(fn)
    local ok, err = pcall(fn)
    assert.is_false(ok)
    return tostring(err)
  end

  local function says(words, fn)
    local text = said(fn)
    assert.truthy(text:find(words, 1, true), text)
    assert.truthy(text:find("^[^\n]*careless_spec.lua:%d+: "), text)
  end

  it("say what parallel takes", function()
    local takes = "must be a whole number, a range {first, last} or an array, not "
    for found, value in pairs { ["a string"] = "8", ["2.5"] = 2.5, ["a boolean"] = true } do
      says(takes .. found, function() for i in meissa.parallel(value) do A[i] = 1 end end)
    end
    says(takes .. "nil", function() for i in meissa.parallel(nil) do A[i] = 1 end end)
    says("is one over parallel(#t)", function()
      for i in meissa.parallel({ 4, 5, 6, 7 }) do A[i] = 1 end
    end)
    for i in meissa.parallel(#list) do A[i] = list[i] end
    assert.equal(6, A:sum())
  end)

  it("tell what is written with a colon, at the user's line", function()
    meissa.init { workers = 1 }
    finally(function() meissa.init {} end)
    says("(A:sum() is written with a colon)", function()
      for i in meissa.parallel(8) do A[i] = B[i].sum() end
    end)
  end)

  it("tell functions that change tables from those that append", function()
    local changes = "the call changes a table from outside"
    says(changes, function() for _ in meissa.parallel(3) do table.sort(list) end end)
    says(changes, function() for i in meissa.parallel(3) do table.remove(list, i) end end)
    says("appends to a table", function()
      for i in meissa.parallel(3) do table.insert(list, list[i]) end
    end)
    for i in meissa.parallel(3) do
      local mine = { list[1], list[2], list[3] }
      table.sort(mine)
      A[i] = mine[i]
    end
    assert.equal(3, A[3])
  end)

  it("do not advise impure = true for os.exit", function()
    local function stops() for i in meissa.parallel(8) do if i == 3 then os.exit(1) end end end
    says("os.exit would end a worker, and not the program", stops)
    says('error("...")', stops)
    assert.falsy(said(stops):find("impure", 1, true))
  end)

  it("call no number a plain table", function()
    local function stores() for i in meissa.parallel(8) do A[i][1] = 2 end end
    says("an element of the array is a number, and nothing can be stored into a number", stores)
    assert.falsy(said(stores):find("a plain table from outside", 1, true))
  end)
end)
