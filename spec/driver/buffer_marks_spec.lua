-- SPDX-License-Identifier: MIT
-- Buffers of which blocks mark what they store into: random loops against the same text over plain
-- tables, what zeros and nans do, blocks that fail, and where marks are kept at all.
-- MEISSA_TEST_SEED replays, MEISSA_BUFFER_LOOPS says how many loops.
local block_local = require "meissa.kernel.block_local"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local seed = require "spec.support.seed"

local LOOPS = tonumber(os.getenv "MEISSA_BUFFER_LOOPS") or 12

local ROADS = {{workers = 1}, {workers = 2}, {workers = 2, shm = false}, {workers = 0}}

-- Statements; wb, vb, tb: buffers of arrays of one, two and three dimensions.
local STATEMENTS = {
  "wb[p] = wb[p] + x",
  "wb[p] = wb[p] + x wb[p] = wb[p] - x",
  "local row = vb[q] row[k] = row[k] + x",
  "vb[q][k], wb[p] = vb[q][k] + x, wb[p] - x",
  "vb[{q, k}] = vb[{q, k}] - x",
  "for c = 1, C do vb[q][c] = vb[q][c] + c end",
  "for c = k, C do local row = vb[q] if c % 3 == 0 then row[c] = row[c] + x end end",
  "if i % 7 == 0 then wb[N + 1 - p] = wb[N + 1 - p] + x end",
  "vb[q]:axpy(x + 0, ones)",
  "vb[q]:add(x + 1)",
  "vb[q]:scal(2 + 0)",
  "if i % 50 == 0 then wb:axpy(x + 0, wide) end",
  "tb[q % A + 1][q % B + 1][k] = tb[q % A + 1][q % B + 1][k] + x",
  "tb[q % A + 1][p % B + 1]:axpy(x - 1, ones)",
  "local plane = tb[q % A + 1] plane[p % B + 1][k] = plane[p % B + 1][k] + x",
  "local plane = tb[q % A + 1] local row = plane[p % B + 1] row[k] = row[k] + x",
  "local part = vb[q]:narrow(1, k, C - k + 1) part[1], part[#part] = part[1] + x, part[#part] + 2",
  "local column = vb:select(2, k) column[q] = column[q] + x",
  "local column = tb[q % A + 1]:select(2, k) column[p % B + 1] = column[p % B + 1] - x",
  "bump(p, x)",
  "local b = vb b[q][C] = b[q][C] + x",
}

-- What is scaled is what a block has pending: how blocks are cut decides about it.
local CUT = "scal"

local TEXT = [[
local parallel, n, N, R, C, A, B, wb, vb, tb, ones, wide, how = ...
local function bump(p, x) wb[p] = wb[p] + x end
for i in parallel(n, how) do
  local p, q, k, x = i * %d %% N + 1, i * %d %% R + 1, i * %d %% C + 1, i %% 9 - 4
  %s
end
return bump]]

local function case()
  local made = {n = math.random(1, 900), N = math.random(1, 30000), R = math.random(1, 700),
                C = math.random(1, 150), A = math.random(1, 12), B = math.random(1, 60)}
  local body = {}
  for s = 1, math.random(1, 3) do
    local text = STATEMENTS[math.random(#STATEMENTS)]
    body[s] = "do " .. text .. " end"
    made.cut = made.cut or text:find(CUT, 1, true) ~= nil
  end
  made.text = TEXT:format(math.random(1e4), math.random(1e4), math.random(1e4),
                          table.concat(body, "\n  "))
  return made
end

local function run(made, parallel, w, v, t, ones, wide, how)
  return assert(loadstring(made.text))(parallel, made.n, made.N, made.R, made.C, made.A, made.B, w,
                                       v, t, ones, wide, how)
end

-- ------------------------------------------------------------------------------- plain tables

local Row = {}
Row.__index = function(row, key)
  if type(key) ~= "table" then return Row[key] end
  return row[key[1]][key[2]]
end
Row.__newindex = function(row, key, value)
  if type(key) == "table" then row[key[1]][key[2]] = value else rawset(row, key, value) end
end

-- A part: element k of it is what place(k) gives, a table and a key.
local function part_by(count, place)
  local proxy = newproxy(true)
  local meta = getmetatable(proxy)
  meta.__len = function() return count end
  meta.__index = function(_, k)
    local row, key = place(k)
    return row[key]
  end
  meta.__newindex = function(_, k, value)
    local row, key = place(k)
    row[key] = value
  end
  return proxy
end

function Row:narrow(_, first, count)
  return part_by(count, function(k) return self, first + k - 1 end)
end

function Row:select(_, key)
  return part_by(#self, function(k) return self[k], key end)
end

function Row:axpy(a, x) for k in ipairs(self) do self[k] = self[k] + a * x[k] end end
function Row:add(a) for k in ipairs(self) do self[k] = self[k] + a end end

local function plain(fill, first, ...)
  local made = setmetatable({}, Row)
  for k = 1, first do made[k] = ... and plain(fill, ...) or fill end
  return made
end

local function plain_parallel(n)
  local i = 0
  return function()
    i = i + 1
    return i <= n and i or nil
  end
end

local function as_written(made)
  local w, v, t = plain(0, made.N), plain(0, made.R, made.C), plain(0, made.A, made.B, made.C)
  run(made, plain_parallel, w, v, t, plain(1, made.C), plain(1, made.N))
  return w, v, t
end

-- ------------------------------------------------------------------------------------- arrays

local function on_workers(made, engine)
  local w, v, t = meissa.zeros(made.N), meissa.zeros(made.R, made.C),
    meissa.zeros(made.A, made.B, made.C)
  local wb, vb, tb = meissa.buffer(w), meissa.buffer(v), meissa.buffer(t)
  local ones, wide = meissa.ones(made.C), meissa.ones(made.N)
  for _ = 1, 2 do -- the second time on vectors that the first has left
    w:fill(0) v:fill(0) t:fill(0)
    run(made, meissa.parallel, wb, vb, tb, ones, wide, {engine = engine})
  end
  return w:totable(), v:totable(), t:totable()
end

describe("a buffer whose stores are marked", function()
  teardown(kept_workers.stop)

  math.randomseed(seed)
  local cases, expected = {}, {}
  for c = 1, LOOPS do
    cases[c] = case()
    if not cases[c].cut then expected[c] = {as_written(cases[c])} end
  end

  for _, road in ipairs(ROADS) do
    local name = ("%d workers%s"):format(road.workers, road.shm == false and ", by value" or "")
    it(("has all that was stored: seed %d, %s"):format(seed, name), function()
      kept_workers.init(road)
      for c, each in ipairs(cases) do
        for _, engine in ipairs {"lua", "auto", "native"} do
          local native = engine ~= "native" or road.workers > 0
          local got = native and {on_workers(each, engine)}
          expected[c] = expected[c] or got
          if got then
            for a = 1, 3 do
              assert.same(expected[c][a], got[a], name .. ", " .. engine .. "\n" .. each.text)
            end
          end
        end
      end
    end)
  end

  it("leaves alone what got nothing: zeros of either sign, and gives nans", function()
    for _, road in ipairs(ROADS) do
      kept_workers.init(road)
      for _, engine in ipairs {"lua", "auto"} do
        local seen = {}
        local w, u = meissa.full({9000}, -0), meissa.full({9000}, -0)
        local nan, zero = 0 / 0, 0
        local wb = meissa.buffer(w)
        local ub = meissa.buffer(u, {apply = function(old, g)
          seen[#seen + 1] = g
          return old + g
        end})
        for i in meissa.parallel(300, {engine = engine}) do
          wb[30 * i] = wb[30 * i] - zero * i
          ub[30 * i] = ub[30 * i] - zero * i
          if i == 200 then
            wb[3] = wb[3] + nan
            ub[8999] = ub[8999] + 5
          end
        end
        for k = 1, 9000 do
          if k == 3 then
            assert.is_true(w[k] ~= w[k])
          else
            assert.equal(-math.huge, 1 / w[k])
          end
          if k ~= 8999 then assert.equal(-math.huge, 1 / u[k]) end
        end
        assert.same({5}, seen)
        assert.equal(5, u[8999])
      end
    end
  end)

  it("has nothing of blocks that failed", function()
    for _, road in ipairs(ROADS) do
      kept_workers.init(road)
      for _, engine in ipairs {"lua", "auto"} do
        local w, wb = meissa.zeros(50000), nil
        wb = meissa.buffer(w)
        local last = 700
        for round = 1, 3 do
          local limit = round == 2 and 800 or last
          local ok = pcall(function()
            for i in meissa.parallel(limit, {engine = engine}) do
              local at = i <= 700 and 71 * i or 50000 + i
              wb[at] = wb[at] + i
            end
          end)
          assert.equal(round ~= 2, ok)
        end
        for i = 1, 700 do assert.equal(2 * i, w[71 * i]) end
        assert.equal(700 * 701, w:sum())
      end
    end
  end)
end)

describe("marks of what is stored into a buffer", function()
  teardown(kept_workers.stop)
  local of, spaces = block_local.of, nil
  setup(function()
    block_local.of = function(where)
      local own = of(where)
      spaces = own and own.pending_spaces
      return own
    end
  end)
  teardown(function()
    block_local.of = of
    kept_workers.init {}
  end)

  local function is_marked(rows, count, body)
    kept_workers.init {workers = 0}
    local wb = meissa.buffer(meissa.zeros(rows, 3))
    assert(loadstring(([[local parallel, n, rows, wb = ...
      local function bump(p) wb[p][2] = wb[p][2] + 1 end
      for i in parallel(n) do local p = i %% rows + 1 %s end]]):format(body)))(meissa.parallel,
        count, rows, wb)
    return spaces[0].touched ~= nil
  end

  it("are kept where the buffer is large for the loop", function()
    assert.is_true(is_marked(1000, 1000, "wb[p][1] = wb[p][1] + 1"))
    assert.is_true(is_marked(1000, 1000, "wb[p]:axpy(2, wb[p])"))
    assert.is_false(is_marked(100, 1000, "wb[p][1] = wb[p][1] + 1"))
  end)

  it("are not trusted where a function stores through the array's object", function()
    assert.is_false(is_marked(1000, 1000, "bump(p)"))
    assert.is_false(is_marked(1000, 1000, "wb[p][1] = wb[p][1] + 1 bump(p)"))
  end)

  it("are of all that lies in a column", function()
    local n, size = 50, 1000
    for _, engine in ipairs {"lua", "native"} do
      kept_workers.init {workers = 2}
      local total = meissa.zeros(size, size)
      local pending = meissa.buffer(total)
      for i in meissa.parallel(n, {engine = engine}) do
        pending:select(2, i * 7):add(i)
      end
      assert.equal(size * n * (n + 1) / 2, total:sum())
      assert.equal(3, total[size][21])
    end
  end)

  it("are of single elements in parts with names that are too long to be marked whole", function()
    for _, engine in ipairs {"lua", "native"} do
      kept_workers.init {workers = 2}
      for rows = 30, 50, 20 do -- of 100: parts of fewer than 4,096 elements, and of more
        local total = meissa.zeros(3, rows, 100)
        local pending = meissa.buffer(total)
        for i in meissa.parallel(60, {engine = engine}) do
          local part = pending[i % 3 + 1]
          part[i % rows + 1][i] = part[i % rows + 1][i] + i
        end
        assert.equal(60 * 61 / 2, total:sum())
        for i = 1, 60 do assert.equal(i, total[i % 3 + 1][i % rows + 1][i]) end
      end
    end
  end)

  it("have names that inner loops with limits from data do not have", function()
    kept_workers.init {workers = 2}
    local total, starts = meissa.zeros(30000), meissa.zeros({501}, {type = "int32"})
    local pending = meissa.buffer(total)
    for i = 1, 501 do starts[i] = 3 * i end
    for i in meissa.parallel(500, {engine = "lua"}) do
      pending[i] = pending[i] + 1
      for k = starts[i], starts[i + 1] - 1 do pending[k] = pending[k] + i end
    end
    assert.same({500 + 3 * 500 * 501 / 2, 1 + 1, 500}, {total:sum(), total[5], total[1502]})
  end)
end)
