-- SPDX-License-Identifier: MIT
-- What is kept of who hears whom has room for those that are heard, and where all hear all no list
-- of everybody for each.
local posts = require "meissa.sync.post"
local settings_of = require "meissa.sync.settings"
local waits = require "meissa.sync.waits"

local K = 1500

-- Kilobytes of Lua's that it takes to make what a function gives; that.
local function kilobytes_of(make)
  collectgarbage()
  collectgarbage()
  local before = collectgarbage "count"
  local made = make()
  collectgarbage()
  return collectgarbage "count" - before, made
end

local function open(options)
  local settings = settings_of.read("meissa.replicate", options, K)
  return posts.new(settings, 1, {exact = true, alike = true})
end

describe("posts of many replicas", function()
  it("list nobody where all hear all", function()
    local memory, all = kilobytes_of(function()
      local made = open {}
      return {made, waits.found(made:sets(K))}
    end)
    assert.is_true(memory < 2000, memory .. " KB")
    assert.is_true(all[2].full)
    assert.equal(K, #all[2].sets[K])
  end)

  it("have rows for those whom they hear", function()
    assert.is_true(open {topology = "ring"}.at.size < 20)
    assert.is_true(open {topology = "root-expander"}.at.size < 20)
    assert.is_true(open({}).at.size >= K)
  end)

  it("number neighbours as others do", function()
    local matrix = {}
    for i = 1, 5 do
      matrix[i] = {}
      for j = 1, 5 do matrix[i][j] = 1 end
    end
    for _, topology in ipairs {"all", "tree-allreduce", {matrix = matrix}} do
      local made = posts.new(settings_of.read("meissa.replicate", {topology = topology}, 5), 1,
                             {exact = true})
      assert.is_true(made.complete)
      for k = 1, 5 do
        local n, told = 0, made.tells[0][k]
        for j = 1, 5 do
          assert.equal(j ~= k and n or nil, made.to[k][j])
          assert.equal(j ~= k and n or nil, made.from[k][j])
          if j ~= k then
            n = n + 1
            assert.equal(j, told[n])
          end
        end
        assert.equal(4, #told)
      end
    end
  end)
end)
