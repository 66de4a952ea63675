-- SPDX-License-Identifier: MIT
--
-- Libraries that the program has changed: Meissa itself calls LuaJIT's own, and bodies call what
-- the program made of them, on workers as on the driver.
local child = require "spec.support.child"

-- Replaces functions of libraries by ones that raise: every(library) calls visit(name, key) for
-- each function, lost(name, key) replaces one and returns what puts it back.
local PRELUDE = [==[
local raw = {error = error, type = type, print = print, tostring = tostring, require = require,
             pcall = pcall, assert = assert, exit = os.exit, sort = table.sort, select = select,
             match = string.match, write = io.write}
local next = next
local LIBRARIES = {"_G", "string", "table", "math", "bit", "os", "io", "debug", "coroutine", "jit",
                   "package", "ffi", "jit.util", "string.buffer"}
require "ffi" require "jit.util" require "string.buffer"
local loaded = package.loaded

local function functions_of(name)
  local keys = {}
  for key, value in next, loaded[name] do
    if raw.type(value) == "function" then keys[#keys + 1] = key end
  end
  raw.sort(keys)
  return keys
end

local function lose(name, key)
  local library = loaded[name]
  local own = library[key]
  library[key] = function() raw.error("the program's " .. name .. "." .. key) end
  return function() library[key] = own end
end
]==]

-- Loops of several kinds and engines, errors and reports among them unless `brief`.
local LOOPS = [==[
local function loops(meissa, brief)
  local parallel, n = meissa.parallel, 60
  local A, B = meissa.zeros(n, 4), meissa.ones(n)
  local sum, words = 0, {}
  for i in parallel(n) do
    for k = 1, 4 do A[i][k] = i * k end
    sum = sum + B[i]
  end
  for i in parallel(n, {engine = "lua"}) do words[i] = "word " .. i end
  for i, k in parallel({2, n}, {2, 4}) do A[i][k] = A[i - 1][k] + A[i][k - 1] - A[i][k] end
  raw.assert(sum == n and A[1][4] == 4 and A[3][2] == -3 and words[7] == "word 7")
  if brief then return end
  local ok, err = raw.pcall(function() for i in parallel(n) do A[i + 1] = A[i] end end)
  raw.assert(not ok and err.code == "DEP", raw.tostring(err))
  ok, err = raw.pcall(function() for i in parallel(n) do B[i] = B[i] + words.none.x end end)
  raw.assert(not ok and raw.match(raw.tostring(err), "attempt to index field"), raw.tostring(err))
  raw.assert(#raw.tostring(meissa.last()) > 10 and #raw.tostring(A) > 10)
end
]==]

local function run(text, env)
  local output, status = child.script(PRELUDE .. LOOPS .. text, {env = env})
  assert.equal("done\n", output)
  assert.equal(0, status)
end

local ROADS = {"MEISSA_WORKERS=2", "MEISSA_WORKERS=0", "MEISSA_WORKERS=2 MEISSA_SHM=0"}

describe("libraries that the program has changed", function()
  it("leave Meissa as it is, each function replaced after it was loaded", function()
    run([[
      local meissa = require "meissa"
      loops(meissa)
      for _, name in ipairs(LIBRARIES) do
        for _, key in ipairs(functions_of(name)) do
          local restore = lose(name, key)
          local ok, err = raw.pcall(loops, meissa, true)
          restore()
          if not ok then print(name, key, err) end
        end
      end
      print "done"
    ]], ROADS[1])
  end)

  for _, road in ipairs(ROADS) do
    it("leave Meissa as it is, all functions replaced after it was loaded, " .. road, function()
      run([[
        local meissa = require "meissa"
        for k = 1, #LIBRARIES do
          local name, keys = LIBRARIES[k], functions_of(LIBRARIES[k])
          for j = 1, #keys do lose(name, keys[j]) end
        end
        loops(meissa)
        raw.write "done\n"
      ]], road)
    end)

    it("leave Meissa as it is, all functions replaced before it is loaded, " .. road, function()
      run([[
        for k = 1, #LIBRARIES do
          local name, keys = LIBRARIES[k], functions_of(LIBRARIES[k])
          for j = 1, #keys do
            -- A module's files are loaded by the program's `require`; ffi cannot be had twice.
            if keys[j] ~= "require" and name ~= "ffi" then lose(name, keys[j]) end
          end
        end
        loops(raw.require "meissa")
        raw.write "done\n"
      ]], road)
    end)
  end

  it("leave Meissa as it is, each library gone before it is loaded", function()
    for _, name in ipairs {"string", "table", "math", "bit", "os", "io", "debug", "coroutine"} do
      run(([[
        local keys = functions_of "%s"
        for k = 1, #keys do loaded["%s"][keys[k] ] = nil end
        loops(raw.require "meissa")
        raw.write "done\n"
      ]]):format(name, name), ROADS[1])
    end
  end)

  it("are left as they are by Meissa", function()
    run([=[
      local meta = getmetatable("")
      local before = {}
      for k = 1, #LIBRARIES do
        before[k] = {}
        for key, value in next, loaded[LIBRARIES[k]] do before[k][key] = value end
      end
      loops(require "meissa")
      for k = 1, #LIBRARIES do
        for key, value in next, loaded[LIBRARIES[k]] do
          assert(before[k][key] == value, LIBRARIES[k] .. "." .. key)
        end
      end
      assert(getmetatable("") == meta and meta.__index == string)
      print "done"
    ]=], ROADS[1])
  end)

  -- The methods of strings go through the program's metatable.
  it("are not asked for methods of strings by Meissa's files", function()
    local pipe = io.popen("find lua/meissa -name '*.lua'")
    local count = 0
    for path in pipe:lines() do
      count = count + 1
      local number = 0
      for line in io.lines(path) do
        number = number + 1
        local code = line:gsub("%-%-.*", "")
        for name in code:gmatch("[%w_)%]\"']:(%l+)%s*[(\"'{%[]") do
          if rawget(string, name) then
            error(("%s:%d: string.%s(s, ...), not s:%s(...)"):format(path, number, name, name), 0)
          end
        end
      end
    end
    pipe:close()
    assert.is_true(count > 90)
  end)
end)
