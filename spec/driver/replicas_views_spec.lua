-- SPDX-License-Identifier: MIT
-- meissa.replicas with views, rows, sparse arrays and empty tables as what functions capture, are
-- given, exchange and return: the same wherever replicas are, and what plain Lua says.
local expect = require "spec.support.expect"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

local function on_workers(fn)
  for _, workers in ipairs {0, 3} do
    kept_workers.init {workers = workers}
    fn(workers .. " workers")
  end
  kept_workers.init {}
end

-- Plain tables of numbers in the place of arrays.
local function plain(value)
  local ok, list = pcall(function() return value:totable() end)
  if ok then return list end
  if type(value) ~= "table" then return value end
  local made = {}
  for key, each in pairs(value) do made[key] = plain(each) end
  return made
end

local function matrix()
  local A = meissa.zeros(6, 4)
  for i = 1, 6 do
    for j = 1, 4 do A[i][j] = 10 * i + j end
  end
  return A
end

-- What `fn` gives on each number of workers is `expected`.
local function everywhere(expected, fn)
  on_workers(function(where) assert.same(expected, plain(fn()), where) end)
end

local function refused(code, words, fn)
  on_workers(function()
    expect.has(tostring(expect.raises(code, words[1], fn)), unpack(words))
  end)
end

describe("Views in meissa.replicas", function()
  it("see what shards write, whichever of an array's views is captured", function()
    everywhere({{10, 22, 32, 20, 52, 62}, {11, 10, 13, 14}, 20}, function()
      local A = matrix()
      local column, row, slice = A:select(2, 2), A[1], A:narrow(1, 3, 4)
      return meissa.replicas(2, {}, function(r)
        local own = r.shard(A)
        own[1][2] = 10 * r.index
        r.barrier()
        return {column:clone(), row:clone(), slice[2][2]}
      end)[2]
    end)
  end)

  it("are shards without rows, where there are fewer rows than replicas", function()
    for _, workers in ipairs {0, 2, 5} do
      kept_workers.init {workers = workers, quiet = true}
      for rows = 0, 3 do
        local A, fixed = meissa.zeros(rows, 2), meissa.ones(rows)
        local sizes = meissa.replicas(4, {}, function(r)
          local own = r.shard(A)
          own:fill(r.index)
          r.barrier()
          own:add(1)
          assert(r.shard(A):size(1) == own:size(1))
          return {own:size(1), r.shard(fixed):size(1), A:sum()}
        end)
        for k = 1, 4 do
          local has = k <= rows and 1 or 0
          assert.same({has, has, rows * (rows + 1)}, sizes[k])
          if k <= rows then assert.same({k + 1, k + 1}, A[k]:totable()) end
        end
      end
    end
  end)

  it("are shards, of which the array sees what was written", function()
    everywhere({{-1, 22, 32, -2, 52, 62}, {11, -1, 13, 14}}, function()
      local A = matrix()
      local column = A:select(2, 2)
      local list = meissa.replicas(2, {}, function(r)
        r.shard(column)[1] = -r.index
        r.barrier()
        return A[1]:clone()
      end)
      return {column, list[1]}
    end)
  end)

  it("share memory as arguments and results as they did before", function()
    everywhere({{7, 8, {7, 5}}, 7}, function()
      local A = meissa.zeros(3, 2)
      local list = meissa.replicas(2, {}, function(r, rows, all, given)
        rows[1][1], given.row[2] = r.index + 5, 8
        return {all = all, row = all[2], rows = rows, seen = {all[2][1], all[2][2]}}
      end, A:narrow(1, 2, 2), A, {row = A[2]})
      assert.same({{0, 0}, {0, 0}, {0, 0}}, A:totable())
      local last = list[2]
      last.rows[1][2] = 5
      return {{last.seen[1], last.seen[2], last.row}, last.all[2][1]}
    end)
  end)

  it("that have no element in common travel each by itself", function()
    local columns = {{12, 22, 32, 42, 52, 62}, {14, 24, 34, 44, 54, 64}}
    everywhere({columns[1], columns[2], {{41, 42}, {51, 52}}}, function()
      local A = matrix()
      local two, four, block = A:select(2, 2), A:select(2, 4), A:narrow(1, 4, 2):narrow(2, 1, 2)
      return meissa.replicas(2, {}, function() return {two, four, block} end)[1]
    end)
  end)

  it("as results are nobody else's any more", function()
    everywhere({11, {{11, 12, 13, 14}}}, function()
      local A = matrix()
      local list = meissa.replicas(2, {}, function() return {A[1], A:narrow(1, 1, 1)} end)
      A[1][1] = 99
      return {list[1][1][1], list[2][2]}
    end)
  end)

  it("are reduced, scattered and exchanged where they lie", function()
    local function given(r) return meissa.full({3, 3}, r.index) end
    local forms = {
      {{{2, 2, 2}, {6, 6, 6}, {2, 2, 2}}, function(r, a) r.allReduce(a[2]) end},
      {{{6, 2, 2}, {6, 2, 2}, {6, 2, 2}}, function(r, a) r.allReduce(a:select(2, 1)) end},
      {{{6, 6, 6}, {2, 2, 6}, {2, 2, 6}}, function(r, a)
        local t = {x = {a[1], a:select(2, 3)}, 4, {r.index}}
        assert(r.allReduce(t) == t and t[1] == 12 and t[2][1] == 6)
      end},
      {{{6, 6, 6}, {6, 6, 6}, {6, 6, 6}}, function(r, a) r.allReduce {a, a, a[1]} end},
      {{{1, 1, 1}, {2, 2, 1}, {2, 2, 1}}, function(r, a) r.scatter {a[1], {a:select(2, 3)}} end},
      {{{1, 1, 1}, {2, 2, 2}, {1, 1, 1}}, function(r, a) r.scatter {a[3], a[1]} end},
      {{{6, 6, 6}, {2, 2, 2}, {6, 6, 6}}, function(r, a)
        r.allReduce({a[1], a[3]}, function(x, y) return x:add(y) end)
      end},
      {{{2, 2, 2}, {2, 2, 2}, {3, 3, 3}}, function(r, a)
        a[3]:scal(1.5)
        r:exchange(a[3])
        r:exchange(a[1], {topology = "ring-both"})
      end},
    }
    local expected = {}
    for n, form in ipairs(forms) do expected[n] = form[1] end
    everywhere(expected, function()
      return meissa.replicas(3, {}, function(r)
        local results = {}
        for n, form in ipairs(forms) do
          results[n] = given(r)
          form[2](r, results[n])
        end
        return results
      end)[2]
    end)
  end)

  it("are exchanged each by itself, with what was heard of it before", function()
    everywhere({{6}, {60}}, function()
      return meissa.replicas(2, {}, function(r)
        local a = meissa.zeros(2, 1)
        for round = 1, 2 do
          a[1]:add(round)
          a[2]:add(10 * round)
          for row = 1, 2 do r:exchange(a[row], {merge = {add = 1}}) end
        end
        return a
      end)[2]
    end)
  end)
end)

describe("Arrays of other kinds in meissa.replicas", function()
  it("are sums of whole numbers, too", function()
    everywhere({{6, 6}, {6, 6}, {6, 6}, {6, 6}}, function()
      return meissa.replicas(3, {}, function(r)
        local list = {}
        for _, kind in ipairs {"int32", "int64"} do
          local a = meissa.full({2}, r.index, {type = kind})
          local b = a:clone()
          r.allReduce(a)
          r.allReduce(b, function(x, y) return x:add(y) end)
          assert(b:type() == kind)
          list[#list + 1], list[#list + 2] = a, b
        end
        return list
      end)[3]
    end)
  end)

  it("may be empty, or tables without any", function()
    everywhere({{2, {}, {a = {}}}, {}, 0}, function()
      return meissa.replicas(2, {}, function(r)
        local none, n = r.allReduce {}
        local nested = r.allReduce {{}, {a = {}}}
        local zero = r.allReduce(meissa.zeros {0})
        r.scatter {}
        return {{n, none, nested[2]}, zero, r.scatter(zero):size(1)}
      end)[2]
    end)
  end)

  it("may be sparse, with labels, where they are captured, given or returned", function()
    local function make()
      local S = meissa.sparse({3, 4}, {i = {1, 2, 3, 3}, j = {3, 1, 3, 4}, v = {5, 3, 4, 2}})
      return S:randomize(1, {seed = 3})
    end
    local of = make()
    local labels = {of:label(1, 1), of:label(1, 2), of:label(1, 3)}
    everywhere({labels, 14, {labels, 14}, 70}, function()
      local S = make()
      local list = meissa.replicas(2, {}, function(r, given)
        given:scal(10 / r.index)
        local total = 0
        for i = 1, 3 do
          for _, v in S[i]:nonzeros() do total = total + v end
        end
        local held = {{S:label(1, 1), S:label(1, 2), S:label(1, 3)}, total}
        return {held = held, S = S, given = given:sum()}
      end, S)
      local back = list[2].S
      assert.equal(14, S:sum())
      return {{back:label(1, 1), back:label(1, 2), back:label(1, 3)}, back:sum(), list[1].held,
              list[2].given}
    end)
  end)

  it("go to the workers with what captures them", function()
    meissa.init {workers = 2}
    local S = meissa.sparse({2, 2}, {i = {1, 2}, j = {1, 2}})
    local list = meissa.replicas(2, {}, function()
      local file = io.open "/proc/self/stat"
      local id = file:read("*a"):match "^(%d+)"
      file:close()
      return S:nnz() == 2 and tonumber(id)
    end)
    local pids = meissa.workers().pids
    table.sort(list)
    table.sort(pids)
    assert.same(pids, list)
    meissa.init {}
  end)

  it("are not written where they are captured", function()
    local S = meissa.sparse({2, 3}, {i = {1, 2}, j = {3, 1}, v = {5, 3}})
    refused("ARR", {"is captured by meissa.replicas"}, function()
      meissa.replicas(2, {}, function(r) S[1][3] = r.index end)
    end)
    S[1][3] = 7 -- as it may be again
    assert.equal(7, S[1][3])
  end)
end)

describe("Replicas refuse", function()
  it("what cannot be exchanged in place", function()
    local A = matrix()
    refused("ARR", {"replica 1", "allReduce changes arrays in place", "r.shard"}, function()
      meissa.replicas(2, {}, function(r) r.allReduce {1, A} end)
    end)
    refused("ARR", {"replica 1", "scatter changes arrays in place", "r.shard"}, function()
      meissa.replicas(2, {}, function(r) r.scatter(A[2]) end)
    end)
    refused("OPT", {"allReduce takes dense arrays", "meissa.zeros(A:nnz())"}, function()
      meissa.replicas(2, {}, function(r)
        r.allReduce(meissa.sparse({2, 3}, {i = {1, 2}, j = {3, 1}}))
      end)
    end)
    refused("OPT", {"r.scatter(value)", "not nil"}, function()
      meissa.replicas(2, {}, function(r) r.scatter(r.index == 1 and 5 or nil) end)
    end)
  end)

  it("arguments that lead to nan, or cannot be copied, hold nothing", function()
    on_workers(function()
      local S = meissa.sparse({3, 3}, {i = {1, 2}, j = {2, 3}, v = {1, 2}})
      local function carries(r, x) return {r.index, x ~= x, S:nnz() } end
      assert.same({{1, true, 2}, {2, true, 2}}, meissa.replicas(2, {}, carries, 0 / 0))
      S:mul(2)
      local bad = newproxy(true)
      getmetatable(bad).__index = {clone = function() error("no copy", 0) end}
      assert.is_false((pcall(meissa.replicas, 2, {}, carries, bad)))
      S:mul(2)
      assert.equal(4, S[1][2])
    end)
  end)

  it("shards of which others would see nothing", function()
    local A = matrix()
    local function refuse(words, choose, given)
      refused("OPT", {"replica 1", "r.shard(A) takes an array that the function captures", words},
              function()
        meissa.replicas(2, {}, function(r, argument) r.shard(choose(A, argument)) end, given)
      end)
    end
    local view, own = "make the view outside of it", "is the replica's own"
    refuse(view, function(all) return all:select(2, 2) end)
    refuse(view, function(all) return all:narrow(1, 1, 2) end)
    refuse(own, function(all) return all:clone() end)
    refuse(own, function() return meissa.zeros(4) end)
    refuse(own, function(_, argument) return argument end, meissa.zeros(4))
  end)

  it("two shards of one memory", function()
    local A = matrix()
    local column = A:select(2, 2)
    refused("OPT", {"r.shard(A)", "take views of that shard"}, function()
      meissa.replicas(2, {}, function(r) return {r.shard(A), r.shard(column)} end)
    end)
  end)
end)
