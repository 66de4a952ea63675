-- SPDX-License-Identifier: MIT
--
-- Damaged files: whatever bytes a reader meets, it gives an array, whose elements are numbers, or
-- an error object that names the file, and nothing is left of a failed read.
-- MEISSA_FILES=n sets how many files of each format there are (make fuzz-files).

local array = require "meissa.array"
local damage = require "spec.support.damage"
local errors = require "meissa.base.errors"
local meissa = require "meissa"
local expect = require "spec.support.expect"

local seed = require "spec.support.seed"
local count = tonumber(os.getenv("MEISSA_FILES") or "") or 150

local codes = { FIL = true, ARR = true, BDY = true }

-- Reads a file: the value; or nil and the error.
local function read(format, path)
  local ok, result = pcall(format.read, path)
  if ok then return result end
  assert.is_true(errors.is(result), tostring(result))
  assert.truthy(codes[result.code], tostring(result))
  if result.code == "FIL" then assert.equal(path, result.file) end
  return nil, result
end

-- KB of Lua memory that reading a file takes.
local function memory_of(format, path)
  collectgarbage()
  collectgarbage("stop")
  local before = collectgarbage("count")
  read(format, path)
  local taken = collectgarbage("count") - before
  collectgarbage("restart")
  return taken
end

-- Walks over a value that was read; what arrays refuse (int64 beyond 2^53) is no failure.
local function walk(value)
  local ok, err = pcall(damage.walk, value)
  if not ok and not (errors.is(err) and err.code == "ARR") then error(err, 0) end
end

local function bytes_held()
  collectgarbage()
  collectgarbage()
  return array.bytes_held()
end

-- Calls visit(path) for so many damaged files; an error has the file's text.
local function each_damaged(format, draws, files, visit)
  math.randomseed(draws)
  expect.with_directory(function(dir)
    for file = 1, files do
      local text = format.damage(format.text)
      expect.put(dir .. "/damaged", text)
      local ok, err = pcall(visit, dir .. "/damaged")
      if not ok then error(("file %d: %s\n%q"):format(file, tostring(err), text), 0) end
    end
  end)
end

describe("damaged files", function()
  setup(function() meissa.init { workers = 0 } end)
  teardown(function() meissa.init {} end)

  -- Before any loop: loops keep the arrays that they had last.
  for number, format in ipairs(damage.formats) do
    it(("are refused or read, and leave nothing: %s, seed %d"):format(format.name, seed), function()
      local held, refused = bytes_held(), 0
      each_damaged(format, seed + number, count, function(path)
        if read(format, path) == nil then refused = refused + 1 end
      end)
      assert.is_true(refused > 0 and refused < count)
      assert.equal(held, bytes_held())
    end)
  end

  for number, format in ipairs(damage.formats) do
    it(("hold numbers that loops go over: %s, seed %d"):format(format.name, seed), function()
      expect.with_directory(function(dir)
        expect.put(dir .. "/whole", format.text)
        walk(assert(read(format, dir .. "/whole")))
      end)
      each_damaged(format, seed + number, count, function(path)
        local value = read(format, path)
        if value ~= nil then walk(value) end
      end)
    end)
  end

  for number, format in ipairs(damage.formats) do
    if format.small then
      it("take memory in proportion to their size: " .. format.name, function()
        local most = 400 * #format.text / 1024 + 64
        each_damaged(format, seed + number, count, function(path)
          local taken = memory_of(format, path)
          assert.is_true(taken < most, ("%d KB, not %d KB"):format(taken, most))
        end)
      end)
    end
  end

  it("are walked over by loops on a worker", function()
    meissa.init { workers = 1 }
    for number, format in ipairs(damage.formats) do
      each_damaged(format, seed + number, math.ceil(count / 10), function(path)
        local value = read(format, path)
        if value ~= nil then walk(value) end
      end)
    end
    meissa.init { workers = 0 }
  end)

  for number, format in ipairs(damage.formats) do
    if format.is_text then
      it("are noticed when their gzip data are cut or changed, " .. format.name, function()
        math.randomseed(seed + number)
        expect.with_directory(function(dir)
          expect.put(dir .. "/f", format.text)
          assert.equal(0, os.execute(("gzip %s/f"):format(dir)))
          local packed = expect.get(dir .. "/f.gz")
          assert.truthy(read(format, dir .. "/f.gz"))
          for _ = 1, 40 do
            local at = math.random(20, #packed)
            if at == #packed - 8 then at = at + 1 end -- the data's last bits may mean nothing
            local other = string.char((packed:byte(at) + math.random(255)) % 256)
            local bad = math.random(2) == 1 and packed:sub(1, at - 1)
              or packed:sub(1, at - 1) .. other .. packed:sub(at + 1)
            expect.put(dir .. "/bad.gz", bad)
            local value, err = read(format, dir .. "/bad.gz")
            assert.is_nil(value)
            assert.matches("gzip", err.message) -- whatever its lines seem to hold
          end
        end)
      end)
    end
  end
end)
