-- SPDX-License-Identifier: MIT
-- How the repository's Lua files are laid out (spec/support/layout.lua): what clang-format does for
-- C, but for how long expressions are broken.
local child = require "spec.support.child"
local layout = require "spec.support.layout"

local FOLDERS = "lua spec examples bench tools bin rockspec .luacheckrc"

local function files()
  local list = {}
  local pipe = io.popen(("find %s -name '*.lua' -o -name '*.rockspec' -o -path 'bin/*' -o " ..
    "-name .luacheckrc | sort"):format(FOLDERS))
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

describe("Lua files", function()
  it("are laid out alike", function()
    local faults, count = {}, 0
    for _, path in ipairs(files()) do
      count = count + 1
      for _, fault in ipairs(layout.faults(child.read(path))) do
        faults[#faults + 1] = path .. ":" .. fault
      end
    end
    assert.is_true(count > 250, "only " .. count .. " files")
    assert.same({}, faults)
  end)
end)

local HEAD = "-- SPDX-License-Identifier: MIT\n"

local GOOD = {
  "local x = 1\n", "return {\n  a = 1,\n     b = 2}\n", "\nlocal t = {}\n",
  "local function f(a, b)\n  return a\nend\n\n-- The next.\nlocal function g() end\n",
  "local function f() return 1 end\nlocal function g() return 2 end\n",
  "if a\n  and b then\n  c = 1\nelseif d then\n  c = 2\nelse\n  c = 3\nend\n",
  "repeat\n  local k = f()\nuntil k\n  or k == nil\n",
  "while f() do\n  break\nend\nfor k = 1, 2 do g(k) end\ndo\n  g(1)\nend\n",
  "f(1, function()\n  g()\nend)\n", "f(1,\n  function()\n  g()\nend)\n",
  "f(1,\n  function()\n    g()\n  end)\n",
  "f([[\n\ttext \n]], function()\n  g()\nend)\n", "local s = [==[\n ]]\n x=1]==]\n",
  "local n, m = -1, 1e-3\nA[i+1] = A[i*2][j-1] - 0x1F\n", "local s = 'it\\'s \"a\" ,b'\n",
  "goto done\n::done::\n", "f 'x':g()\n",
  'local f = require "m"\nlocal g = require("m").g\n', "require('m')()\nM.require('m')\n",
  'local f = require(name)\nfunction M.require(name) end\n', "x = 'require(\"m\")'\n",
  "local a = b ..\n  c\nlocal d = e\n  + 1\n", "x = y;\n", "local f = function() return 1 end\n",
  "local t = {function()\n  return 1\nend, 2}\n", "-- a comment =like, this\nlocal x = #t\n",
}

local BAD = {
  ["a tab"] = {"\tlocal x = 1\n", "local x =\t1\n"},
  ["blanks at the end"] = {"local x = 1 \n", "-- a comment \nlocal x = 1\n", "  \nlocal x = 1\n"},
  ["two empty lines"] = {"local x = 1\n\n\nlocal y = 2\n"},
  ["an empty line at the end"] = {"local x = 1\n\n"},
  ["no newline at the end"] = {"local x = 1"},
  ["a carriage return"] = {"local x = 1\r\n"},
  ["columns"] = {"-- " .. ("x"):rep(98) .. "\n"},
  ["more than 400 lines"] = {("f()\n"):rep(400)},
  ["is indented"] = {
    " local x = 1\n", "if a then\n   b()\nend\n", "if a then\nb()\nend\n",
    "if a then\n  b()\n  end\n",
    "if a then\n  b()\n  else\n  c()\nend\n", "f(function()\n    g()\nend)\n",
    "f(function()\n  g()\n  end)\n", "for k = 1, 2 do\n  g()\n end\n", "do\n    g()\nend\n",
    "repeat\n  g()\n  until a\n", "while a do\n  g()\n    h()\nend\n",
    "local function f()\n  g()\n h()\nend\n", "local t = {\n  f = function()\n  g()\n  end}\n",
    "f([[\n]], function()\n    g()\nend)\n", "f(1,\n  function()\n   g()\n end)\n",
  },
  ["no empty line behind a function"] = {
    "local function f()\n  g()\nend\nlocal function h() end\n",
    "function M.f()\n  g()\nend\n--- The next.\nfunction M.h() end\n",
  },
  ["no blanks around"] = {"local x=1\n", "x = a..b\n", "x = a== b\n", "x = a <b\n", "x = a*b\n",
                          "t = {a=1}\n", "x = a+ b\n"},
  ["a blank before"] = {"f(a , b)\n", "f(a )\n"},
  ["no blank behind"] = {"f(a,b)\n", "f();g()\n"},
  ["a blank behind '('"] = {"f( a)\n"},
  ["parentheses around"] = {
    'local f = require("m")\n', 'f(require("m"), 1)\n', 'local g = require "m".g\n',
    'require "m".f()\n', "require 'm'(1)\n",
  },
}

describe("the search for faults", function()
  it("takes none of these for one", function()
    for _, text in ipairs(GOOD) do assert.same({}, layout.faults(HEAD .. text), text) end
    assert.same({}, layout.faults("#!/usr/bin/env luajit\n" .. HEAD .. "f()\n"))
  end)

  it("misses none of these", function()
    for words, texts in pairs(BAD) do
      for _, text in ipairs(texts) do
        local found = layout.faults(HEAD .. text)
        assert.truthy(found[1] and found[1]:find(words, 1, true),
                      ("'%s' in %s"):format(words, text))
      end
    end
    assert.same({"1: no licence"}, layout.faults("local x = 1\n"))
    assert.same({"1: no licence"}, layout.faults("-- by me\n" .. HEAD))
  end)

  it("tells the line", function()
    assert.same({"3: a tab"}, layout.faults(HEAD .. "local x = 1\nlocal\ty = 1\n"))
  end)
end)
