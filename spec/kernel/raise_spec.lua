-- SPDX-License-Identifier: MIT
-- error and assert with constant text as machine code: what the Lua engine raises, word for word,
-- in the same line and iteration, with what was stored undone.
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local parallel = meissa.parallel
-- The test framework has another one.
local luassert, assert = assert, package.loaded._G.assert

local v = meissa.ones(40)

local function check(x)
  if x > 5 then
    error("too large")
  end
  return x
end

local function positive(x) assert(x > -7, "negative") return x end

-- Loops that end in an error, on either engine.
local raising = {
  ["error"] = function(o)
    for i in parallel(40, o) do v[i] = i if i == 7 then error("seven") end end
  end,
  ["error in a function"] = function(o) for i in parallel(40, o) do v[i] = check(i) end end,
  ["assert"] = function(o) for i in parallel(40, o) do v[i] = 1 / i assert(i < 7, "less") end end,
  ["assert without a text"] = function(o)
    for i in parallel(40, o) do
      assert(v[i] == 1 and i ~= 20)
    end
  end,
  ["assert of a value"] = function(o)
    for i in parallel(40, o) do local x = assert(i < 9 and i, "none") v[i] = x * 2 end
  end,
  ["assert in a function"] = function(o) for i in parallel(40, o) do v[i] = positive(-i) end end,
  ["texts of all letters"] = function(o)
    for i in parallel(40, o) do if i > 3 then error("%d \"x\" \\ ?? 'äö' 100%") end v[i] = i end
  end,
}

-- Loops that do not, or that are for the Lua engine.
local quiet = {
  ["assert that holds"] = { "native", function(o)
    for i in parallel(40, o) do v[i] = assert(i * 2) + assert(i > 0 and 1, "some") end
  end },
  ["a text that is made"] = { "lua", function(o)
    for i in parallel(40, o) do if i > 40 then error("at " .. i) end v[i] = i end
  end },
  ["a level"] = { "lua", function(o)
    for i in parallel(40, o) do if i > 40 then error("at", 2) end v[i] = i end
  end },
  ["a code"] = { "lua", function(o)
    for i in parallel(40, o) do if i > 40 then error("ARR: no") end v[i] = i end
  end },
  ["several values"] = { "lua", function(o)
    for i in parallel(40, o) do local a, b = assert(i, "x") v[i] = b and a or 0 end
  end },
}

describe("errors that a body raises", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end
  setup(function() meissa.init { workers = 1 } end)

  for name, loop in pairs(raising) do
    it("are the same: " .. name, function()
      local raised = {}
      for n, engine in ipairs { "lua", "native" } do
        v:fill(1)
        local ok, err = pcall(loop, { engine = engine })
        luassert.is_false(ok)
        raised[n] = { err.code, err.message, err.line, err.file, err.iteration, v:sum() }
      end
      luassert.same(raised[1], raised[2])
      luassert.equal("BDY", raised[1][1])
      luassert.equal(40, raised[1][6])
    end)
  end

  for name, each in pairs(quiet) do
    it("need none: " .. name, function()
      v:fill(1)
      each[2] { engine = "lua" }
      local expected = v:totable()
      v:fill(1)
      each[2](each[1] == "native" and { engine = "native" } or {})
      luassert.same(expected, v:totable())
      luassert.equal(each[1], meissa.last().engine)
    end)
  end
end)
