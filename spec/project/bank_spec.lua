-- SPDX-License-Identifier: MIT
-- The bank of digests (tools/bank.lua): the same twice, and another program is named.
local child = require "spec.support.child"

describe("the bank of digests", function()
  local directory
  setup(function() directory = child.directory() end)
  teardown(function() child.remove(directory) end)

  local function bank(arguments)
    return child.shell("MEISSA_BANK_SEEDS=0.02 luajit tools/bank.lua " .. arguments)
  end

  it("is the same in two runs", function()
    for k = 1, 2 do
      local output, status = bank(("write %s/%d buffers affine"):format(directory, k))
      assert.equal(0, status, output)
    end
    local output, status = bank(("compare %s/1 %s/2"):format(directory, directory))
    assert.equal(0, status, output)
    local text = child.read(directory .. "/1")
    assert.is_truthy(text:find("affine/5 2%-value%-lua %x+ %x+ %x+\n"))
    assert.is_truthy(text:find("buffers/1 2%-shared%-native %x+ %x+ %x+\n"))
    assert.is_falsy(text:find "after")
  end)

  it("names the program that another bank has other digests for, and which", function()
    local text = child.read(directory .. "/1")
    local changed = text:gsub("(buffers/1 0%-lua )%x+( %x+ )%x+", "%11%21")
    child.write(directory .. "/3", (changed:gsub("affine/3 1%-shared%-lua [^\n]*\n", "")))
    local output, status = bank(("compare %s/1 %s/3"):format(directory, directory))
    assert.equal(1, status)
    assert.is_truthy(output:find("affine/3 1-shared-lua: gone\n", 1, true), output)
    assert.is_truthy(output:find("buffers/1 0-lua: another result, plan\n", 1, true), output)
    assert.is_truthy(output:find(" compared, 2 differ\n", 1, true), output)
  end)

  it("tells programs apart that compute other bits", function()
    local seen = {}
    for line in child.read(directory .. "/1"):gmatch "[^\n]+" do
      local program, result = line:match "^affine/(%d+) 0%-lua (%x+)"
      if program then
        assert.is_nil(seen[result])
        seen[result] = program
      end
    end
    assert.is_truthy(next(seen, next(seen)))
  end)

  it("shows what a program said", function()
    local output = bank "show 'affine/1' 2-shared-lua"
    assert.is_truthy(output:find("is parallel: ", 1, true), output)
    assert.is_truthy(output:find("result: ", 1, true), output)
  end)
end)
