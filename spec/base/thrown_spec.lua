-- SPDX-License-Identifier: MIT
--
-- What users' functions throw: texts of any length are told in no time, and what is no text arrives
-- as the error's `value`.

local buffer = require "string.buffer"
local errors = require "meissa.base.errors"
local meissa = require "meissa"
local expect = require "spec.support.expect"
local thrown = require "meissa.base.thrown"
local parallel = meissa.parallel

local SIZE = 1000000

-- Texts on which a search that begins anew at each character, and goes on to the end from there,
-- would take hours.
local texts = {
  letters = ("a"):rep(SIZE), words = ("ab "):rep(SIZE / 4), spaces = (" "):rep(SIZE),
  colons = ("1:"):rep(SIZE / 2), digits = ("7"):rep(SIZE), paths = ("a/b."):rep(SIZE / 4),
  quotes = ("a '"):rep(SIZE / 4), lines = ("\n9"):rep(SIZE / 2), names = ("worker "):rep(SIZE / 8),
  dots = ("..."):rep(SIZE / 4), controls = ("\0011"):rep(SIZE / 2),
}

describe("errors of bodies", function()
  teardown(function() meissa.init {} end)

  for _, workers in ipairs { 0, 1, 2 } do
    it(("have texts of any length, with %d workers"):format(workers), function()
      meissa.init { workers = workers }
      local A = meissa.zeros(20)
      for _, text in pairs(texts) do
        for _, own in ipairs { text, text:sub(1, 30000) } do
          local ok, err = pcall(function()
            for i in parallel(20) do
              A[i] = i
              if i == 7 then error(own) end
            end
          end)
          assert.is_false(ok)
          local told = tostring(err)
          assert.is_true(told:find(own:sub(1, 65000), 1, true) ~= nil)
          assert.is_true(#told >= math.min(#own, 65536))
        end
      end
    end)

    -- What is raised and what the error's value is then; true: a copy.
    local values = {
      { { code = 7 }, true }, { { 1, "two", { three = { true } }, [0.5] = false }, true },
      { 42.5, true }, { false, true }, { {}, true }, { ("x"):rep(30000), nil },
      { { text = ("x"):rep(30000) }, true },
    }
    it(("have what was raised as their value, with %d workers"):format(workers), function()
      meissa.init { workers = workers }
      local A = meissa.zeros(20)
      for _, case in ipairs(values) do
        local value = case[1]
        local function raised(options)
          local ok, err = pcall(function()
            for i in parallel(20, options) do
              A[i] = i
              if i == 7 then error(value, 0) end
            end
          end)
          assert.is_false(ok)
          return err
        end
        local err = raised {}
        if workers == 0 then -- the plain loop
          assert.is_true(rawequal(err, value))
        else
          assert.is_true(errors.is(err))
          assert.equal("BDY", err.code)
          assert.same({ 7 }, err.iteration)
          assert.equal("string", type(err.message))
          if case[2] then
            assert.same(value, err.value)
            if type(value) == "table" then assert.is_false(rawequal(value, err.value)) end
          else
            assert.is_nil(err.value)
          end
        end
      end
    end)

    it(("have the text of what cannot travel, with %d workers"):format(workers), function()
      meissa.init { workers = workers }
      local A = meissa.zeros(20)
      local function value_of(make)
        local ok, err = pcall(function()
          for i in parallel(20, { ordered = false, impure = true }) do
            A[i] = i
            if i == 7 then error(make(), 0) end
          end
        end)
        assert.is_false(ok)
        if workers == 0 and not errors.is(err) then return thrown.portable(err), err end
        assert.equal("BDY", err.code)
        return err.value, err
      end
      assert.matches("^table: ", (value_of(function() return { f = print } end)))
      assert.matches("^table: ", (value_of(function()
        local loop = {}
        loop.me = loop
        return loop
      end)))
      assert.equal("a class of its own", (value_of(function()
        return setmetatable({}, { __tostring = function() return "a class of its own" end })
      end)))
      assert.matches("__tostring fails", (value_of(function()
        return setmetatable({}, { __tostring = function() error("again") end })
      end)))
      assert.equal("5LL", (value_of(function() return 5LL end)))
      local long = value_of(function()
        return setmetatable({}, { __tostring = function() return ("x"):rep(100000) end })
      end)
      assert.is_true(("x"):rep(32768) == long)
      assert.matches("^table: ", (value_of(function() return { ("x"):rep(33000) } end)))
    end)

    it(("reach the caller of sets and readers, with %d workers"):format(workers), function()
      meissa.init { workers = workers }
      local A = meissa.ones(40)
      local ok, err = pcall(function()
        A:map(function() error({ code = 7 }) end)
      end)
      assert.is_false(ok)
      assert.same({ code = 7 }, err.value)
      expect.with_directory(function(dir)
        expect.put(dir .. "/f", "1\n2\n3\n")
        ok, err = pcall(meissa.read.lines, dir .. "/f", function() error({ code = 7 }) end)
        assert.is_false(ok)
        assert.same({ code = 7 }, err.value)
        assert.equal(1, err.line)
      end)
    end)
  end

  it("take a message from the table that has one", function()
    meissa.init { workers = 1 }
    local A = meissa.zeros(20)
    local ok, err = pcall(function()
      for i in parallel(20) do
        A[i] = 1
        error({ message = "out of luck", code = 404 })
      end
    end)
    assert.is_false(ok)
    assert.equal("out of luck", err.message)
    assert.equal("BDY", err.code)
    assert.equal(404, err.value.code)
  end)
end)

describe("texts of any length", function()
  it("are gone through once for what comes after a separator", function()
    for _, text in pairs(texts) do
      assert.equal(text:match "^.*/(.*)$" or text, errors.last_part(text, "/"))
      assert.equal("end", errors.last_part(text .. "/end", "/"))
    end
  end)
end)

describe("what can travel", function()
  it("is at most 32 KB of plain values", function()
    for _, count in ipairs { 10, 500, 2000, 5000, 100000 } do
      local list = {}
      for k = 1, count do list[k] = { k, tostring(k) } end
      local value = thrown.portable(list)
      assert.is_true(#buffer.encode(value) <= 32768)
      assert.equal(count <= 500 and "table" or "string", type(value))
    end
    local deep = {}
    for _ = 1, 60 do deep = { deep } end
    assert.equal("string", type(thrown.portable(deep)))
    assert.is_nil(thrown.portable(nil))
  end)
end)

-- The arguments of a call whose parenthesis opens at `at`, as texts.
local function arguments_of(text, at)
  local list, depth, first = {}, 0, at + 1
  while at <= #text do
    local char = text:sub(at, at)
    if char == '"' or char == "'" then
      repeat
        at = at + 1
        if text:sub(at, at) == "\\" then at = at + 2 end
      until text:sub(at, at) == char
    elseif char == "[" and text:sub(at, at + 1) == "[[" then
      at = text:find("]]", at, true) + 1
    elseif char == "(" or char == "{" or char == "[" then
      depth = depth + 1
    elseif char == ")" or char == "}" or char == "]" then
      depth = depth - 1
    end
    if char == "," and depth == 1 or depth == 0 then
      list[#list + 1] = text:sub(first, at - 1):match("^%s*(.-)%s*$")
      first = at + 1
      if depth == 0 then return list end
    end
    at = at + 1
  end
end

-- The items of a pattern: {text, repeats = whether it takes any number of characters, literal =}.
local function items_of(pattern)
  local items, at = {}, 1
  while at <= #pattern do
    local _, last = pattern:find("^%%f%[%^?%]?[^%]]*%]", at)
    if not last then _, last = pattern:find("^%%b..", at) end
    if last then
      items[#items + 1] = { literal = true } -- a frontier stands at few places
    else
      local char = pattern:sub(at, at)
      if char == "[" then
        _, last = pattern:find("^%[%^?%]?.-[^%%]%]", at)
      elseif char == "%" then
        last = at + 1
      elseif char ~= "(" and char ~= ")" then
        last = at
      end
      if last then
        local class = char == "[" or char == "." or char == "%" and pattern:find("^%%%a", at) ~= nil
        local suffix = pattern:match("^[*+-]", last + 1)
        items[#items + 1] = { repeats = suffix ~= nil, literal = not class and not suffix }
        if suffix or pattern:match("^%?", last + 1) then last = last + 1 end
      end
    end
    at = (last or at) + 1
  end
  return items
end

-- Whether a search for the pattern may begin at each character of a text and go far from there in
-- vain: it has no anchor, and something comes after a class that repeats and has nothing literal
-- before it.
local function is_slow(pattern, goes_on)
  if pattern:sub(1, 1) == "^" then return false end
  local items = items_of(pattern)
  for k, item in ipairs(items) do
    if item.literal then return false end
    if item.repeats then return k < #items or goes_on end
  end
  return false
end

describe("patterns", function()
  it("are judged", function()
    for pattern, slow in pairs { ["^[^.]*$"] = false, ["[^.]*$"] = true, ["%d+"] = false,
      ["(%a+) '"] = true, ["%f[%a](%a+) '"] = false, ["x%a+y"] = false, ["%s+$"] = true,
      ["([^/]*)"] = false, ["(.-)\n"] = true, ["['\"]a%s*:"] = false, ["%(%s*a"] = false } do
      assert.equal(slow, is_slow(pattern, false), pattern)
    end
    assert.is_true(is_slow("(%a+)", true))
  end)

  -- Of these the text always has what ends the search at its first place.
  local fine = { ['"(.-)\\r?\\n"'] = true }

  it("are anchored where they begin with a class that repeats", function()
    local list = io.popen("find lua/meissa -name '*.lua' | sort")
    local seen = 0
    for path in list:lines() do
      local text = expect.get(path)
      for at in text:gmatch("string%.g?[mfs]%a+()%(") do
        local pattern = arguments_of(text, at)[2]
        local quoted = pattern and (pattern:match('^"(.-[^\\])"') or pattern:match("^'(.-[^\\])'"))
        if quoted and not fine[pattern] then
          seen = seen + 1
          local goes_on = pattern:match('^".-[^\\]"%s*(%.%.)') ~= nil
          local line = select(2, text:sub(1, at):gsub("\n", "")) + 1
          assert.is_false(is_slow(quoted, goes_on), ("%s:%d: %s"):format(path, line, pattern))
        end
      end
    end
    list:close()
    assert.is_true(seen > 50, "patterns found: " .. seen)
  end)
end)
