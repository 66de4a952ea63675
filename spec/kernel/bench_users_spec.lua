-- SPDX-License-Identifier: MIT
--
-- The programs of bench/users.lua, of a tenth of their size: what plain Lua, Meissa and C by hand
-- give is the same. The bench's peers, where they are not there, are named.
local child = require "spec.support.child"
local json = require "dkjson"

describe("Programs as users write them", function()
  it("give the same as plain Lua and in C", function()
    local output, status = child.shell("luajit bench/users.lua --size 0.1 --rounds 1 " ..
      "--seconds 0 --warm 0 --workers 2 --numeric strict 2>/dev/null", 200)
    assert.equal(0, status, output)
    local programs = 0
    for line in output:gmatch "[^\n]+" do
      local result = assert(json.decode(line), line)
      assert.is_true(result.agree, result.program)
      assert.is_true(result.c ~= nil or result.program == "word_count", result.program)
      programs = programs + 1
    end
    assert.equal(20, programs)
  end)
end)

describe("Peers", function()
  it("that are not there are named", function()
    local output, status = child.shell("PYTHONPATH= CC=false luajit bench/peers.lua --rounds 1 " ..
      "--size 0.001 --task monte_carlo 2>&1 >/dev/null")
    assert.equal(0, status, output)
    assert.truthy(output:find("OpenMP C SKIPPED", 1, true), output)
    assert.truthy(output:find("Meissa strict", 1, true), output)
  end)
end)
