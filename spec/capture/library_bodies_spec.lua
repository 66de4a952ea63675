-- SPDX-License-Identifier: MIT
--
-- Libraries that the program has changed, as loop bodies see them: what a body calls by name, as a
-- method, through a local or inside a captured function is what the plain loop calls, on any number
-- of workers, or the refusal names it.
local child = require "spec.support.child"

-- Runs each use as a plain loop and as a parallel one: USES is {[name of a function] = expressions
-- of the word `s` and the index `i`}.
local HARNESS = [==[
local raw = {}
for name, value in pairs(_G) do raw[name] = value end
raw.string, raw.table = {}, {}
for key, value in pairs(string) do raw.string[key] = value end
for key, value in pairs(table) do raw.table[key] = value end
local meissa
local n = 12
words = {}
for i = 1, n do words[i] = ("wOrd %d"):format(i) end

local function describe(value)
  local kind = raw.type(value)
  if kind == "number" then return raw.string.format("%.17g", value) end
  return kind == "table" and kind or raw.tostring(value)
end

-- In the body itself, and inside a captured function.
local FORMS = {
  "for i in HEAD do local s = words[i] out[i] = USE end return out",
  "local function f(s, i) return USE end for i in HEAD do out[i] = f(words[i], i) end return out",
}

local function plain()
  local i = 0
  return function()
    i = i + 1
    if i <= n then return i end
  end
end

local function run(form, head, use)
  local text = raw.string.gsub(form, "%u%u+", function(word)
    return word == "HEAD" and head or word == "USE" and use
  end)
  local chunk = raw.assert(raw.loadstring("local parallel, plain = ... local out = {} " .. text))
  local ok, out = raw.pcall(chunk, meissa.parallel, plain)
  if not ok then return nil, raw.tostring(out) end
  local parts = {}
  for i = 1, n do parts[i] = describe(out[i]) end
  return raw.table.concat(parts, " ")
end

local refused, equal = 0, 0

-- Compares the uses of one function, replaced or as it is.
local function compare(name, uses)
  for _, expression in raw.ipairs(uses) do
    for _, form in raw.ipairs(FORMS) do
      local wanted, problem = run(form, "plain()", expression)
      raw.assert(wanted, problem)
      local got, err = run(form, "parallel(12)", expression)
      if got then
        equal = equal + 1
        if got ~= wanted then raw.print(name, expression, "plain", wanted, "parallel", got) end
      else
        refused = refused + 1
        local short = raw.string.match(name, "[^.]*$")
        if not raw.string.find(err, short, 1, true) then raw.print(name, expression, err) end
      end
    end
  end
end
]==]

local USES = [==[
local USES = {
  ["string.byte"] = {"string.byte(s, 2)", "s:byte(-1)"},
  ["string.char"] = {"string.char(64 + i)"},
  ["string.find"] = {"string.find(s, '%d')", "s:find 'O'"},
  ["string.format"] = {"string.format('%d %s', i, s)", "('%5.2f'):format(i)"},
  ["string.gsub"] = {"(string.gsub(s, 'O', 'x'))", "(s:gsub('%d', '<%0>'))"},
  ["string.gmatch"] = {"string.gmatch(s, '%a+')()", "s:gmatch '%d+'()"},
  ["string.len"] = {"string.len(s)", "s:len()", "('x'):len() + s:len()"},
  ["string.lower"] = {"string.lower(s)", "s:lower()"},
  ["string.match"] = {"string.match(s, '%a+')", "s:match '%d+'"},
  ["string.rep"] = {"string.rep(s, 2)", "s:rep(i)"},
  ["string.reverse"] = {"string.reverse(s)", "s:reverse()"},
  ["string.sub"] = {"string.sub(s, 2, 4)", "s:sub(-2)"},
  ["string.upper"] = {"string.upper(s)", "s:upper()", "s:upper():lower()"},
  ["table.concat"] = {"table.concat({s, i}, '-')"},
  ["table.insert"] = {"(function() local t = {s} table.insert(t, i) return #t end)()"},
  ["table.remove"] = {"(function() local t = {s, i} return table.remove(t) end)()"},
  ["table.sort"] = {"(function() local t = {3, i, 1} table.sort(t) return t[2] end)()"},
  ["table.maxn"] = {"table.maxn {1, 2, i}"},
  ["math.abs"] = {"math.abs(-i)"}, ["math.acos"] = {"math.acos(1 / i)"},
  ["math.atan2"] = {"math.atan2(i, 2)"}, ["math.ceil"] = {"math.ceil(i / 3)"},
  ["math.cos"] = {"math.cos(i)"}, ["math.deg"] = {"math.deg(i)"},
  ["math.exp"] = {"math.exp(-i)"}, ["math.floor"] = {"math.floor(i / 3)", "math.floor(i) + #s"},
  ["math.fmod"] = {"math.fmod(i, 3)"}, ["math.frexp"] = {"(math.frexp(i))"},
  ["math.ldexp"] = {"math.ldexp(i, 2)"}, ["math.log"] = {"math.log(i)"},
  ["math.max"] = {"math.max(i, 5)"}, ["math.min"] = {"math.min(i, 5, 7)"},
  ["math.modf"] = {"(math.modf(i / 3))"}, ["math.pow"] = {"math.pow(i, 3)"},
  ["math.random"] = {"math.random() < 2"}, ["math.sqrt"] = {"math.sqrt(i)"},
  ["bit.band"] = {"bit.band(i, 6)"}, ["bit.bnot"] = {"bit.bnot(i)"},
  ["bit.bor"] = {"bit.bor(i, 8)"},
  ["bit.bxor"] = {"bit.bxor(i, 5)"}, ["bit.lshift"] = {"bit.lshift(i, 3)"},
  ["bit.rshift"] = {"bit.rshift(i, 1)"}, ["bit.tohex"] = {"bit.tohex(i)"},
  ["os.getenv"] = {"os.getenv 'HOME'"}, ["os.time"] = {"os.time() > 0"},
  ["os.difftime"] = {"os.difftime(i, 1)"}, ["io.type"] = {"io.type(s)"},
  ["coroutine.wrap"] = {"coroutine.wrap(function() return i end)()"},
  ["_G.tostring"] = {"tostring(i)"}, ["_G.tonumber"] = {"tonumber(s:match '%d+')"},
  ["_G.type"] = {"type(s)"}, ["_G.select"] = {"select(2, s, i)"},
  ["_G.unpack"] = {"(unpack {i, s})"},
  ["_G.rawget"] = {"rawget(words, i)"}, ["_G.rawequal"] = {"rawequal(s, words[i])"},
  ["_G.ipairs"] = {"(function() for _, v in ipairs {i, 2} do if v then return v end end end)()"},
  ["_G.pairs"] = {"(function() for _, v in pairs {i, 2} do if v then return v end end end)()"},
  ["_G.next"] = {"(next {i})"}, ["_G.assert"] = {"assert(i)"}, ["_G.pcall"] = {"(pcall(type, i))"},
  ["_G.getmetatable"] = {"getmetatable(s) ~= nil"},
  ["_G.setmetatable"] = {"setmetatable({}, {__index = {v = i}}).v"},
}
-- A function in the place of a library's that can be told from it.
local type = type
local function altered(value, ...)
  if type(value) == "number" then value = value + 1 end
  if type(value) == "string" then value = value .. "!" end
  if type(value) == "boolean" then value = not value end
  return value, ...
end
local function wrapped(own)
  return function(...) return altered(own(...)) end
end
local function library_of(name)
  local library, key = raw.string.match(name, "(.*)%.(.*)")
  return library == "_G" and _G or raw.require(library), key
end
local names = {}
for name in raw.pairs(USES) do names[#names + 1] = name end
raw.table.sort(names)
]==]

local function run(text, env, engine)
  env = ("%s MEISSA_ENGINE=%s"):format(env, engine or "lua")
  local output, status = child.script(text, {env = env})
  output = output:gsub("meissa: loops run on the slower Lua engine: the program has [^\n]*\n", "")
  assert.equal("done\n", output)
  assert.equal(0, status)
end

describe("a library that the program has changed", function()
  for workers = 0, 2 do
    local env = "MEISSA_WORKERS=" .. workers

    it("is the program's in bodies, each function replaced, on workers: " .. workers, function()
      run(HARNESS .. USES .. [[
        meissa = require "meissa"
        for _, name in raw.ipairs(names) do
          local content, key = library_of(name)
          local own = content[key]
          content[key] = wrapped(own)
          compare(name, USES[name])
          content[key] = own
        end
        raw.assert(equal > 140 and refused == 4)
        print "done"
      ]], env)
    end)

    it("is so, all replaced before Meissa is loaded, on workers: " .. workers, function()
      run(HARNESS .. USES .. [[
        for _, name in raw.ipairs(names) do
          local content, key = library_of(name)
          content[key] = wrapped(content[key])
        end
        meissa = raw.require "meissa"
        for _, name in raw.ipairs {"string.len", "string.upper", "table.sort", "math.floor"} do
          compare(name, USES[name])
        end
        raw.assert(equal == 18)
        io.write "done\n"
      ]], env)
    end)

    it("has functions that it added, on workers: " .. workers, function()
      run(HARNESS .. [[
        function string.trim(s) return (s:gsub("^%s+", ""):gsub("%s+$", "")) end
        function string.shout(s) return s:trim():upper() .. string.rep("!", s:len()) end
        function table.sum(t) local s = 0 for _, v in ipairs(t) do s = s + v end return s end
        function math.sign(x) return x > 0 and 1 or x < 0 and -1 or 0 end
        gone = table.maxn
        table.maxn = nil
        key = "shout"
        meissa = require "meissa"
        compare("added", {"s:trim()", "(' ' .. s .. ' '):trim() .. s:shout()", "string.shout(s)",
          "table.sum {i, math.sign(-i), math.sign(i - 5)}", "s[key](s)", "string[key](s)",
          "table.maxn == nil", "gone {i}", "#string.trim(s) + math.floor(i / 2)"})
        raw.assert(equal == 18)
        print "done"
      ]], env)
    end)

    it("leaves what the program kept of it, on workers: " .. workers, function()
      run(HARNESS .. [[
        sin, len, floor, concat = math.sin, string.len, math.floor, table.concat
        math.sin = function(x) return 2 * x end
        string.len = function(s) return #s + 100 end
        math.floor = function(x) return -x end
        meissa = require "meissa"
        table.concat = function() return "?" end
        compare("kept", {"sin(i)", "math.sin(i)", "len(s) + s:len()",
          "floor(i / 2) - math.floor(i)", "concat {i, s} .. table.concat {i}"})
        raw.assert(equal == 10)
        print "done"
      ]], env)
    end)

    it("may be a metatable of plain values, on workers: " .. workers, function()
      run(HARNESS .. [[
        meissa = require "meissa"
        compare("none", {"pcall(function() return s[1] .. '' end)"})
        debug.setmetatable(0, {__index = math, __call = function(x, y) return x * y end})
        debug.setmetatable(nil, {__index = function(_, k) return k end,
                                 __concat = function() return "." end})
        debug.setmetatable(true, {__index = {number = function(b) return b and 1 or 0 end}})
        debug.setmetatable(print, {__index = {twice = function(f, x) return f(f(x)) end}})
        local meta = getmetatable ""
        meta.__index = function(s, k)
          if type(k) == "number" then return string.sub(s, k, k) end
          return string[k]
        end
        meta.__mul = function(s, n) return string.rep(s, n) end
        compare("metatables", {"(i + 0.5):floor()", "i(2)", "(-i):abs()", "words[99].foo .. i",
          "words[99] .. i", "(i > 4):number()", "tostring:twice(i)", "s[1] .. s[2]", "s:upper()[3]",
          "s * 2"})
        meta.__index, meta.__mul = string, nil
        debug.setmetatable(0, nil)
        debug.setmetatable(nil, nil)
        compare("none", {"pcall(function() return s[1] .. '' end)",
          "pcall(function() return s * 2 end)", "pcall(function() return (5):floor() end)",
          "s:len()"})
        raw.assert(equal == 30)
        print "done"
      ]], env)
    end)
  end

  it("may change from one run of a loop to the next", function()
    run([[
      local meissa = require "meissa"
      local parallel, word, A = meissa.parallel, "four", meissa.zeros(8)
      local own, sums = string.len, {}
      for round = 1, 6 do
        if round == 3 then string.len = function(s) return own(s) + 1 end end
        if round == 5 then string.len = own end
        for i in parallel(8) do A[i] = word:len() end
        sums[round] = A:sum()
      end
      print(table.concat(sums, " ") == "32 32 40 40 32 32" and "done" or table.concat(sums, " "))
    ]], "MEISSA_WORKERS=2")
  end)

  it("has methods that a parallel loop refuses by name", function()
    run([=[
      local meissa = require "meissa"
      local parallel, words, W = meissa.parallel, {"a", "b"}, meissa.zeros(2)
      local count = 0
      function string.log(s) count = count + 1 return s end
      function string.out(s) return s, os.clock() end
      function string.keep(s) W[1] = #s return s end
      function string.draw() return meissa.random() end
      function string.fine(s) return s .. "!" end
      local out = {}
      local function refusal(name)
        local ok, err = pcall(function()
          for i in parallel(2) do out[i] = words[i][name](words[i]) end
        end)
        return ok and "accepted" or tostring(err)
      end
      assert(refusal "fine" == "accepted" and out[2] == "b!")
      for _, name in ipairs {"log", "out", "keep", "draw"} do
        assert(refusal(name):find("string." .. name, 1, true), refusal(name))
      end
      assert(count == 0 and W[1] == 0)
      local ok, err = pcall(function()
        for i in parallel(2) do out[i] = words[i]:log() end
      end)
      local words_of = "log, which the program has given plain values, may change variables"
      assert(not ok and tostring(err):find(words_of, 1, true))
      for i in parallel(2, {impure = true}) do out[i] = words[i]:out() end
      for i in parallel(2, {serial = true}) do out[i] = words[i]:log() end
      assert(count == 2)
      print "done"
    ]=], "MEISSA_WORKERS=2")
  end)

  it("may change what operators do with plain values, on either engine", function()
    for _, name in ipairs {"lua", "native"} do
      run([=[
        local meissa = require "meissa"
        local parallel, A, missing, list = meissa.parallel, meissa.zeros(4), nil, {1, 2}
        local function sum() local s = A:sum() A:fill(0) return s end
        for i in parallel(4) do A[i] = i + 1 end
        assert(sum() == 14)
        debug.setmetatable(nil, {__add = function() return 7 end})
        debug.setmetatable(true, {__mul = function() return 5 end})
        getmetatable("").__unm = function(s) return #s end
        for i in parallel(4) do A[i] = missing + 1 end
        assert(sum() == 28)
        for i in parallel(4) do local t A[i] = t + i end
        assert(sum() == 28)
        for i in parallel(4) do A[i] = list[i] + i end
        assert(sum() == 2 + 4 + 7 + 7)
        for i in parallel(4) do A[i] = (i > 2) * i + -"abc" end
        assert(sum() == 32)
        debug.setmetatable(nil, nil)
        local ok = pcall(function() for i in parallel(4) do A[i] = missing + 1 end end)
        assert(not ok)
        print "done"
      ]=], "MEISSA_WORKERS=2", name)
    end
  end)

  it("may have methods that store into arrays that they are given", function()
    run([=[
      local meissa = require "meissa"
      local parallel, A = meissa.parallel, meissa.zeros(9)
      function string.upper(s, to, at) to[at] = #s return s end
      local ok, err = pcall(function() for i in parallel(8) do ("x"):upper(A, i % 2 + 1) end end)
      print(not ok and err.code == "DEP" and "done" or tostring(err))
    ]=], "MEISSA_WORKERS=2")
  end)
end)
