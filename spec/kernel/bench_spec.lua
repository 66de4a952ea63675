-- SPDX-License-Identifier: MIT
--
-- The loops of bench/kernels.lua, lda.lua and slr.lua on both engines against the same loops
-- written by hand in C, which knows nothing of Meissa but its blocks and their order: the same bits
-- in strict mode.
local child = require "spec.support.child"
local json = require "dkjson"

local function results(arguments)
  local output, status = child.shell(("luajit bench/%s --rounds 1 2>/dev/null"):format(arguments),
                                     100)
  assert.equal(0, status, output)
  local list = {}
  for line in output:gmatch("[^\n]+") do list[#list + 1] = assert(json.decode(line), line) end
  return list
end

describe("C written by hand", function()
  for _, arguments in ipairs {
    "kernels.lua --ratings 30000 --loop mf_sgd --rank 32",
    "kernels.lua --ratings 3000 --loop mf_sgd --rank 1000",
    "kernels.lua --ratings 30000 --loop mf_adagrad --rank 8",
    "kernels.lua --ratings 30000 --loop cp", "kernels.lua --ratings 30000 --loop pagerank",
    "kernels.lua --ratings 30000 --loop kmeans", "kernels.lua --ratings 30000 --loop logistic",
    "kernels.lua --ratings 30000 --loop stencil",
    "lda.lua --rank 10", "slr.lua --part bodies --rank 4000",
  } do
    it("agrees with bench/" .. arguments, function()
      local list = results(arguments)
      assert.is_true(#list >= 2)
      local engines = {}
      for _, each in ipairs(list) do
        engines[each.engine] = true
        assert.is_true(each.near, each.numeric .. " on " .. each.engine)
        if each.numeric == "strict" then assert.is_true(each.same_bits, each.engine) end
      end
      assert.is_true(engines.lua and engines.native)
    end)
  end
end)
