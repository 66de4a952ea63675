-- SPDX-License-Identifier: MIT
--
-- Error objects: text, place, names that were meant.

local errors = require "meissa.base.errors"

describe("error objects", function()
  it("have a text with the place first", function()
    local new = errors.new
    assert.equal("a.lua:3: ARR: no", tostring(new { code = "ARR", message = "no", file = "a.lua",
      line = 3 }))
    assert.equal("a.csv: FIL: no", tostring(new { code = "FIL", message = "no", file = "a.csv" }))
    assert.equal("WRK: no", tostring(new { code = "WRK", message = "no" }))
    assert.equal("a.lua:3: BDY: no (iteration 4, 5; worker 2)", tostring(new { code = "BDY",
      message = "no", file = "a.lua", line = 3, iteration = { 4, 5 }, worker = 2 }))
  end)

  it("concatenate on both sides", function()
    local err = errors.new { code = "OPT", message = "no" }
    assert.equal("<OPT: no>", "<" .. err .. ">")
    assert.equal("OPT: noOPT: no", err .. err)
  end)

  it("are raised at the user's place", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local ok, err = pcall(function() errors.raise("ARR", "extent %d", 5) end)
    assert.is_false(ok)
    assert.is_true(errors.is(err))
    assert.equal("extent 5", err.message)
    assert.equal(line, err.line)
    assert.truthy(err.file:find("array_errors_spec.lua$"))
    ok, err = pcall(errors.raise, "ARR", "100% sure")
    assert.is_false(ok)
    assert.equal("100% sure", err.message)
  end)

  it("are made of what the core gives", function()
    local ffi = require "ffi"
    local raw = require("meissa.base.c_core").new_error()
    raw.code, raw.line = 4, 7
    ffi.copy(raw.message, "expected a number")
    ffi.copy(raw.file, "r.csv")
    assert.equal("r.csv:7: FIL: expected a number", tostring(errors.from_core(raw)))
    local err = errors.from_core { code = "DEP", message = "no" }
    assert.equal("DEP", err.code)
    assert.truthy(err.file:find("array_errors_spec.lua$"))
    assert.is_false(errors.is("x") or errors.is({}) or errors.is(nil))
  end)
end)

describe("names", function()
  it("that were meant are found", function()
    local names = { "scale", "seed", "type" }
    assert.equal("scale", errors.nearest("sclae", names))
    assert.equal("seed", errors.nearest("Sead", names))
    assert.is_nil(errors.nearest("workers", names))
    assert.is_nil(errors.nearest("x", {}))
  end)

  it("that are unknown are refused", function()
    local allowed = { "scale", "seed" }
    assert.same({ seed = 1 }, errors.check_options("rand", { seed = 1 }, allowed))
    assert.same({}, errors.check_options("rand", nil, allowed))
    local ok, err = pcall(errors.check_options, "rand", { sclae = 1 }, allowed)
    assert.is_false(ok)
    assert.equal("OPT", err.code)
    assert.equal("rand: unknown option 'sclae' (did you mean 'scale'?)", err.message)
    ok, err = pcall(errors.check_options, "rand", { [1] = 1 }, allowed)
    assert.is_false(ok)
    assert.equal("rand: unknown option '1' (options: scale, seed)", err.message)
  end)
end)
