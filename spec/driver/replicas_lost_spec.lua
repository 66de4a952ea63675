-- SPDX-License-Identifier: MIT
-- Nothing that is given to replicas, or raised by them, is lost in silence: it arrives or is
-- refused.
local meissa = require "meissa"

local function refusal(fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  assert.equal("OPT", err.code, tostring(err))
  return err.message
end

describe("what a function of meissa.replicas raises", function()
  teardown(function() meissa.init {workers = 2, quiet = true} end)

  -- What is raised, the value that the error has, and its message.
  local given = {a = 1, b = {true, "x"}}
  local RAISED = {
    {given, given, "a table was raised: the error's `value` has it"},
    {{message = "words", n = 3}, {message = "words", n = 3}, "words"},
    {17, 17, "17"},
    {false, false, "false"},
    {"plain", nil, "plain"},
    {nil, nil, "nil"},
  }
  for n = 1, #RAISED do
    it("is in the error, everywhere: " .. RAISED[n][3], function()
      local value, copy, words = unpack(RAISED[n], 1, 3)
      for workers = 0, 2 do
        meissa.init {workers = workers, quiet = true}
        for _, setup in ipairs {false, true} do
          local function raise(r) if setup or r.index == 2 then error(value, 0) end end
          local ok, err = pcall(meissa.replicas, 3, {setup = setup and raise or nil}, function(r)
            r.barrier()
            raise(r)
          end)
          assert.is_false(ok)
          assert.equal("BDY", err.code)
          assert.same({copy}, {err.value})
          assert.equal((setup and "setup: " or "replica 2: ") .. words, err.message)
          assert.is_true(not rawequal(err.value, value) or type(value) ~= "table")
        end
      end
    end)
  end

  it("has its place, if it is a text", function()
    for workers = 0, 1 do
      meissa.init {workers = workers, quiet = true}
      local line = debug.getinfo(1, "l").currentline + 1
      local ok, err = pcall(meissa.replicas, 2, {}, function() error "words" end)
      assert.is_false(ok)
      assert.same({line, "replica 1: words"}, {err.line, err.message})
      assert.is_nil(err.value)
    end
  end)
end)

describe("lists of arrays", function()
  teardown(function() meissa.init {workers = 2, quiet = true} end)

  local a, b = meissa.ones(2), meissa.ones(3)
  local far = {a}
  far[1000] = b
  -- Lists, and what is said of them.
  local HOLES = {
    {{a, nil, b}, "has nothing at 2,"}, {{nil, b}, "has nothing at 1,"},
    {{nil, nil, nil, b}, "has nothing at 1,"}, {far, "has nothing at 2,"},
    {{[0] = a, b}, "has nothing at 2,"}, {{[0.5] = a}, "has nothing at 1,"},
    {{a, bias = b}, "has something under \"bias\","},
  }
  for n, each in ipairs(HOLES) do
    it("have no holes that are looked over: " .. n, function()
      local words = refusal(meissa.replicate, each[1], {replicas = 2, every = 1})
      assert.truthy(words:find("meissa.replicate: the list of arrays " .. each[2], 1, true), words)
      for workers = 0, 1 do
        meissa.init {workers = workers, quiet = true}
        words = refusal(meissa.replicas, 2, {}, function(r)
          local own = {}
          for key, value in pairs(each[1]) do own[key] = value:clone() end
          r:exchange(own, {})
        end)
        assert.truthy(words:find("r:exchange: the list of arrays " .. each[2], 1, true), words)
      end
    end)
  end
end)

describe("options of replicas", function()
  teardown(function() meissa.init {workers = 2, quiet = true} end)

  it("are chosen for all of a loop or not at all", function()
    for _, name in ipairs {"every", "staleness"} do
      local w = meissa.zeros(1)
      local r = meissa.replicate(w, {replicas = 2, every = 1, on_round = function()
        return {[name] = "auto"}
      end})
      local words = refusal(function() for e in meissa.parallel(6) do r[1] = r[1] + e end end)
      assert.equal("what on_round answers as '" .. name .. "' is a number, not \"auto\": that " ..
                   "is an option of meissa.replicate, for all of a loop", words)
      assert.equal(0, w[1])
    end
  end)

  it("leave the replicated arrays to the loop, where it gives them the merged value", function()
    for _, road in ipairs {{workers = 0}, {workers = 2}} do
      road.quiet = true
      meissa.init(road)
      for n, write in ipairs {function(w) w[1] = 5 end, function(w) w:fill(5) end,
                              function(w) w:narrow(1, 1, 1):fill(5) end,
                              function(w) for i in meissa.parallel(2) do w[i] = 5 end end} do
        for _, final in ipairs {"mean", "none"} do
          local v, w = meissa.zeros(1), meissa.zeros(2)
          local function on_round(s) if s.round == 2 then write(w) end end
          local _, r = meissa.replicate({v, w}, {replicas = 2, every = 1, final = final,
                                                 on_round = on_round})
          local function run() for _ in meissa.parallel(6) do r[1] = r[1] + 1 end end
          if final == "none" then
            run()
            assert.equal(5, w[1])
          else
            local ok, err = pcall(run)
            assert.is_false(ok, n)
            local words = "gets what its replicas come to when their loop ends, so what " ..
              "'on_round' writes to it would be lost"
            assert.truthy(tostring(err):find(words, 1, true), tostring(err))
            assert.equal(0, w[1])
          end
          v[1], w[1] = 7, 7 -- as before
          assert.same({7, 7}, {v[1], w[1]})
        end
      end
    end
  end)

  it("leave the workers what they are", function()
    for workers = 0, 2 do
      for count = 1, 2 do
        meissa.init {workers = workers, quiet = true}
        local words = refusal(meissa.replicas, count, {}, function()
          meissa.init {workers = 1, quiet = true}
        end)
        assert.equal("replica 1: meissa.init: workers cannot be changed in a loop's body or a " ..
                     "function of meissa.replicas; call it before or after", words)
        assert.equal(workers, meissa.workers().workers)
      end
    end
  end)

  it("are finite where something is multiplied by them", function()
    for _, each in ipairs {{{add = math.huge}, "the factor of a merge ({add = gamma})"},
                           {{weighted = math.huge}, "the weight of a merge ({weighted = lambda})"},
                           {{add = 1, sigma = math.huge}, "sigma of a merge"}} do
      assert.equal(each[2] .. " is finite",
                   refusal(meissa.replicate, meissa.zeros(1),
                           {replicas = 2, every = 1, merge = each[1]}))
    end
  end)

  it("are named as what they are", function()
    for _, each in ipairs {{"every", "2", "\"2\""}, {"timeout", "2", "\"2\""},
                           {"staleness", "1", "\"1\""}, {"staleness", 1e300, "1e+300"},
                           {"staleness", 2 ^ 40, "1099511627776"}, {"bandwidth", "9", "\"9\""},
                           {"shuffle", "1", "\"1\""}, {"final", {}, "a table"},
                           {"sync", 3, "3"}} do
      local options = {replicas = 2, every = 1}
      options[each[1]] = each[2]
      local words = refusal(meissa.replicate, meissa.zeros(1), options)
      assert.truthy(words:find(", not " .. each[3], 1, true), words)
      assert.truthy(words:find(each[1], 1, true), words)
    end
  end)
end)
