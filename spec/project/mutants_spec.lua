-- SPDX-License-Identifier: MIT
-- The mutants that `make mutants` tries fit the sources, and every rule has some.
local child = require "spec.support.child"
local rules = require "spec.mutants.rules"

local function finders_of(rule, mutant) return mutant.finders or rule.finders end

describe("mutants", function()
  it("belong to rules, each of which has two or more, or specs that have", function()
    local seen = {}
    for _, rule in ipairs(rules.list) do
      assert.is_nil(seen[rule.rule], rule.rule)
      seen[rule.rule] = true
      local some = rule.within or rule.mutants
      assert.is_true(#some >= (rule.within and 1 or 2), rule.rule)
      for _, path in ipairs(rule.within or {}) do assert.is_string(child.read(path), path) end
    end
    assert.is_true(#rules.list > 20)
  end)

  it("change what is there, once", function()
    for _, rule in ipairs(rules.list) do
      for _, mutant in ipairs(rule.mutants or {}) do
        local text = child.read(mutant.file)
        assert.are_not.equal(text, rules.apply(mutant, text), mutant.name)
      end
    end
  end)

  it("have specs that are to find them", function()
    for _, rule in ipairs(rules.list) do
      for _, mutant in ipairs(rule.mutants or {}) do
        local finders = finders_of(rule, mutant)
        assert.is_true(#finders > 0, mutant.name)
        for _, finder in ipairs(finders) do
          local text = child.read(finder.spec)
          assert.is_true(not finder.draws or text:find(finder.draws, 1, true) ~= nil, finder.spec)
          assert.is_true(not finder.draws or finder.most <= 20000, mutant.name)
        end
      end
    end
  end)

  it("are refused where the text is not there, or more than once", function()
    local mutant = {name = "x", file = "y", old = "a", new = "b"}
    assert.equal("cbd", rules.apply(mutant, "cad"))
    assert.is_false(pcall(rules.apply, mutant, "caad"))
    assert.is_false(pcall(rules.apply, mutant, "d"))
  end)
end)
