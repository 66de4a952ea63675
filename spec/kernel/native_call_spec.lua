-- SPDX-License-Identifier: MIT
-- Calling kernels: what goes in, what comes out, and what faults mean. The kernels are written by
-- hand; what Meissa itself writes is tested elsewhere.
local array = require "meissa.array"
local compiler = require "meissa.kernel.compiler"
local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local layouts = require "meissa.plan.layout"
local kernel_run = require "spec.kernel.run"
local helpers = require "meissa.kernel.helpers"
local memory = require "meissa.kernel.memory"
local native = require "meissa.kernel.native"
local result = require "meissa.kernel.result"

ffi.cdef "int getpid(void);"

local TYPES = [[
typedef union { void *pointer; double number; long long whole; } slot;
typedef struct { int stop, line, capture, dim, file; double value, other, index[8]; } fault;
#define KERNEL int ms_native_run(const long long *b, const slot *s, slot *r, fault *f)
]]

local function load(body)
  local build = assert(compiler.build(TYPES .. body))
  build:finish()
  assert.equal("ready", build:state(), build:trouble())
  return assert(compiler.load(build.key, build:object()))
end

-- An instance over arrays by capture; `info` is completed.
local function instance(body, info, arrays, values)
  info.params, info.results = info.params or {}, info.results or {}
  info.positions, info.dim_count = info.positions or 0, info.dim_count or 1
  info.captures, info.chunkname = info.captures or {}, info.chunkname or "@body.lua"
  local found = {space = {}}
  for c, value in pairs(arrays or {}) do
    local about = memory.describe(value)
    found[c] = {pointer = value.array.data, type = about.type, dims = about.dims,
                strides = about.strides}
  end
  local lua = {info = info, object = function(c) return arrays[c] end}
  lua.encode = function(results) return result.encode({kernel = {info = info}}, results) end
  return native.instance(load(body), info, found, values or {}, lua), info
end

describe("a native kernel", function()
  it("gets pointers, strides, captured numbers and booleans", function()
    local A = array.from {{1, 2, 3}, {4, 5, 6}}
    local run = instance([=[KERNEL {
      double *a = s[0].pointer;
      a[b[0] * s[1].whole + b[1]] = s[2].number + (s[3].whole ? 0.5 : 0) + s[4].whole;
      return 0;
    }]=], {params = {
      {kind = "pointer", at = 1, dim = 1}, {kind = "stride", at = 1, dim = 1},
      {kind = "value", at = 2, dim = 1}, {kind = "value", at = 3, dim = 1},
      {kind = "value", at = 4, dim = 1},
    }}, {A}, {nil, 41, true, false})
    assert.equal("", run:run {lo = {1}, hi = {2}})
    assert.equal(41.5, A[2][3])
  end)

  it("gets the bounds of its block", function()
    local body = [[KERNEL {
      for (int k = 0; k < 6; k++) { r[2 * k].number = b[k]; r[2 * k + 1].whole = 1; }
      return 0;
    }]]
    local results = {}
    for k = 1, 6 do results[k] = {capture = k, role = "reduction", op = "+"} end
    local run = instance(body, {results = results, dim_count = 2})
    local function bounds(bytes, count)
      return {unpack(native.decode(bytes, 6), 1, count)}
    end
    assert.same({5, 1, 2, 9, 0, 7},
                bounds(run:run {lo = {5, 2}, hi = {1, 9}, row_lo = 0, row_hi = 7}, 6))
    -- As for every block of a layout.
    local boxes = {
      {extents = {{1, 10, 1}, {9, 1, -2}},
       axes = {{at = 0, ranges = 3, first = 1, step = 1, each = 3, longer = 1},
               {at = 2, ranges = 2, first = 9, step = -2, each = 2, longer = 1}}},
      {extents = {{1, 10, 1}, {1, 4, 1}},
       axes = {{at = 4, ranges = 13, first = 2, step = 1, each = 1, longer = 0},
               {at = 2, ranges = 2, first = 1, step = 1, each = 2, longer = 0}}},
    }
    for _, box in ipairs(boxes) do
      local layout = ffi.new("ms_layout",
        {dims = 2, axis_count = 2, extents = box.extents, axes = box.axes})
      for number = 0, box.axes[1].ranges * box.axes[2].ranges - 1 do
        local expected = run:run(layouts.block(layout, number))
        c_api.lib.ms_layout_bounds(layout, number, run.bounds)
        local got, count = run:call(), box.axes[1].at == 4 and 6 or 4
        assert.same(bounds(expected, count), bounds(got, count))
      end
    end
    local entries = instance(body, {results = results, entries = true})
    local starts = ffi.new("int64_t[4]", 0, 3, 3, 10)
    local layout = ffi.new("ms_layout", {starts = starts, of_entries = 1})
    for number = 0, 2 do
      c_api.lib.ms_layout_bounds(layout, number, entries.bounds)
      assert.same(bounds(entries:run(layouts.block(layout, number)), 2), bounds(entries:call(), 2))
    end
  end)

  local RESULTS = [[KERNEL {
    r[0].number = -0.0; r[1].whole = 1;
    r[2].whole = 99;    r[3].whole = 2;
    r[4].whole = 99;    r[5].whole = 3;
    r[6].whole = 99;    r[7].whole = 4;
    r[8].whole = 99;    r[9].whole = 0;
    for (int k = 0; k < POSITIONS; k++) r[10 + k].whole = 3 + k;
    return 0;
  }]]

  -- What the Lua engine's block function would have returned.
  local function plainly(info)
    local values = {-0.0, true, false, nil, helpers.none}
    if info.positions > 0 then for k = 1, 5 do values[5 + k] = 2 + k end end
    return result.encode({kernel = {info = info}}, values)
  end

  for _, positions in ipairs {0, 1} do
    it(("gives numbers, booleans, nil and nothing, %d positions"):format(positions), function()
      local results, captures, old = {}, {}, {}
      for k = 1, 5 do
        results[k], captures[k] = {capture = k, role = "private"}, {path = "v" .. k}
        old[k] = "old"
      end
      local text = RESULTS:gsub("POSITIONS", 5 * positions)
      local run, info = instance(text, {results = results, captures = captures,
                                           positions = positions, steps = {1}})
      local bytes = run:run {lo = {1}, hi = {1}}
      assert.equal(positions == 0, native.is_slots(bytes))
      local expected = result.combine(info, old, {plainly(info)})
      local got = result.combine(info, old, {bytes})
      assert.same(expected, got)
      assert.equal(4, #got)
      assert.equal(-math.huge, 1 / got[1].value)
      assert.same({true, false, nil}, {got[2].value, got[3].value, got[4].value})
    end)
  end

  it("may be told by its results from the Lua engine", function()
    for _, value in ipairs {1, true, "text"} do
      local bytes = result.encode({kernel = {info = {captures = {{path = "x"}}, positions = 0,
        results = {{capture = 1, role = "private"}}}}}, {value})
      assert.is_false(native.is_slots(bytes))
    end
    assert.is_false(native.is_slots "")
  end)

  -- What the Lua engine raises.
  local function raised(object, check)
    helpers.enter(object)
    local ok, err = pcall(check)
    assert.is_false(ok)
    return err.code, err.message
  end

  local FAULT = [[KERNEL {
    f->stop = STOP; f->line = 7; f->capture = 1; f->dim = DIM; f->value = VALUE;
    f->index[0] = 3; f->index[1] = -2;
    return f->stop;
  }]]

  local function fault(stop, dim, value, arrays, info)
    info = info or {}
    info.dim_count = 2
    local text = FAULT:gsub("STOP", stop):gsub("DIM", dim):gsub("VALUE", value)
    local run = instance(text, info, arrays)
    local bytes, err = run:run {lo = {1, 1}, hi = {1, 1}}
    assert.is_nil(bytes)
    assert.equal(7, err.line)
    assert.same({3, -2}, err.iteration)
    return err
  end

  for _, case in ipairs {{"11", 11}, {"0", 0}, {"2.5", 2.5}, {"-1e300", -1e300},
                         {"0.0 / 0.0", 0 / 0}, {"1 / 0.0", 1 / 0}} do
    it("says that " .. case[1] .. " is no subscript", function()
      local arrays = {nil, array.zeros(4, 10)}
      local err = fault("1", "1", case[1], arrays)
      local code, message = raised(function(c) return arrays[c] end,
                                   function() helpers.check(case[2], 10, 2, 2) end)
      assert.same({code, message, "body.lua"}, {err.code, err.message, err.file})
    end)
  end

  for _, case in ipairs {{"int32", "0.5", 0.5}, {"int32", "2147483648.0", 2 ^ 31},
                         {"int32", "0.0 / 0.0", 0 / 0}, {"int64", "-0.25", -0.25},
                         {"int64", "1e300", 1e300}} do
    it(("says that %s is nothing for %s"):format(case[2], case[1]), function()
      local arrays = {nil, array.zeros({4}, {type = case[1]})}
      local err = fault("2", "0", case[2], arrays)
      local code, message = raised(function(c) return arrays[c] end,
                                   function() helpers[case[1]](case[3], 2) end)
      assert.same({code, message}, {err.code, err.message})
    end)
  end

  it("says that an int64 element is no exact number", function()
    local arrays = {nil, array.zeros({4}, {type = "int64"})}
    local element = 2 ^ 53 * 1LL + 1
    local text = "((slot){.whole = 9007199254740993LL}).number"
    local err = fault("2", "1", text, arrays)
    local code, message = raised(function(c) return arrays[c] end,
                                 function() helpers.wide(element) end)
    assert.same({code, message}, {err.code, err.message})
    assert.truthy(message:find("9007199254740993", 1, true))
  end)

  it("says what else went wrong in Lua's words", function()
    local info = {messages = {"'for' step is zero", "attempt to compare number with nil"}}
    local err = fault("3", "0", "1", {}, info)
    assert.same({"BDY", "attempt to compare number with nil"}, {err.code, err.message})
  end)

  it("names files and texts as Lua does", function()
    local message = {messages = {"x"}}
    for chunkname, file in pairs {["@/a/b.lua"] = "/a/b.lua", ["=text"] = "text",
                                  ["local x = 1"] = '[string "local x = 1"]'} do
      message.chunkname = chunkname
      assert.equal(file, fault("3", "0", "0", {}, message).file)
    end
  end)

  it("is found in the cache once it is there", function()
    local now = 0
    local build = assert(compiler.build(TYPES .. "KERNEL { return " .. os.time() .. " * 0; }"))
    local look = native.watch({key = build.key, directory = build.directory},
                              function() return now end)
    assert.is_nil(look())
    build:finish()
    assert.is_nil(look()) -- it has just looked
    now = 0.0005
    assert.is_nil(look())
    now = 0.002
    assert.equal(0, look().block(ffi.new "int64_t[2]", nil, nil, nil))
  end)

  it("takes over from the Lua engine between two blocks, for good", function()
    local A, build = array.zeros(9), nil
    local block = {lo = {1}, hi = {9}}
    local waiting = kernel_run.prepare("for i in parallel(9) do A[i] = A[i] + 1 end", {A = A},
      {ranges = {{1, 9, 1}}}, {native = function(static)
        build = assert(compiler.build(static.native.text .. "// " .. os.time()))
        return {key = build.key, directory = build.directory, info = static.native.info}
      end})
    assert.is_nil(waiting:native())
    assert.equal("", waiting:run(block))
    build:finish()
    local taken
    repeat taken = waiting:native() until taken
    assert.equal(taken, waiting:native())
    assert.equal("", taken:run(block))
    assert.equal("", waiting:run(block))
    assert.equal(27, A:sum())
  end)

  it("that is not used any more goes, however many there are", function()
    local function open_files()
      local count = 0
      for name in io.popen("ls -l /proc/" .. tostring(ffi.C.getpid()) .. "/fd"):lines() do
        if name:find "meissa%-kernel" then count = count + 1 end
      end
      return count
    end
    local build = assert(compiler.build(TYPES .. "KERNEL { return 0; }"))
    build:finish()
    local object = build:object()
    for k = 1, 300 do
      assert(compiler.load("key" .. k, object))
      if k % 50 == 0 then collectgarbage() collectgarbage() end
    end
    assert.truthy(open_files() <= 120, open_files())
  end)
end)
