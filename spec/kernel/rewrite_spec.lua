-- SPDX-License-Identifier: MIT
-- Real Lua files as loop bodies: their kernels load, and every function in them keeps its lines.
-- What the names mean is drawn at random. MEISSA_TEST_SEED=n replays a run.
local core = require "meissa.core"
local run = dofile("spec/kernel/run.lua")
local util = require "jit.util"

local seed = require "spec.support.seed"

-- "first:last" of a function and of all in it.
local function lines_of(proto, out)
  local info = util.funcinfo(proto)
  out[#out + 1] = info.linedefined .. ":" .. info.lastlinedefined
  for n = -1, info.children and -info.gcconsts or 0, -1 do
    local constant = util.funck(proto, n)
    if type(constant) == "proto" then lines_of(constant, out) end
  end
  return out
end

-- The functions inside the chunk's second function, which is the body's in both texts.
local function inner_lines(chunk)
  return table.concat(lines_of(chunk, {}), " ", 3)
end

local types = { "float", "double", "int32", "int64" }

-- Arrays and tables for the captures of a loop.
local function draw(captures)
  local bindings, elements = {}, {}
  for c, capture in ipairs(captures) do
    local depth = math.random(0, #capture.fields)
    bindings[c] = { kind = "table", depth = depth }
    if math.random(2) == 1 then
      local dims = ({ { 5 }, { 5, 6 }, { 2, 3, 4 } })[math.random(3)]
      bindings[c] = { kind = "array", depth = depth, dims = dims, array = c, storage = c }
      local strides = { [#dims] = 1 }
      for d = #dims - 1, 1, -1 do strides[d] = strides[d + 1] * dims[d + 1] + math.random(0, 1) end
      elements[c] = { type = types[math.random(4)], strides = strides }
    end
  end
  return bindings, elements
end

-- The kernel of a text, or nil for bodies that the analyser has no plan for.
local function kernel_of(text)
  local loop, failed = core.loop(text, "@body.lua", run.function_lines(text))
  if not loop then error(failed.message, 0) end
  local bindings, elements = draw(loop:captures())
  local space = { ranges = { { 1, 5, 1 } } }
  local plan, refused = core.plan(loop, bindings, space)
  if not plan then
    assert.equal("DEP", refused.code) -- thousands of lines can be too many for the analyser
    return nil
  end
  local chunk, message
  for _, locals in ipairs { 40, 0 } do
    local emitted, err = core.emit(loop, plan, bindings, space, elements, nil, locals)
    if not emitted then
      assert.equal("DEP", err.code)
      return nil
    end
    chunk, message = loadstring(emitted, "@body.lua")
    if chunk then return chunk end
  end
  error(message, 0)
end

-- The directories of the Lua files that are installed.
local function directories()
  local found, seen = {}, {}
  for path in package.path:gmatch("[^;]+") do
    local directory = path:match("^(/.-)/%?%.lua$")
    if directory and not seen[directory] then found[#found + 1] = directory end
    seen[directory or ""] = true
  end
  return found
end

describe("files as bodies (MEISSA_TEST_SEED=" .. seed .. ")", function()
  it("load as kernels and keep their lines", function()
    math.randomseed(seed)
    local kernels = 0
    for _, directory in ipairs(directories()) do
      local list = assert(io.popen("find '" .. directory .. "' -name '*.lua' 2>/dev/null | sort"))
      for file in list:lines() do
        local handle = assert(io.open(file))
        local text = "each(n, function(i)\n" .. handle:read("*a"):gsub("^#[^\n]*", "") .. "\nend)"
        handle:close()
        local plain = loadstring(text, "@body.lua")
        local ok, kernel = true, nil
        if plain then ok, kernel = pcall(kernel_of, text) end
        local newer = tostring(kernel):find("this LuaJIT reads", 1, true)
        if not ok and not newer then error(file .. ": " .. tostring(kernel), 0) end
        if ok and kernel then
          kernels = kernels + 1
          assert.equal(inner_lines(plain), inner_lines(kernel), file)
        end
      end
      list:close()
    end
    assert.is_true(kernels >= 50, kernels .. " kernels")
  end)
end)
