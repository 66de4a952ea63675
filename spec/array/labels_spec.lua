-- SPDX-License-Identifier: MIT
-- Labels in bodies: arrays have their id maps wherever blocks are run.
local child = require "spec.support.child"

local SCRIPT = [==[
local meissa = require "meissa"
local parallel = meissa.parallel

local function write(name, text)
  local file = assert(io.open(name, "w"))
  file:write(text)
  file:close()
  return name
end

local function show(...) print(table.concat({...}, " ")) end

-- Ids that are numbers and strings, names of columns, words, one map for two dimensions.
local R = meissa.read.triples(write("t.csv", "30,apple,3\n10,pear,4\n20,fig,5\n"))
local C = meissa.read.csv(write("c.csv", "height,width\n1,2\n3,4\n"))
local vocab = write("vocab.txt", "ant\nbee\ncat\n")
local D = meissa.read.docword(write("d.txt", "2\n3\n2\n1 2 5\n2 3 1\n"), {vocab = vocab})
local S = meissa.read.triples(write("s.csv", "b,a,1\nc,b,2\n"), {square = true})
local Z = R:randomize(1, {seed = 3})

local function name(A, d, i)
  return tostring(A:label(d, i)) .. "=" .. tostring(A:index(d, A:label(d, i)))
end

for _, A in ipairs {R, C, D, S, Z} do
  for d = 1, 2 do
    local t, n = {}, A:size(d)
    for i in parallel(n) do t[i] = name(A, d, i) end
    show(unpack(t))
    for i in parallel(n) do t[i] = tostring(A:index(d, i)) .. tostring(A:index(d, "pear")) end
    show(unpack(t))
  end
end

-- In tables, views, copies, groups.
local x, known = {}, {data = {R = R, C = C}}
for i in parallel(3) do x[i] = known.data.R:label(2, i) .. known.data.C:label(2, 1) end
show(unpack(x))
local N, row, T = C:narrow(2, 2, 1), C[2], C:transpose(1, 2)
for i in parallel(2) do
  x[i] = table.concat {tostring(N:label(2, 1)), tostring(row:label(1, i)),
    tostring(T:label(1, i)), tostring(C[1]:index(1, "width")), C:clone():label(2, i),
    C:snapshot():label(2, i)}
end
show(unpack(x))
local G = R:group_by(1)
for i in parallel(3) do x[i] = G:label(1, i) .. G:index(1, 30) end
show(unpack(x))

-- In functions of elements; there are enough of them for workers.
local lines = {}
for k = 1, 5000 do lines[k] = "u" .. k * 7 % 5003 .. "," .. k .. ",1\n" end
local B = meissa.read.triples(write("b.csv", table.concat(lines)))
show(B:filter(function(i, _, _) return B:label(1, i) == "u7" end):nnz())
show(unpack(meissa.map({1, 2, 3}, function(k) return B:label(1, k) end)))
meissa.each(3, function(i) x[i] = B:label(1, i) end)
show(unpack(x))

-- Of arrays that the loop runs over, and that it writes.
local sum = 0
for i, _, v in parallel(R) do sum = sum + v * R:label(1, i) end
show(sum)
for i in parallel(2) do C[i][1] = #C:label(2, i) end
show(C:sum())

-- One loop with one array after the other.
for k = 1, 4 do
  local A = k % 2 == 0 and R or Z
  for i in parallel(3) do x[i] = A:label(1, i) end
  show(unpack(x))
  collectgarbage()
end
for k = 1, 40 do
  local A = meissa.read.triples(write("v.csv", k .. "x,1,1\n" .. k .. "y,2,1\n"))
  for i in parallel(2) do x[i] = A:label(1, i) end
  if k % 10 == 0 then show(x[1], x[2]) end
  A:free()
end
]==]

local EXPECTED = [[
10=1 20=2 30=3
nilnil nilnil nilnil
apple=1 pear=2 fig=3
nil2 nil2 nil2
1=1 2=2
1nil 2nil
height=1 width=2
nilnil nilnil
1=1 2=2
1nil 2nil
ant=1 bee=2 cat=3
nilnil nilnil nilnil
b=1 a=2 c=3
nilnil nilnil nilnil
b=1 a=2 c=3
nilnil nilnil nilnil
30=1 20=2 10=3
nilnil nilnil nilnil
apple=1 pear=2 fig=3
nil2 nil2 nil2
appleheight pearheight figheight
1heightheight2heightheight 1widthwidth2widthwidth figheight
103 203 303
1
u7 u14 u21
u7 u14 u21
230
17
30 20 10
10 20 30
30 20 10
10 20 30
10x 10y
20x 20y
30x 30y
40x 40y
]]

describe("a view", function()
  local meissa = require "meissa"
  local path = os.tmpname()
  local A
  setup(function()
    local file = assert(io.open(path, "w"))
    file:write("height,width,depth\n1,2,3\n4,5,6\n7,8,9\n")
    file:close()
    A = meissa.read.csv(path)
  end)
  teardown(function() os.remove(path) end)

  it("keeps the ids of dimensions that it has all of", function()
    for _, each in ipairs {{A:narrow(1, 2, 2), 2}, {A[2], 1}, {A:transpose(), 1},
      {A[{{1, 2}, {}}], 2}, {A[{2, {}}], 1}, {A:select(1, 3), 1}, {A:transpose():select(2, 1), 1},
      {A:narrow(2, 1, 3), 2}, {A:transpose():narrow(2, 1, 1):clone(), 1}} do
      local V, d = unpack(each)
      assert.equal("width", V:label(d, 2))
      assert.equal(3, V:index(d, "depth"))
    end
  end)

  it("has positions where it is cut", function()
    for _, V in ipairs {A:narrow(2, 2, 2), A[{{}, {2, 3}}]} do
      assert.equal(2, V:label(2, 2))
      assert.is_nil(V:index(2, "depth"))
    end
    assert.equal(2, A:select(2, 1):label(1, 2))
    assert.equal(2, A:transpose():label(2, 2))
  end)

  it("keeps them beyond the array's end, also when it is thrown away at once", function()
    local V
    for _ = 1, 100 do
      V = A:clone():transpose():narrow(2, 1, 2)
      collectgarbage()
    end
    assert.equal("depth", V:label(1, 3))
  end)
end)

describe("labels in bodies", function()
  for _, environment in ipairs {"MEISSA_WORKERS=0", "MEISSA_WORKERS=1 MEISSA_ENGINE=native",
    "MEISSA_WORKERS=2 MEISSA_ENGINE=lua", "MEISSA_WORKERS=5", "MEISSA_WORKERS=2 MEISSA_SHM=0",
    "MEISSA_WORKERS=2 MEISSA_SHM=0 MEISSA_TRANSPORT=tcp"} do
    it("are the driver's: " .. environment, function()
      local output, status = child.script(SCRIPT, {env = environment})
      assert.equal(EXPECTED, output)
      assert.equal(0, status)
    end)
  end
end)
