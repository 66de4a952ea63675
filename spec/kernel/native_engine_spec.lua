-- SPDX-License-Identifier: MIT
-- time limit: 400 s
-- Engines as users see them: which one runs a loop and why, what they share (every bit, every
-- error), and machines whose compiler is missing, slow or broken.
local child = require "spec.support.child"

local quote = child.quote

describe("engines", function()
  local where, shared

  setup(function()
    shared = child.directory()
    os.execute("chmod 700 " .. shared)
  end)

  teardown(function() child.remove(shared) end)

  before_each(function() where = child.directory() end)
  after_each(function() child.remove(where) end)

  -- A compiler that says when it runs and when it has ended.
  local function compiler(before)
    child.write(where .. "/cc", ([[
#!/bin/sh
echo run >>%s/runs
%s
exec cc "$@"
]]):format(where, before or ""))
    os.execute("chmod +x " .. where .. "/cc")
    return ("CC=%s/cc "):format(where)
  end

  local function runs()
    return select(2, (child.read(where .. "/runs") or ""):gsub("run", ""))
  end

  -- Output of a script; the cache is the test's own unless the environment says otherwise.
  local function run(text, environment)
    local output, status = child.script("local meissa = require 'meissa'\n" ..
      "local parallel = meissa.parallel\n" .. text, {
        env = ("MEISSA_CACHE=%s/cache MEISSA_WORKERS=2 MEISSA_ENGINE= %s"):format(
          where, environment or "")})
    return output, status
  end

  -- Counts the blocks of the native engine, but for those of loops that run here by one call.
  local COUNT = [[
require("meissa.driver.small").most[0] = 0
local native = require "meissa.kernel.native"
local blocks, decode, is_flat = 0, native.decode, native.is_flat
native.decode = function(...) blocks = blocks + 1 return decode(...) end
native.is_flat = function(results, count)
  local flat = is_flat(results, count)
  if flat then blocks = blocks + results.blocks end
  return flat
end
]]

  -- A loop with a reduction, so that each of its 64 blocks leaves something.
  local LOOP = [[
local A = meissa.zeros(SIZE)
local function once()
  local s = 0
  for i in parallel(SIZE, OPTIONS) do
    A[i] = A[i] + i % 7
    s = s + A[i]
  end
  return s
end
]]

  local function loop(size, options)
    return COUNT .. LOOP:gsub("SIZE", tostring(size)):gsub("OPTIONS", options or "{}")
  end

  describe("agree on every bit", function()
    local expected

    local function all(environment, rounds)
      local output, status = child.shell(("MEISSA_CACHE=%s %s luajit spec/support/engines.lua %d")
        :format(shared, environment, rounds or 1), 150)
      assert.equal(0, status, output)
      return output
    end

    local function images(output) return (output:gsub("(\n[^\t\n]*)\t%a+\t", "%1\t")) end

    setup(function() expected = images("\n" .. all "MEISSA_ENGINE=lua MEISSA_WORKERS=1") end)

    local function native(environment)
      local output = all("MEISSA_ENGINE=native " .. environment)
      assert.is_nil(output:find("\tlua\t", 1, true))
      assert.equal(expected, images("\n" .. output))
    end

    for workers = 1, 3 do
      it(("%d workers"):format(workers), function() native("MEISSA_WORKERS=" .. workers) end)
    end
    it("by value", function() native "MEISSA_WORKERS=2 MEISSA_SHM=0" end)
    it("over tcp", function() native "MEISSA_WORKERS=2 MEISSA_TRANSPORT=tcp" end)
    it("over tcp by value", function()
      native "MEISSA_WORKERS=3 MEISSA_TRANSPORT=tcp MEISSA_SHM=0"
    end)
    if os.execute "command -v clang >/dev/null" == 0 then
      it("whichever compiler", function() native "MEISSA_WORKERS=2 CC=clang" end)
    end
    it("while kernels are being made", function()
      local output = all("MEISSA_ENGINE= MEISSA_WORKERS=2 MEISSA_CACHE=" .. where, 3)
      assert.equal(expected, images("\n" .. output))
    end)

    it("where constants together need more than 32 bits", function()
      local text = [[
        local O = meissa.zeros({4}, {type = "int64"})
        for i in parallel(4) do
          local a, b = 0x7fffffff * 2, 65536 * -65536
          O[i] = a + b * i
        end
        print(O[1], O[4], meissa.last().engine)]]
      assert.equal("-2\t-12884901890\tnative\n", run(text, "MEISSA_ENGINE=native"))
      assert.equal("-2\t-12884901890\tlua\n", run(text, "MEISSA_ENGINE=lua"))
    end)

    it("in this process", function()
      local text = loop(1000, "{ordered = false, reduce = 'blocks'}") ..
        "once() print(('%.17g'):format(once()), A:sum(), meissa.last().engine, blocks)"
      local here = run(text, "MEISSA_WORKERS=0 MEISSA_ENGINE=native")
      local there = run(text, "MEISSA_ENGINE=native")
      local lua = run(text, "MEISSA_WORKERS=0 MEISSA_ENGINE=lua")
      assert.equal(there, here)
      assert.truthy(here:find("\tnative\t128\n", 1, true), here)
      assert.equal(lua, (here:gsub("native\t128", "lua\t0")))
    end)
  end)

  describe("raise the same errors", function()
    local FAILURES = [[
      local A, n, shift = meissa.zeros(10, 4), 4, 7
      local B, L = meissa.zeros({10}, {type = "int32"}), meissa.zeros({10}, {type = "int64"})
      local S = meissa.sparse({3, 4}, {i = {1, 2, 3}, j = {2, 3, 1}, v = {1, 2, 3}})
      local flag, none = true, nil
      local E, of = meissa.zeros(3, 0), {n = 1}
      L[3] = 9007199254740993LL
      local function try(body)
        local ok, err = pcall(body)
        if ok then return print "no error" end
        print(err)
        print(err.code, err.message, err.file, err.line, table.concat(err.iteration or {}, ","),
          err.worker)
      end
      for _, engine in ipairs(engines) do
        local options = {engine = engine}
        local flat = {engine = engine, ordered = false}
        try(function() for i in parallel(10, options) do
            A[i][i] = 1
          end end)
        try(function() for i in parallel(10, options) do A[i + shift][1] = i end end)
        try(function() for i in parallel({10, 1, -1}, options) do B[i] = A[i / 2][1] end end)
        try(function() for i, j in parallel(10, 4, flat) do
            local a = A[i]
            a[j * 2] = j
          end end)
        try(function() for i in parallel(10, options) do B[i] = i / 2 end end)
        try(function() for i in parallel(10, options) do B[i] = 2 ^ (i * 5) end end)
        try(function() for i in parallel(10, options) do L[i] = 0 / 0 end end)
        try(function() for i in parallel(10, options) do A[i][1] = L[i] end end)
        try(function() for i, j, v in parallel(S, flat) do A[i + 9 * v][j] = v end end)
        try(function() for i in parallel(9, {engine = engine, collapse = 2}) do
            for j = i, 9 do A[i][j] = j end
          end end)
        try(function() for i in parallel(9, options) do
            local late
            if i < shift then late = i end
            A[i][1] = late + 1
          end end)
        try(function() for i in parallel(3, options) do A[i][1] = E[i]:max() end end)
        try(function() for i in parallel(3, options) do A[i][1] = E[i]:min() end end)
        try(function() for i in parallel(3, options) do A[i][1] = E[i]:mean() end end)
        try(function() for i in parallel(3, options) do A[i][1] = of.n + of.k end end)
      end]]

    it("to the word", function()
      local function failures(engine, environment)
        local output = run(("local engines = {%q}\n"):format(engine) .. FAILURES, environment)
        return output
      end
      local expected = failures("lua", "MEISSA_WORKERS=1")
      assert.is_nil(expected:find("no error", 1, true), expected)
      assert.equal(30, select(2, expected:gsub("\n", "\n")), expected)
      assert.equal(expected, failures("native", "MEISSA_WORKERS=1"))
      for _, word in ipairs {"subscript", "cannot store", "beyond 2^53", "arithmetic on"} do
        assert.truthy(expected:find(word, 1, true), word .. "\n" .. expected)
      end
    end)
  end)

  describe("are chosen", function()
    it("by what the body is", function()
      local output = run(loop(100) .. [[
        print(once(), meissa.last().engine, meissa.last().engine_reason)
        local t = {a = 1}
        for i in parallel(10) do
          local key = "a"
          A[i] = t[key]
        end
        print(meissa.last().engine, meissa.last().engine_reason)
        print(meissa.last())
        print(meissa.plan(10, function(i) A[i] = i end).engine)
        print(meissa.plan(10, function(i) A[i] = #tostring(i) end).engine)
        print(meissa.analyze("for i in parallel(9) do A[i] = i end", {A = meissa.shape(9)}).engine)
        ]])
      local lines = {}
      for line in output:gmatch "[^\n]+" do lines[#lines + 1] = line end
      assert.equal("297\tnative\tnil", lines[1], output)
      assert.truthy(lines[2]:find "^lua\tline %d+: %S", output)
      local reason = lines[2]:match "\t(.*)"
      assert.truthy(output:find("engine lua (" .. reason .. ")", 1, true), output)
      assert.same({"native", "lua", "native"}, {unpack(lines, #lines - 2)})
    end)

    it("by the option, which the environment does not override", function()
      local text = "once() print(meissa.last().engine, blocks)"
      assert.equal("lua\t0\n", run(loop(100, "{engine = 'lua'}") .. text, "MEISSA_ENGINE=native"))
      assert.equal("native\t64\n", run(loop(100, "{engine = 'native'}") .. text,
                                       "MEISSA_ENGINE=lua"))
      assert.equal("lua\t0\n", run(loop(100) .. text, "MEISSA_ENGINE=lua"))
      assert.equal("native\t64\n", run(loop(100) .. text, "MEISSA_ENGINE=native"))
    end)

    it("or refused, with the line, where the option insists, also without workers", function()
      local refused = [[
        local A = meissa.zeros(10)
        local ok, err = pcall(function()
          for i in parallel(10, {engine = "native"}) do
            local text = "x"
            A[i] = #(text .. i)
          end
        end)
        print(err.code, err.line, err)]]
      local here = run(refused, "MEISSA_WORKERS=0")
      assert.truthy(here:find "^OPT\t6\tscript.lua:6: OPT: engine = \"native\": line 6: ", here)
      assert.equal("lua\t3\n", run([[
        local A = meissa.zeros(10)
        for i in parallel(10, {engine = "native"}) do A[i] = 3 end
        for i in parallel(10, {engine = "lua"}) do A[i] = A[i] end
        print(meissa.last().engine, A[10])]], "MEISSA_WORKERS=0"))
      local output = run(refused .. "\n" .. [[
        print(pcall(meissa.plan, 10, {engine = "native"}, function(i) A[i] = #tostring(i) end))
        print(pcall(function() for i in parallel(10, {engine = "gpu"}) do A[i] = 1 end end))]])
      assert.truthy(output:find "^OPT\t6\tscript.lua:6: OPT: engine = \"native\": line 6: ", output)
      assert.truthy(output:find("false\tscript.lua:11: OPT: engine = \"native\"", 1, true), output)
      assert.truthy(output:find(
        "option 'engine' is \"auto\" or \"native\" or \"lua\", not \"gpu\"", 1, true), output)
      output = run("for i in parallel(3) do end", "MEISSA_ENGINE=gpu")
      assert.truthy(output:find(
        "OPT: MEISSA_ENGINE is \"native\", \"lua\" or \"auto\", not 'gpu'", 1, true), output)
      assert.equal("lua\n", run([[
        local A = meissa.zeros(10)
        for i in parallel(10) do A[i] = #tostring(i) end
        print(meissa.last().engine)]], "MEISSA_ENGINE=native"))
    end)
  end)

  describe("do not wait for the compiler", function()
    it("in strict arithmetic: blocks take what is there", function()
      local output = run(loop(20000000) .. [[
        local first = once()
        local then_blocks = blocks
        local all = meissa.last().grid[1]
        print(then_blocks, all, meissa.last().engine)
        local ffi = require "ffi"
        ffi.cdef "int usleep(unsigned);"
        for _ = 1, 300 do
          if blocks >= then_blocks + all then break end
          ffi.C.usleep(20000)
          blocks = then_blocks
          once()
        end
        print(blocks - then_blocks)]], compiler "sleep 0.1")
      local some, all, rest = output:match "^(%d+)\t(%d+)\tnative\n(%d+)\n$"
      assert.equal(all, rest, output)
      -- It had begun on the Lua engine.
      assert.truthy(tonumber(some) < tonumber(all), output)
    end)

    it("which small loops do not start before they add up", function()
      local engine, asked = require "meissa.kernel.engine", {}
      local build = {start = function(_, delay) asked[#asked + 1] = delay < 0.01 and "start" or
                                                                    "later" end,
                     postpone = function() asked[#asked + 1] = "postpone" end}
      local small = {kernel = {busy = 0, build = build}}
      for _, busy in ipairs {0.008, 0.008, 0.008} do
        engine.running(small)
        engine.ran(small, busy)
      end
      engine.running {object = "is there", kernel = small.kernel}
      engine.ran({object = "is there", kernel = small.kernel}, 1)
      engine.running(nil)
      engine.ran(nil, 1)
      assert.same({"later", "postpone", "later", "postpone", "later", "start"}, asked)
      run(loop(10) .. "for _ = 1, 3000 do once() end", compiler())
      assert.equal(1, runs())
    end)

    it("unless the arithmetic is fast, or they are told to", function()
      for _, options in ipairs {"{numeric = 'fast'}", "{engine = 'native'}"} do
        os.execute("rm -rf " .. where .. "/cache")
        local output = run(loop(1000, options) .. "once() print(blocks)", compiler "sleep 0.3")
        assert.equal("64\n", output)
      end
      assert.equal(2, runs())
    end)

    it("longer than the user does", function()
      local output = run(loop(1000, "{engine = 'native'}") .. [[
        local ok, err = pcall(once)
        print(err.code, err.message, A:sum())]], compiler "sleep 1; kill -INT $PPID; sleep 50")
      assert.equal("INT\tinterrupted while the C compiler ran\t0\n", output)
    end)

    it("and find again what another process has made", function()
      local cc = compiler()
      for _ = 1, 3 do
        assert.equal("64\n", run(loop(1000, "{engine = 'native'}") .. "once() print(blocks)", cc))
      end
      assert.equal("64\n", run(loop(1000) .. "once() print(blocks)", cc))
      assert.equal(1, runs())
    end)
  end)

  describe("without a compiler", function()
    local BODY = [[
      once() once()
      print(once(), meissa.last().engine, meissa.last().engine_reason)
      for i in parallel(10) do A[i] = 0 end
    ]]

    -- Loops run; one notice says `notice`, and the option insists in vain.
    local function lacking(environment, notice)
      local output = run(loop(1000, "{numeric = 'fast'}") .. BODY, environment)
      assert.truthy(output:find("meissa: loops run on the slower Lua engine: " .. notice, 1, true),
                    output)
      assert.equal(1, select(2, output:gsub("meissa: ", "")), output)
      assert.truthy(output:find("9009\tlua\t" .. notice, 1, true), output)
      output = run(loop(1000, "{engine = 'native'}") .. "print(pcall(once))", environment)
      assert.truthy(output:find("OPT: engine = \"native\": " .. notice, 1, true), output)
      output = run(loop(1000) .. BODY, environment .. " MEISSA_ENGINE=lua")
      assert.equal("9009\tlua\tnil\n", output)
    end

    it("loops run on the Lua engine", function()
      lacking("CC=/nonexistent/cc", "no C compiler: CC is '/nonexistent/cc' is not found")
    end)

    it("or with one that fails, hangs or makes nothing", function()
      lacking(compiler "echo 'x.c:9: error: no' >&2; exit 1",
              "the C compiler failed: x.c:9: error: no")
      lacking(compiler "exit 0", "the C compiler failed: it ended with status 0 but made nothing")
      lacking("MEISSA_CC_LIMIT=0.2 " .. compiler "sleep 50",
              "the C compiler failed: it did not end within 0.2 s")
    end)

    it("as one that fails while the loop runs", function()
      local output = run(loop(3000000) .. [[
        for _ = 1, 5 do once() end
        require('ffi').cdef 'int usleep(unsigned);'
        require('ffi').C.usleep(300000)
        once()
        print(meissa.last().engine, blocks, meissa.last().engine_reason)
        print(meissa.plan(10, function(i) A[i] = i end).engine)]],
        compiler "echo 'x: error: late' >&2; exit 1")
      assert.truthy(output:find("lua\t0\tthe C compiler failed: x: error: late\n", 1, true), output)
    end)

    it("a cache that others could write is not used", function()
      os.execute(("mkdir %s/cache; chmod 777 %s/cache"):format(where, where))
      local output = run(loop(1000, "{engine = 'native'}") .. "print(once(), blocks) once()")
      assert.truthy(output:find("meissa: compiled loops are not kept: .* is open to other users"),
                    output)
      assert.truthy(output:find("3003\t64\n", 1, true), output)
      assert.equal(1, select(2, output:gsub("meissa: ", "")), output)
      assert.equal("", (child.shell("ls " .. quote(where .. "/cache"))))
    end)
  end)

  it("keep the C text for reading", function()
    local output = run(loop(1000, "{engine = 'native'}") .. "once() once()",
                       "MEISSA_KEEP_C=" .. where)
    assert.equal("", output)
    local names = child.shell("cd " .. where .. "; ls *.c")
    assert.truthy(names:find "^script.lua_%d+_%x+.c\n$", names)
    local text = child.read(where .. "/" .. names:sub(1, -2))
    assert.truthy(text:find("ms_native_run", 1, true))
    child.write(where .. "/file", "")
    output = run(loop(1000, "{engine = 'native'}") .. "print(once())",
                 ("MEISSA_KEEP_C=%s/file/texts"):format(where))
    assert.truthy(output:find "^meissa: MEISSA_KEEP_C: .*Not a directory.*\n3003\n$", output)
  end)
end)
