-- SPDX-License-Identifier: MIT
--
-- Memory of sparse arrays that were read: what the process holds is the array, and its indexes come
-- when they are asked for.

local array = require "meissa.array"
local child = require "spec.support.child"
local expect = require "spec.support.expect"
local meissa = require "meissa"

local ENTRIES = 1500000
-- What reading leaves behind whatever the file's size: stacks and buffers of threads.
local CONSTANT = 8e6

-- Reads a file in a process of its own; by how many bytes that grew.
local script = [[
local meissa = require "meissa"
local function resident()
  collectgarbage()
  collectgarbage()
  for line in io.lines "/proc/self/status" do
    local kilobytes = line:match "^VmRSS:%%s+(%%d+)"
    if kilobytes then return kilobytes * 1024 end
  end
end
meissa.read.%s("%s")
local before = resident()
local X = meissa.read.%s("%s")
print(X:nnz(), resident() - before)
]]

describe("a sparse array that was read", function()
  for _, name in ipairs { "libsvm", "triples", "docword" } do
    it("takes at most 1.2 times its indices and values, " .. name, function()
      expect.with_directory(function(dir)
        local file = assert(io.open(dir .. "/large", "w"))
        local small = { libsvm = "1 1:1\n", triples = "1 1 1\n", docword = "1\n1\n1\n1 1 1\n" }
        expect.put(dir .. "/small", small[name])
        if name == "docword" then file:write(("9999\n9999\n%d\n"):format(ENTRIES)) end
        for k = 1, name == "libsvm" and ENTRIES / 10 or ENTRIES do
          if name == "libsvm" then
            file:write("1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 ", k % 999 + 10, ":1\n")
          else
            file:write(k % 9999 + 1, " ", k % 7 + 1, " 3\n")
          end
        end
        file:close()
        local output, status = child.script(script:format(name, dir .. "/small", name,
          dir .. "/large"))
        assert.equal(0, status, output)
        local count, grown = output:match("(%S+)%s+(%S+)")
        assert.equal(ENTRIES, tonumber(count))
        assert.is_true(tonumber(grown) < 1.2 * 16 * ENTRIES + CONSTANT, output)
      end)
    end)
  end

  it("has no index before it is read by subscript", function()
    expect.with_directory(function(dir)
      expect.put(dir .. "/t", "1 1 5\n2 2 6\n")
      local X = meissa.read.triples(dir .. "/t")
      local raw = array.core(X)
      assert.is_true(raw.index == nil and raw.rows == nil and raw.partitions == nil)
      assert.equal(6, X[2][2])
      assert.is_true(raw.index ~= nil and raw.rows == nil)
    end)
  end)
end)
