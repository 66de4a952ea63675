-- SPDX-License-Identifier: MIT
--
-- The parser against LuaJIT itself: on every Lua file of this machine, on mutants of them, on
-- random programs full of labels, and on random literals, its verdict, message and line are those
-- of loadstring. LuaJIT's limits on code size are the only difference allowed.
--
-- The random tests print their seed; MEISSA_TEST_SEED=n replays, MEISSA_MUTANTS=n sets how many.

local util = require "jit.util"

local ACCEPT = (os.getenv("MEISSA_BUILD") or "build") .. "/bin/accept"
local SEED = require "spec.support.seed"
local MUTANTS = tonumber(os.getenv("MEISSA_MUTANTS")) or 4000

-- What LuaJIT says when a chunk is right but too large to compile.
local LIMITS = {
  "has more than %d+ local variables", "has more than %d+ upvalues", "has more than %d+ constants",
  "has more than %d+ bytecode", "function or expression too complex", "control structure too long",
  "function too long for return fixup", "table overflow",
}

-- Messages are cut at this length: ours have a bound.
local SHOWN = 900

-- The verdicts of our parser on a list of texts, one line each.
local function judge(texts, more)
  local name = os.tmpname()
  local file = assert(io.open(name, "wb"))
  for _, text in ipairs(texts) do file:write(#text, "\n", text, "\n") end
  file:close()
  local lines = {}
  local pipe = assert(io.popen(ACCEPT .. " " .. name .. " " .. (more or "")))
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  os.remove(name)
  assert(#lines == #texts, "accept stopped after " .. #lines .. " of " .. #texts .. " texts")
  return lines
end

-- The verdict of LuaJIT in the same form; nil if the text is beyond its limits, "bytecode" if it
-- was taken for that.
local function verdict_of(text)
  local chunk, message = loadstring(text, "=text")
  if chunk then return "ok", chunk end
  if text:byte() == 27 then return "bytecode" end
  for _, limit in ipairs(LIMITS) do
    if message:find(limit) then return nil end
  end
  message = message:gsub("^text:(%d+): ", "error %1 "):gsub("[\r\n]", " ")
  return message
end

-- A jump right behind a block with captured locals shares that block's last instruction, and so
-- LuaJIT reports an error about the jump on the block's line. Ours is on the jump's own.
local function comparable(message)
  local jump = message:find("undefined label", 1, true) or message:find("no loop to break", 1, true)
    or message:find("jumps into the scope", 1, true)
  return (jump and message:gsub("^error %d+ ", "") or message):sub(1, SHOWN)
end

-- LuaJIT of 2026 reads operators and statements that Meissa does not know: what it accepts may be
-- refused there, and what both refuse may be so at another place.
local NEWER = loadstring("return 1 & 2") ~= nil

local function is_beyond(line) return NEWER and line:find("^error") ~= nil end

local function compare(texts)
  local ours, accepted, refused = judge(texts), 0, 0
  for i, text in ipairs(texts) do
    local theirs = verdict_of(text)
    if theirs == "ok" then accepted = accepted + 1 elseif theirs then refused = refused + 1 end
    if theirs == "bytecode" then
      assert(ours[i]:find("^error"), "bytecode was taken for a text")
    -- A text beyond the limits may still be wrong further on, so either verdict is right.
    elseif theirs and not is_beyond(ours[i]) and comparable(ours[i]) ~= comparable(theirs) then
      local form = "seed %d, text %d:\n%s\nLuaJIT: %s\nours:   %s"
      error(form:format(SEED, i, text, theirs, ours[i]), 0)
    end
  end
  return accepted, refused
end

local function read(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local function files()
  local list = {}
  local pipe = assert(io.popen("find /usr/share /usr/local/share lua spec -name '*.lua' -type f"
    .. " 2>/dev/null | LC_ALL=C sort"))
  for name in pipe:lines() do list[#list + 1] = name end
  pipe:close()
  return list
end

-- "first-last" of all functions inside a compiled one, inner ones first.
local function spans_of(chunk, out)
  local count = util.funcinfo(chunk).gcconsts
  for i = -1, -count, -1 do
    local inner = util.funck(chunk, i)
    if type(inner) == "proto" then
      spans_of(inner, out)
      local info = util.funcinfo(inner)
      out[#out + 1] = info.linedefined .. "-" .. info.lastlinedefined
    end
  end
  return out
end

local SNIPPETS = {
  "goto l", "goto continue", "::l::", "::continue::", "local l", "local x = 1", "break", "end",
  "do", "repeat", "until x", "function", "return", "if", "then", "else", "elseif",
  "for i = 1, 2 do", "for k in", "while", "(", ")", "{", "}", "[", "]", "[[", "]]", "[=[", "]==]",
  "--", "--[[", "=", ",", ";", ":", "::", ".", "..", "...", "==", "~", "~=", "<", ">=", "#", "-",
  "not", "and", "'", '"', "\\", "'\\x4'", "'\\u{7f}'", "'\\z  '", "'\\300'", "0x1p4", "0b11",
  "3LL", "1e", "0x", "5i", "1..2", "\r", "\n", "\r\n", "\n\r", "\0", "\200", "\127", "\27", "goto",
  "nil", "true", "self",
}

-- Splits a text into words, numbers, white space and single characters.
local function tokens_of(text)
  local list, at = {}, 1
  while at <= #text do
    local _, last = text:find("^[%w_]+", at)
    if not last then _, last = text:find("^%s+", at) end
    last = last or at
    list[#list + 1] = text:sub(at, last)
    at = last + 1
  end
  return list
end

local random = math.random

local MUTATIONS = {
  function(list, i) table.remove(list, i) end,
  function(list, i) table.insert(list, i, list[i]) end,
  function(list, i)
    local j = random(#list)
    list[i], list[j] = list[j], list[i]
  end,
  function(list, i) list[i] = list[random(#list)] end,
  function(list, i) table.insert(list, i, " " .. SNIPPETS[random(#SNIPPETS)] .. " ") end,
  function(list, i) list[i] = SNIPPETS[random(#SNIPPETS)] end,
  function(list, i)
    local word = list[i]
    local at = random(#word)
    list[i] = word:sub(1, at - 1) .. string.char(random(0, 255)) .. word:sub(at + 1)
  end,
  function(list, i)
    for _ = 1, random(5) do table.remove(list, i) end
  end,
}

-- A file or, of a long one, some of its lines, with one to three mutations.
local function mutant(text)
  if #text > 6000 then
    local at = random(#text - 3000)
    local from = text:find("\n", at, true) or at
    local to = text:find("\n", from + random(300, 3000), true) or #text
    text = text:sub(from + 1, to)
  end
  local list = tokens_of(text)
  for _ = 1, random(3) do
    if #list > 0 then MUTATIONS[random(#MUTATIONS)](list, random(#list)) end
  end
  return table.concat(list)
end

-- A random block of statements about jumps and scopes.
local function block(depth)
  local out = {}
  for _ = 1, random(0, 4) do
    local label = ("abc"):sub(random(3), -1):sub(1, 1)
    local inner = depth > 0 and random(3) > 1
    local choice = random(inner and 13 or 6)
    if choice == 1 then out[#out + 1] = "local " .. label
    elseif choice <= 3 then out[#out + 1] = "goto " .. label
    elseif choice <= 5 then out[#out + 1] = "::" .. label .. "::"
    elseif choice == 6 then out[#out + 1] = random(2) == 1 and "x = a" or ";"
    elseif choice == 7 then out[#out + 1] = "do " .. block(depth - 1) .. " end"
    elseif choice == 8 then out[#out + 1] = "while x do " .. block(depth - 1) .. " end"
    elseif choice == 9 then out[#out + 1] = "repeat " .. block(depth - 1) .. " until a"
    elseif choice == 10 then
      out[#out + 1] = "if x then " .. block(depth - 1) .. " else " .. block(depth - 1) .. " end"
    elseif choice == 11 then out[#out + 1] = "for a = 1, 2 do " .. block(depth - 1) .. " end"
    elseif choice == 12 then out[#out + 1] = "for a in b do " .. block(depth - 1) .. " end"
    else out[#out + 1] = "function f() " .. block(depth - 1) .. " return a end"
    end
  end
  if depth < 3 and random(6) == 1 then out[#out + 1] = "break" end
  return table.concat(out, random(4) == 1 and "\n" or " ")
end

local function pick(letters, least, most)
  local out = {}
  for i = 1, random(least, most) do
    local at = random(#letters)
    out[i] = letters:sub(at, at)
  end
  return table.concat(out)
end

local DIGITS, HEX = "0123456789", "0123456789abcdefABCDEF"

local NUMERALS = {
  function() return "0x" .. pick(HEX .. ".", 1, 24) .. pick("pP+-12", 0, 4) end,
  function() return "0b" .. pick("01", 1, 70) .. pick("ULul", 0, 3) end,
  function() return random(9) .. pick(DIGITS, 0, 21) .. pick("ULi", 0, 3) end,
  function() return pick(DIGITS, 1, 20) .. "." .. pick(DIGITS, 0, 20) end,
  function() return pick(DIGITS, 1, 20) .. "e-" .. pick(DIGITS, 1, 3) end,
  function()
    return "0x" .. pick(HEX, 1, 18) .. "." .. pick(HEX, 0, 18) .. "p-" .. random(0, 1100)
  end,
  function() return pick(DIGITS, 1, 3) .. "e" .. pick("+-", 0, 1) .. 1048476 + random(200) end,
  function() return random(9) .. "." .. pick(DIGITS, 1, 17) .. "e" .. random(-330, 310) end,
  function() return pick(DIGITS, 1, 1) .. pick(DIGITS .. ".eExXbBuUlLiIpP+-_a", 0, 6) end,
}

local function numeral()
  return NUMERALS[random(#NUMERALS)]()
end

local ESCAPES = {
  "\\a", "\\b", "\\f", "\\n", "\\r", "\\t", "\\v", "\\\\", "\\'", '\\"', "\\0", "\\65", "\\255",
  "\\256", "\\x41", "\\xfF", "\\xg1", "\\x4", "\\u{41}", "\\u{7ff}", "\\u{800}", "\\u{ffff}",
  "\\u{10ffff}", "\\u{110000}", "\\u{d800}", "\\u{}", "\\u41", "\\z \n\t ", "\\z", "\\\n",
  "\\\r\n", "\\q", "a", "1", "\200", "\0", "]", "[", "=", " ", "\t",
}

local function literal()
  local out = {}
  for i = 1, random(0, 5) do out[i] = ESCAPES[random(random(3) == 1 and #ESCAPES or 15)] end
  local text = table.concat(out)
  if random(4) > 1 then return "'" .. text .. "'" end
  local level = ("="):rep(random(0, 2))
  return "[" .. level .. "[" .. (random(2) == 1 and "\r\n" or "") .. text .. "]" .. level .. "]"
end

-- Whether our "ok VALUE" says the same value.
local function is_value(line, value)
  if type(value) == "number" then return tonumber(line:match("^ok (%S+)$")) == value end
  return line == "ok s" .. value:gsub(".", function(c) return ("%02x"):format(c:byte()) end)
end

describe("the parser", function()
  it("agrees with loadstring on every Lua file of this machine", function()
    local names, texts = files(), {}
    for i, name in ipairs(names) do texts[i] = read(name) end
    assert.is_true(#names > 50)
    local accepted = compare(texts)
    assert.is_true(accepted > 50)
  end)

  it("gives functions the lines that debug.getinfo gives them", function()
    local texts, functions = {}, 0
    for _, name in ipairs(files()) do
      local text = read(name)
      if verdict_of(text) == "ok" then texts[#texts + 1] = text end
    end
    local ours = judge(texts, "spans")
    for i, text in ipairs(texts) do
      local theirs, mine = spans_of(loadstring(text), {}), {}
      for span in ours[i]:gmatch("%d+%-%d+") do mine[#mine + 1] = span end
      functions = functions + #mine
      table.sort(theirs)
      table.sort(mine)
      if not is_beyond(ours[i]) then assert.same(theirs, mine) end
    end
    assert.is_true(functions > 500)
  end)

  it("gives calls the line that debug.getinfo reports while they run", function()
    local texts = {
      "for i in p(1) do end",
      "for i in\np\n.q{\n1,\n2} do\nlocal a\nend",
      "for i in p(\n1,\n2\n)\ndo end\np.q\n'x'\np[[a\nb\nc]]",
      "local t = {p(\n1\n), k = p\n.q(2)}\np(\nfunction()\nend)",
      "local t = p\nlocal u = (t(\n1)), t\n{}\np:\nm\n{}",
      "local t = {p\n(1), 2}",
    }
    local ours = judge(texts, "calls")
    for i, text in ipairs(texts) do
      local seen = {}
      local function note()
        seen[#seen + 1] = debug.getinfo(3, "l").currentline
        return function() end
      end
      local function called()
        local iterator = note()
        return iterator -- not a tail call, so that the caller is two levels up
      end
      local p = setmetatable({q = called, m = called}, {__call = called})
      setfenv(assert(loadstring(text)), {p = p})()
      local lines = {}
      for line in ours[i]:gmatch("%d+") do lines[#lines + 1] = tonumber(line) end
      table.sort(lines)
      table.sort(seen)
      assert.same(seen, lines, text)
    end
  end)

  it("agrees with loadstring on mutants of them", function()
    print("MEISSA_TEST_SEED=" .. SEED)
    math.randomseed(SEED)
    local names, texts = files(), {}
    for i = 1, MUTANTS do texts[i] = mutant(read(names[random(#names)])) end
    local accepted, refused = compare(texts)
    assert.is_true(accepted > MUTANTS / 20)
    assert.is_true(refused > MUTANTS / 4)
  end)

  it("agrees with loadstring on random jumps and scopes", function()
    math.randomseed(SEED)
    local texts = {}
    for i = 1, 4 * MUTANTS do texts[i] = block(3) end
    local accepted, refused = compare(texts)
    assert.is_true(accepted > MUTANTS / 4)
    assert.is_true(refused > MUTANTS / 4)
  end)

  it("reads random numbers and strings to the same values", function()
    math.randomseed(SEED)
    local texts, right = {}, {}
    for i = 1, 2 * MUTANTS do
      texts[i] = "return " .. (random(3) == 1 and literal() or numeral())
    end
    local accepted, refused = compare(texts)
    assert.is_true(accepted > MUTANTS / 4)
    assert.is_true(refused > MUTANTS / 8)
    for _, text in ipairs(texts) do
      local chunk = loadstring(text)
      -- Only single literals: no operator, and nothing boxed.
      local single = chunk and (text:find("['\"%[]") or not text:find("[-+]")
        or text:find("^return [%d.]+e[-+]%d+$") or text:find("^return 0x[%x.]+p[-+]%d+$"))
      if single and type(chunk()) ~= "cdata" then right[#right + 1] = text end
    end
    local ours = judge(right, "values")
    for i, text in ipairs(right) do
      local same = is_beyond(ours[i]) or is_value(ours[i], loadstring(text)())
      assert.is_true(same, text .. "\n" .. ours[i])
    end
  end)

  it("agrees with loadstring on nesting and on many targets", function()
    local texts = {}
    for depth = 60, 220 do
      texts[#texts + 1] = "x = " .. ("("):rep(depth) .. "1" .. (")"):rep(depth)
      texts[#texts + 1] = "x = " .. ("not "):rep(depth) .. "1"
      texts[#texts + 1] = "x = " .. ("1 .. "):rep(depth) .. "1"
      texts[#texts + 1] = "x = " .. ("{"):rep(depth) .. ("}"):rep(depth)
      texts[#texts + 1] = ("do "):rep(depth) .. ("end "):rep(depth)
      texts[#texts + 1] = "x = " .. ("function() return "):rep(depth) .. "1 " .. ("end "):rep(depth)
      texts[#texts + 1] = ("a, "):rep(depth) .. "a = 1"
      texts[#texts + 1] = "function f() " .. ("a, "):rep(depth) .. "a = 1 end"
      local labels = {}
      for i = 1, depth do labels[i] = "::l" .. i .. "::" end
      texts[#texts + 1] = table.concat(labels)
    end
    local accepted, refused = compare(texts)
    assert.is_true(accepted > 100)
    assert.is_true(refused > 100)
  end)
end)
