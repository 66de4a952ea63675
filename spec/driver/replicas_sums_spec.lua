-- SPDX-License-Identifier: MIT
-- Sums of integers that do not fit into their type: one error, whoever forms them.
local child = require "spec.support.child"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

local ROADS = {{workers = 0}, {workers = 1}, {workers = 2}, {workers = 4},
               {workers = 2, shm = false}}

-- The error of replicas, with its place, on one road.
local function error_of(fn)
  local ok, err = pcall(meissa.replicas, 4, {}, fn)
  assert.is_false(ok)
  return tostring(err)
end

-- What `fn` gives on all roads, and how often.
local function on_all_roads(fn)
  local counts = {}
  for _, road in ipairs(ROADS) do
    kept_workers.init(road)
    local result = fn()
    counts[result] = (counts[result] or 0) + 1
  end
  kept_workers.init {}
  return counts
end

describe("Sums that do not fit into their type", function()
  local words = {int32 = "ARR: the result 2147483658 does not fit into type int32",
                 int64 = "ARR: an element is beyond 2^53"}
  for name, big in pairs {int32 = 2 ^ 29, int64 = 2 ^ 52} do
    for _, count in ipairs {2, 40000} do
      it(("are an error of the program's: %d of %s"):format(count, name), function()
        local place = debug.getinfo(1, "S").short_src
        for text, times in pairs(on_all_roads(function()
          return error_of(function(r)
            local v, rest = meissa.full({count}, 1, {type = name}), meissa.ones(40000)
            r.allReduce {v, rest, 1} -- from now on there is room between workers
            v[count] = big + r.index
            r.allReduce {v, rest, 1}
          end)
        end)) do
          assert.equal(#ROADS, times, text)
          assert.truthy(text:find(place, 1, true), text)
          assert.truthy(text:find(words[name], 1, true), text)
        end
      end)
    end
  end

  it("are told alike, whichever element of whichever array is first", function()
    local counts = on_all_roads(function()
      return error_of(function(r)
        local v, w = meissa.zeros({5000}, {type = "int32"}), meissa.zeros({9}, {type = "int64"})
        v[4999], v[7], w[2] = 2 ^ 30, r.index > 2 and 2 ^ 30 + r.index or 2 ^ 29, 2 ^ 52
        r.allReduce {a = w, b = v}
      end)
    end)
    local text, times = next(counts)
    assert.equal(#ROADS, times, text)
    assert.truthy(text:find(words.int64, 1, true), text)
  end)

  it("end all replicas, and nobody begins again", function()
    local said, code = child.script [[
      local meissa = require "meissa"
      meissa.init {workers = 2}
      print(pcall(meissa.replicas, 4, {}, function(r)
        r.allReduce(meissa.full({2}, 2 ^ 29, {type = "int32"}))
      end))
      print(meissa.replicas(4, {}, function(r)
        return (r.allReduce(meissa.full({2}, 2 ^ 28, {type = "int32"})))[1]
      end)[4])
    ]]
    assert.equal(0, code, said)
    assert.falsy(said:find("begin again", 1, true), said)
    assert.truthy(said:find("2147483648 does not fit into type int32", 1, true), said)
    assert.truthy(said:find("\n1073741824", 1, true), said)
  end)
end)
