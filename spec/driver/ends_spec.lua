-- SPDX-License-Identifier: MIT
-- How loops end when something goes wrong: a body's error, a worker or the driver killed, Ctrl-C.
-- Every script is a process of its own under a time limit.
local alike_pass = require "spec.driver.alike_pass"
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"

local HEAD, has = deaths.HEAD, expect.has
local FIRST = deaths.FIRST

for _, road in ipairs {"MEISSA_SHM=1", "MEISSA_SHM=0 MEISSA_TRANSPORT=tcp"} do
  describe("with " .. road .. ",", function()
    local env = "MEISSA_WORKERS=2 " .. road

    it("a body's error names file, line, indices, worker, and the workers stay usable", function()
      local output, status = child.script(HEAD .. [[
        local A = meissa.zeros(100)
        local pids = table.concat(meissa.workers().pids, " ")
        for i in parallel(100) do A[i] = i end
        pids = table.concat(meissa.workers().pids, " ")
        local started = meissa.clock()
        local ok, err = pcall(function()
          for i in parallel(100) do
            if i == 37 then local t = nil; A[i] = t.x end
            A[i] = i + 1
          end
        end)
        print(ok, err.code, err.line, err.iteration[1], type(err.worker), tostring(err))
        print("in time", meissa.clock() - started < 1)
        print("readable", pcall(function() return A[5] end))
        A:fill(0)
        local sum = 0
        for i in parallel(100) do sum = sum + i + A[i] end
        print("usable", sum, pids == table.concat(meissa.workers().pids, " "))]], {env = env})
      assert.equal(0, status, output)
      has(output, "false\tBDY\t" .. (FIRST + 7) .. "\t37\tnumber", "script.lua:" .. (FIRST + 7),
          "iteration 37", "in time\ttrue", "usable\t5050\ttrue")
    end)

    it("what bodies printed before an error comes first, and a stack overflow has one place",
       function()
      local output = child.script(HEAD .. [[
        local A = meissa.zeros(16)
        local function try(body) print("error", select(2, pcall(body))) A:fill(0) end
        try(function()
          for i in parallel(16, {impure = true}) do
            print("line", i)
            if i == 11 then
              sleep(0.2)
              error("stop")
            end
            A[i] = i
          end
        end)
        local function deep(x) return 1 + deep(x + 1) end
        try(function() for i in parallel(16) do A[i] = deep(i) end end)]], {env = env})
      local expected = {}
      for i = 1, 11 do expected[i] = "line\t" .. i .. "\n" end
      local text = table.concat(expected) .. "error\t"
      assert.equal(text, output:sub(1, #text), output)
      has(output, "script.lua:" .. (FIRST + 7) .. ": BDY: stop (iteration 11; worker 2)\n")
      -- In the function or at its call.
      local line = output:match("script.lua:(%d+): BDY: stack overflow %(")
      assert.is_true(line == tostring(FIRST + 12) or line == tostring(FIRST + 13), output)
    end)

    it("a subscript out of range is an ARR error of its iteration", function()
      local output = child.script(HEAD .. [[
        local A = meissa.zeros(10)
        local ok, err = pcall(function()
          for i in parallel(20) do A[i] = i end
        end)
        print(ok, err.code, err.line, err.iteration[1], err)]], {env = env})
      has(output, "false\tARR\t" .. (FIRST + 2), "11")
    end)

    -- LuaJIT may fall over its own stack's end: then it is a worker that is lost and replaced.
    it("a stack overflow in a body is an error, and the workers stay usable", function()
      local output = child.script(HEAD .. [[
        local ok, err = pcall(function()
          for i in parallel(10) do
            local function f() return 1 + f() end
            f()
          end
        end)
        print(ok, err.code == "BDY" and err.message:find("stack overflow", 1, true) ~= nil
                  and err.file == "script.lua" and err.line >= ]] .. FIRST + 1 .. [[
                  and err.line <= ]] .. FIRST + 4 .. [[
                  or err.code == "WRK")
        local sum = 0
        for i in parallel(10) do sum = sum + i end
        print("usable", sum)]], {env = env})
      has(output, "false\ttrue", "usable\t55")
    end)

    it("an error does not wait for the others' endless blocks", function()
      local output = child.script(HEAD .. [[
        local A = meissa.zeros(64)
        local started = meissa.clock()
        local ok, err = pcall(function()
          for i in parallel(64, {impure = true}) do
            if i == 1 then
              while not io.open("begun") do sleep(0.01) end
              error("stop here")
            end
            if i > 32 then
              io.open("begun", "w"):close()
              while true do A[i] = A[i] + 1 end
            end
          end
        end)
        print(ok, err.code, err.iteration[1], meissa.clock() - started < 2.5)
        local sum = 0
        for i in parallel(64) do sum = sum + i end
        print(sum)]], {env = env})
      has(output, "false\tBDY\t1\ttrue", "2080")
      assert.matches("meissa: script.lua:%d+: worker 2 %(pid %d+%) reached no block end", output)
    end)

    it("a block that kills two workers is named, and the arrays are as before", function()
      local output = child.script(HEAD .. [[
        local A = meissa.zeros(64)
        for i in parallel(64) do A[i] = i end
        local started
        local ok, err = pcall(function()
          started = meissa.clock()
          for i in parallel(64, {impure = true}) do
            A[i] = -i
            if i == 40 then
              die()
            end
          end
        end)
        print(ok, err.code, meissa.clock() - started < 1, err)
        local sum = 0
        for i in parallel(64) do sum = sum + A[i] end
        print("usable", sum, #meissa.workers().pids)]], {env = env})
      has(output, "false\tWRK\ttrue", "is replaced; ",
          "was killed by signal 9 (Killed), in block 39, i = 40 to 40 (engine ", "usable\t2080\t2")
      assert.is_nil(output:find("(worker", 1, true), output) -- the message names it already
    end)

    it("a killed driver leaves no process, socket file or directory", function()
      local where = child.directory()
      local environment = ("%s XDG_RUNTIME_DIR= TMPDIR=%s"):format(env, where)
      child.write(where .. "/driver.lua", HEAD .. [[
        local A = meissa.zeros(64)
        for i in parallel(64) do A[i] = i end
        local file = io.open(arg[1], "w")
        file:write(table.concat(meissa.workers().pids, "\n"), "\n")
        file:close()
        for i in parallel(64) do
          while true do A[i] = A[i] + 1 end
        end]])
      local output = child.shell(([[
        cd %s
        %s luajit driver.lua pids & driver=$!
        i=0; while [ ! -s pids ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
        alive() {
          for pid in $(cat pids); do grep -qs 'State:.[^Z]' /proc/$pid/status && return; done
          return 1
        }
        sleep 0.5; kill -9 $driver
        i=0; while alive && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
        alive && echo "left: $pid"
        # A compiler that the driver has started ends by itself.
        i=0; while [ $(ls -A | wc -l) -gt 2 ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
        wc -l < pids; rm -f pids driver.lua; ls -A
      ]]):format(where, environment), 30)
      child.remove(where)
      assert.is_nil(output:find("left", 1, true), output)
      assert.equal("2", output:match("^%D*(%d+)%s*$"), output)
    end)
  end)
end

describe("The core", function()
  -- Threads and traces may still run in it when the state that loaded it closes.
  it("stays in memory when the state that loaded it closes", function()
    local output = child.script([[
      local ffi = require "ffi"
      ffi.cdef "void *dlopen(const char *name, int flags); int dlclose(void *handle);"
      local path = package.searchpath("meissa.core", package.cpath)
      for _, file in ipairs {path, (path:gsub("core%.so$", "libcore.so"))} do
        local handle = ffi.C.dlopen(file, 1)
        assert(handle ~= nil and ffi.C.dlclose(handle) == 0)
      end
      local stay = {}
      for line in io.lines("/proc/self/maps") do
        stay[line:match "/meissa/(%a+)%.so$" or ""] = true
      end
      print(stay.core, stay.libcore)]])
    assert.equal("true\ttrue\n", output)
  end)
end)

describe("Ctrl-C", function()
  it("ends a script's loop with an INT error, and the workers stay usable", function()
    local output = child.interrupted(HEAD .. [[
      local A = meissa.zeros(64)
      for i in parallel(64) do A[i] = i end
      io.open("ready", "w"):close()
      local ok, err = pcall(function()
        for i in parallel(64) do while true do A[i] = A[i] + 1 end end
      end)
      print(ok, err.code, err)
      local sum = 0
      for i in parallel(64) do sum = sum + i end
      print("usable", sum)
]], {env = "MEISSA_WORKERS=2", once = "ready", after = 0.3})
    has(output, "false\tINT", "usable\t2080")
  end)

  it("comes back to the prompt", function()
    local output = child.shell([[
      (echo 'meissa = require "meissa"; A = meissa.zeros(64)'
       echo 'meissa.run[=[ for i in parallel(64) do while true do A[i] = A[i] + 1 end end ]=]'
       sleep 3
       echo 's = 0; meissa.run[=[ for i in parallel(64) do s = s + i end ]=] print("back", s)'
      ) | MEISSA_WORKERS=2 luajit -i & sleep 1.5
      kill -INT $(cat /proc/$!/task/$!/children 2>/dev/null) $! 2>/dev/null
      wait
    ]])
    has(output, "INT", "back\t2080")
  end)

  it("ends rounds in this process between some of them", function()
    local output = child.script([[
      require("ffi").cdef "int getpid(void);"
      local meissa = require "meissa"
      local x = meissa.zeros(100000)
      local function pass(rounds)
        for _, i in meissa.iterate(x, rounds, {engine = "native"}) do
          local s = 0
          for k = 1, 500 do s = s + k * x[i] end
          x[i] = s
        end
      end
      pass(1)
      os.execute("(sleep 1; kill -INT " .. require("ffi").C.getpid() .. ") &")
      local ok, err = pcall(pass, 60000)
      print(ok, tostring(err):match "interrupted" or err, x:sum())]], {env = "MEISSA_WORKERS=0"})
    assert.equal("false\tinterrupted\t0\n", output)
  end)

  it("is heard after a variable could not be assigned", function()
    local output = child.script([[
      require("ffi").cdef "int getpid(void);"
      local meissa = require "meissa"
      local parallel = meissa.parallel
      local x, n = meissa.ones(30000), 30000
      local o = setmetatable({}, {__newindex = function() error("no") end})
      print(pcall(function() for i in parallel(n) do o.s = (o.s or 0) + x[i] end end))
      os.execute("(sleep 0.3; kill -INT " .. require("ffi").C.getpid() .. ") &")
      local ok, err = pcall(function()
        while true do for i in parallel(n) do x[i] = x[i] + 1 end end
      end)
      print(ok, tostring(err):match "interrupted" or err)]], {env = "MEISSA_WORKERS=2"})
    has(output, "no", "false\tinterrupted\n")
  end)

  -- Loops that run again and again.
  local AGAIN = [[
    os.execute("(sleep %g; kill -INT " .. require("ffi").C.getpid() .. ") &")
    local ok, err = pcall(function() while true do pass() end end)
    local same = count == x:sum() and count == y:sum()
    print(ok, tostring(err):match "interrupted" or err, same or x:sum() .. " " .. count)]]
  for name, head in pairs(alike_pass.HEADS) do
    it("leaves nothing half done of loops " .. name, function()
      for _, after in ipairs {0.05, 0.13} do
        local text = 'require("ffi").cdef "int getpid(void);"\n' ..
          alike_pass.script(3000, head) .. AGAIN:format(after)
        assert.equal("false\tinterrupted\ttrue\n",
                     (child.script(text, {env = "MEISSA_WORKERS=2"})), name)
      end
    end)
  end
end)
