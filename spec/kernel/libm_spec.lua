-- SPDX-License-Identifier: MIT
-- Kernels are linked with libm where they call it, and only there. The linker here refuses what
-- would be undefined in a process that has the C library alone.
local child = require "spec.support.child"
local missing = require("meissa.kernel.compiler").missing()

describe("a kernel", function()
  if missing then
    pending("native kernels: " .. missing)
    return
  end

  local where

  setup(function()
    where = child.directory()
    child.write(where .. "/cc", ('#!/bin/sh\necho "$@" >>%s/runs\n'):format(where) ..
      'exec cc "$@" -Wl,--no-undefined -lc\n')
    assert.equal(0, os.execute("chmod +x " .. where .. "/cc"))
  end)

  teardown(function() child.remove(where) end)

  -- Runs a body on x = i / 3 as machine code: whether the compiler was given libm.
  local function has_libm(value, options)
    child.remove(where .. "/runs")
    child.remove(where .. "/cache")
    local output, status = child.script(([[
      local meissa = require "meissa"
      local A, R, T = meissa.zeros(40), meissa.rand(40, 5), {1, 2, 3}
      for i in meissa.parallel(40, {engine = "native" %s}) do
        local x, t = i / 3, T[1]
        A[i] = %s
      end
      assert(meissa.last().engine == "native")
      for i = 1, 40 do
        local x, t = i / 3, T[1]
        local y = %s
        assert(math.abs(A[i] - y) <= 1e-14 * math.abs(y), i)
      end]]):format(options or "", value, value), {
      env = ("MEISSA_CACHE=%s/cache CC=%s/cc MEISSA_WORKERS=1"):format(where, where)})
    assert.equal(0, status, value .. "\n" .. output)
    local runs = assert(child.read(where .. "/runs"), value)
    assert.equal(1, select(2, runs:gsub("\n", "")), value)
    return runs:find "%s%-lm%s" ~= nil
  end

  it("has libm where it calls it", function()
    for _, value in ipairs {
      "math.exp(x)", "math.log(x)", "math.log10(x)", "math.pow(x, 2.5)", "x ^ 2.5", "math.sin(x)",
      "math.cos(x)", "math.tan(x)", "math.asin(x / 99)", "math.acos(x / 99)", "math.atan(x)",
      "math.atan2(x, 2)", "math.sinh(x)", "math.cosh(x)", "math.tanh(x)", "math.fmod(x, 2)",
      "math.ldexp(x, 3)",
    } do
      assert.is_true(has_libm(value), value)
    end
  end)

  it("has none where it does not", function()
    local function plain(value) assert.is_false(has_libm(value), value) end
    plain "x * 2 + 1"
    plain "math.floor(x) + math.ceil(x) + math.sqrt(x) + math.abs(-x) + x % 3 + x % 2.5"
    plain "math.max(x, 3, i) + math.min(x, 5) + math.deg(x) + math.rad(x)"
    plain "bit.band(i, 7) + bit.bor(i, 8) + bit.bxor(i, 3) + bit.lshift(i, 2) + bit.bswap(i)"
    plain "R[i]:dot(R[i]) + R[i]:sum() + R[i]:norm()"
    plain "R[i][1 + i % 5] + #R[i] + t"
    assert.is_false(has_libm("x * 2 + x / 7", ", numeric = 'fast'"))
  end)
end)
