-- SPDX-License-Identifier: MIT
--
-- Damaged files: whatever bytes a reader meets, it gives an array or an error object that names the
-- file, and nothing is left of a failed read.

local array = require("meissa.array")
local errors = require("meissa.errors")
local meissa = require("meissa")
local expect = require("spec.support.expect")

local seed = require "spec.support.seed"
local ROUNDS = 300

local function lines_of(count, line)
  local list = {}
  for k = 1, count do list[k] = line(k) end
  return table.concat(list, "\n") .. "\n"
end

local formats = {
  libsvm = {
    text = lines_of(30, function(k)
      return ("%d 1:%g %d:2 20:-1e3"):format(k % 2, k / 7, k % 9 + 3)
    end),
    read = function(path) return (meissa.read.libsvm(path)) end,
  },
  docword = {
    text = "9\n9\n30\n" .. lines_of(30, function(k)
      return ("%d %d %d"):format(k % 9 + 1, k % 7 + 1, k)
    end),
    read = function(path) return (meissa.read.docword(path)) end,
  },
  csv = {
    text = 'a,"b",c\n' .. lines_of(30, function(k) return ('%d,"%g",NA'):format(k, k / 3) end),
    read = function(path) return (meissa.read.csv(path, { missing = "nan" })) end,
  },
  triples = {
    text = lines_of(30, function(k) return ("u%d::%d::%g"):format(k % 5, k % 7, k / 2) end),
    read = function(path) return meissa.read.triples(path) end,
  },
  lines = {
    text = lines_of(30, function(k) return ("%d %d"):format(k, k * k) end),
    read = function(path)
      return meissa.read.lines(path, function(line)
        local i, v = line:match("^(%d+) (%d+)$")
        if i then return tonumber(i), tonumber(v) end
      end)
    end,
  },
}

local interesting = { "\0", "\r", "\n", "\255", ":", "::", ",", '"', "-", ".", "e", "1e999", "#",
  "0", "9999999999999999999", " ", "\t", "", "NaN", "+", "\239\187\191" }

local function damage(text)
  for _ = 1, math.random(3) do
    local at = math.random(0, #text)
    local cut = math.random(0, 3)
    local new = interesting[math.random(#interesting)]
    text = text:sub(1, at) .. new .. text:sub(at + cut + 1)
  end
  if math.random(6) == 1 then text = text:sub(1, math.random(0, #text)) end
  return text
end

local function check(format, path)
  local ok, result = pcall(format.read, path)
  if ok then return meissa.is_array(result) end
  assert.is_true(errors.is(result), tostring(result))
  assert.truthy(({ FIL = true, ARR = true, BDY = true })[result.code], tostring(result))
  if result.code == "FIL" then assert.equal(path, result.file) end
  return false, result
end

describe("damaged files", function()
  setup(function()
    print("read_damage seed " .. seed)
    math.randomseed(seed)
    meissa.init { workers = 0 }
  end)
  teardown(function() meissa.init {} end)

  for name, format in pairs(formats) do
    it("are refused or read, " .. name, function()
      expect.with_directory(function(dir)
        collectgarbage()
        collectgarbage()
        local held, read = array.bytes_held(), 0
        expect.put(dir .. "/whole", format.text)
        assert.is_true(check(format, dir .. "/whole"))
        for _ = 1, ROUNDS do
          expect.put(dir .. "/damaged", damage(format.text))
          if check(format, dir .. "/damaged") then read = read + 1 end
        end
        assert.is_true(read < ROUNDS)
        collectgarbage()
        collectgarbage()
        assert.equal(held, array.bytes_held())
      end)
    end)

    it("are noticed when their gzip data are cut or changed, " .. name, function()
      expect.with_directory(function(dir)
        expect.put(dir .. "/f", format.text)
        assert.equal(0, os.execute(("gzip %s/f"):format(dir)))
        local packed = expect.get(dir .. "/f.gz")
        assert.is_true(check(format, dir .. "/f.gz"))
        for _ = 1, 40 do
          local at = math.random(20, #packed)
          if at == #packed - 8 then at = at + 1 end -- the data's last bits may mean nothing
          local other = string.char((packed:byte(at) + math.random(255)) % 256)
          local bad = math.random(2) == 1 and packed:sub(1, at - 1)
            or packed:sub(1, at - 1) .. other .. packed:sub(at + 1)
          expect.put(dir .. "/bad.gz", bad)
          local whole, err = check(format, dir .. "/bad.gz")
          assert.is_false(whole)
          assert.matches("gzip", err.message) -- whatever its lines seem to hold
        end
      end)
    end)
  end
end)
