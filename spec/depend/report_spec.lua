-- SPDX-License-Identifier: MIT
--
-- The wording of reports, and the interface's behaviour on bad input.

local analyze = require "meissa.analyze"
local core = require "meissa.core"
local report = require "meissa.plan.report"

local shape, opaque = analyze.shape, analyze.opaque

local function text_of(text, bindings, opts, context)
  return report.text(analyze.analyze(text, bindings, opts), context)
end

local function lines(...)
  return table.concat({ ... }, "\n")
end

describe("reports", function()
  it("refuse with both places and a colliding pair", function()
    assert.are.equal(lines(
      "smooth.lua:1: loop over i is not parallel [DEP101 carried dependence]",
      "  2 |   A[i] = 0.5 * (A[i-1] + B[i])",
      "        ^^^^ iteration 2 writes A[2]      ^^^^^^ iteration 3 reads A[2]: " ..
        "distance 1, every iteration",
      "  run it serially:  parallel({2, n}, {serial = true})        " ..
        "if old values are fine:  local old = A:snapshot()  ... old[i-1]"),
      text_of("for i in parallel({2, n}) do\n  A[i] = 0.5 * (A[i-1] + B[i])\nend",
        { A = shape(10), B = shape(10), n = 10 }, nil, { file = "smooth.lua" }))
  end)

  it("tell parallel loops with what happens to each name", function()
    local text = [[
local K, mu = 32, 3.5
local sse = 0
for i, j, r in parallel(ratings) do
  local w, h = W[i], H[j]
  local e = r - mu - w:dot(h)
  sse = sse + e * e
  for k = 1, K do
    w[k] = w[k] + e * h[k]
    h[k] = h[k] + e * w[k]
  end
end]]
    assert.are.equal(lines(
      "train_mf.lua:14: loop over ratings (i, j) is parallel: rotate, 16 x 16 blocks, unordered",
      "  W[i]  read+write  stays with i      " ..
        "H[j]  read+write  moves with j (16 hand-overs a pass, 0.5 MB)      " ..
        "sse  reduction +      engine lua"),
      text_of(text, { ratings = shape(100, 50, { sparse = true }), W = shape(100, 32),
        H = shape(50, 32) }, nil, { file = "train_mf.lua", line = 14, over = "ratings",
        grid = { 16, 16 }, moves = { H = "16 hand-overs a pass, 0.5 MB" }, engine = "lua" }))
  end)

  it("keep what could not be proved apart, with a buffer as the way out", function()
    assert.are.equal(lines(
      "text:1: loop over i cannot be proved parallel [DEP102 possible dependence]",
      "  2 |   h[p[i]] = h[p[i]] + 1",
      "        ^^^^^^^ iteration 1 may write h[p[i]]      ^^^^^^^ iteration 2 may read h[p[i]]: " ..
        "various distances",
      "  run it serially:  parallel(9, {serial = true})",
      "  if sums may be added at the end:  local sum = meissa.buffer(h)  ... sum[e] = sum[e] + x"),
      text_of("for i in parallel(9) do\n  h[p[i]] = h[p[i]] + 1\nend",
        { h = shape(9), p = opaque }))
  end)

  it("name the strategy that this version does not run", function()
    assert.are.equal(lines(
      "text:1: loop over i, j cannot be proved parallel [DEP115 strategy not run by this version]",
      "  1 | for i, j, r in parallel(R) do",
      "                     ^^^^^^^^^^^ the loop could run as a hyperplane, which this version " ..
        "of Meissa analyses but does not run",
      "  also [DEP101 carried dependence]",
      "  2 |   A[i+1][j+1] = A[i+1][j] + A[i][j+2] * r",
      "        ^^^^^^^^^^^ iteration (1, 1) writes A[2][2]      ^^^^^^^^^ iteration (1, 2) " ..
        "reads A[2][2]: distance (0, 1), every iteration",
      "  run it serially:  parallel(R, {serial = true})        " ..
        "if old values are fine:  local old = A:snapshot()  ... old[i+1][j]"),
      text_of("for i, j, r in parallel(R) do\n  A[i+1][j+1] = A[i+1][j] + A[i][j+2] * r\nend",
        { R = shape(10, 10, { sparse = true }), A = shape(11, 12) }))
  end)

  it("show places on two lines, and one place twice", function()
    assert.are.equal(lines(
      "text:1: loop over i is not parallel [DEP101 carried dependence]",
      "  2 |   A[i] = i",
      "        ^^^^ iteration 3 writes A[3]",
      "  3 |   B[i] = A[i-2] + 1",
      "               ^^^^^^ iteration 5 reads A[3]: distance 2, every iteration",
      "  run it serially:  parallel({3, 9}, {serial = true})        " ..
        "if old values are fine:  local old = A:snapshot()  ... old[i-2]"),
      text_of("for i in parallel({3, 9}) do\n  A[i] = i\n  B[i] = A[i-2] + 1\nend",
        { A = shape(9), B = shape(9) }))
    assert.are.equal(lines(
      "text:1: loop over i is not parallel [DEP101 carried dependence]",
      "  1 | for i in parallel(9, {grid = {4}}) do A[1] = i end",
      "                                            ^^^^ iteration 1 writes A[1], " ..
        "iteration 2 writes A[1]: various distances",
      "  run it serially:  parallel(9, {serial = true, grid = {4}})"),
      text_of("for i in parallel(9, {grid = {4}}) do A[1] = i end", { A = shape(9) }))
  end)

  it("say along what a loop is cut, in how many blocks", function()
    local function first(text, opts)
      local plan = analyze.analyze(text, { A = shape(99, 99), B = shape(99), C = shape(99) }, opts)
      return tostring(plan):match("parallel: ([^\n]*)"), plan
    end
    local body = "for i, j in parallel({3, 99}, {3, 98}) do %s end"
    local cases = {
      { "A[i][j] = A[i-1][j]", "partition by j, 64 blocks, ordered" },
      { "A[i][j] = A[i-1][j+1]", "skew by i + j, 64 blocks, ordered" },
      { "A[i][j] = A[i-2][j-1]", "skew by i - 2*j, 64 blocks, ordered" },
      { "A[i][j] = A[i-1][j] + A[i][j-1]", "wavefront over i, j, 16 x 16 blocks, ordered" },
      { "A[i][j] = A[i-1][j-1] + A[i-1][j+1]",
        "hyperplane, i in sequence, j together, 97 x 8 blocks, ordered" },
      { "A[i][j] = A[i-1][j+1] + A[i][j-1]",
        "hyperplane, 2*i + j in sequence, i together, 288 x 8 blocks, ordered" },
      { "B[i] = B[i] + C[j] C[j] = 1", "rotate, 16 x 16 blocks, unordered", false },
      { "A[i][j] = 1", "independent, 64 blocks, ordered" },
    }
    for _, case in ipairs(cases) do
      local words, plan = first(body:format(case[1]), { ordered = case[3] })
      assert.are.equal(case[2], words)
      assert.are.equal(case[2]:match("([%d x]+) blocks"), " " .. table.concat(plan.grid, " x "))
      assert.is_truthy(plan:picture():find("^" .. plan.strategy .. ": "))
    end
    local _, refused = first("for i in parallel({3, 99}) do B[i] = B[i-1] end")
    assert.are.same({}, refused.grid)
    assert.is_truthy(refused:picture():find("^serial: "))
    local _, empty = first("for i in parallel({3, 2}) do B[i] = B[i-1] end")
    assert.are.same({}, empty.grid)
    local _, asked = first("for i in parallel(99, {grid = {7}}) do B[i] = 1 end")
    assert.are.same({ 7 }, asked.grid)
    assert.is_false(pcall(first, "for i in parallel(99, {grid = {7, 7}}) do B[i] = 1 end"))
    assert.is_false(pcall(first, "for i in parallel(99, {grid = 7}) do B[i] = 1 end"))
  end)

  it("have the grid that sparse shapes imply", function()
    local text = "for i, j, r in parallel(R) do B[i], C[j] = B[i] + C[j] * r, B[i] end"
    local function grid(entries, rows)
      return analyze.analyze(text, { B = shape(rows), C = shape(9999),
        R = shape(rows, 9999, { sparse = true, nnz = entries }) }).grid
    end
    assert.are.same({ 16, 16 }, grid(nil, 9999))
    assert.are.same({ 16, 16 }, grid(4e6, 9999))
    assert.are.same({ 25, 25 }, grid(1e7, 9999))
    assert.are.same({ 78, 78 }, grid(9.9e7, 9999))
    assert.are.same({ 250, 250 }, grid(2.5e8, 9999))
    assert.are.same({ 1000, 1000 }, grid(1e9, 9999))
    assert.are.same({ 1024, 1024 }, grid(1e12, 9999))
    assert.are.same({ 9, 16 }, grid(1e3, 9))
    assert.are.same({ 9, 1000 }, grid(1e9, 9))
  end)

  it("have the grid that large spaces imply", function()
    local shapes = { A = shape(1e7), B = shape(1e4), C = shape(1e4), D = shape(1e4) }
    local function grid(text)
      return analyze.analyze(text, shapes, { ordered = false }).grid
    end
    assert.are.same({ 64 }, grid("for i in parallel(2^20) do A[i] = i end"))
    assert.are.same({ 65 }, grid("for i in parallel(2^20 + 1) do A[i] = i end"))
    assert.are.same({ 611 }, grid("for i in parallel(1e7) do A[i] = i end"))
    assert.are.same({ 4096 }, grid("for i in parallel(1e7, 100) do A[i] = i end"))
    assert.are.same({ 256, 256, 256 }, grid("for i, j, k in parallel(1e4, 1e4, 1e4) do " ..
      "B[i] = B[i] + C[j] C[j] = C[j] + D[k] D[k] = B[i] end"))
  end)

  it("propose to give up the order where that is cheaper", function()
    assert.are.equal(lines(
      "text:1: loop over i, j is parallel: wavefront over i, j, ordered",
      "  A[i]  read+write  stays with i      B[j]  read+write  moves with j",
      "  note [DEP202 cheaper in any order]",
      "  1 | for i, j in parallel(9, 9) do A[i], B[j] = B[j], A[i] end",
      "                  ^^^^^^^^^^^^^^ in any order of its iterations the loop could run as a " ..
        "rotation, whose blocks wait less for each other",
      "  if any order of iterations is acceptable:  parallel(9, 9, {ordered = false})"),
      text_of("for i, j in parallel(9, 9) do A[i], B[j] = B[j], A[i] end",
        { A = shape(9), B = shape(9) }))
  end)

  it("advise sums at the end only where nothing else reads what is summed", function()
    local function advised(body)
      local text = text_of("for i in parallel({2, 9}) do " .. body .. " end",
        { A = shape(9), at = shape(9) })
      return text:find("if sums may be added at the end", 1, true) ~= nil
    end
    assert.is_true(advised("A[at[i]] = A[at[i]] + i"))
    assert.is_false(advised("A[i] = A[i] + A[i-1]"))
    assert.is_false(advised("A[at[i]] = A[at[i]] + A[1]"))
  end)

  it("explain variables", function()
    assert.are.equal(lines(
      "text:2: loop over i is not parallel [DEP104 carried variable]",
      "  3 |   s = s / 2 + A[i]",
      "            ^ s is read before it is assigned, so each iteration needs the one before it",
      "  run it serially:  parallel(9, {serial = true})        " ..
        "if each iteration may start afresh:  local s = ..."),
      text_of("local s = 0\nfor i in parallel(9) do\n  s = s / 2 + A[i]\nend", { A = shape(9) }))
    assert.are.equal(lines(
      "text:1: loop over i is parallel: independent, ordered",
      "  A[i]  write  stays with i      t  private",
      "  note [DEP201 global variable assigned]",
      "  2 |   t = i * 2",
      "        ^ t is a global that the body assigns before it reads it",
      "  if it is not needed after the loop:  local t"),
      text_of("for i in parallel(9) do\n  t = i * 2\n  A[i] = t\nend", { A = shape(9) }))
  end)

  it("explain leaving the loop, tables, and what cannot be seen", function()
    local text = text_of("for i in parallel(9) do\n  if A[i] > 3 then break end\n  out[i] = 1\nend",
      { A = shape(9), out = opaque })
    assert.is_truthy(text:find("cannot be proved parallel [DEP108 leaves the loop]", 1, true)
      or text:find("is not parallel [DEP108 leaves the loop]", 1, true))
    assert.is_truthy(text:find("later iterations depend on earlier ones", 1, true))
    assert.is_truthy(text:find("use an array:  local t = meissa.zeros(n)  ... t[i] = value", 1,
      true))
  end)

  it("say the closure form's fix in its own form", function()
    local loop = assert(core.loop("meissa.each(n, function(i)\n  A[1] = i\nend)", "=t", 1, 3))
    local plan = assert(core.plan(loop,
      { { kind = "array", array = 1, storage = 1, dims = { 9 } } },
      { ranges = { { 1, 9 } }, ordered = true }))
    assert.are.equal("run it serially: meissa.each(..., {serial = true}, ...)",
      plan.reasons[1].fixes[1])
  end)

  it("show of a very long line what matters", function()
    local text = text_of("for i in parallel(9) do " .. ("local x = i; "):rep(30) ..
      "A[i + 1] = A[i]" .. ("local x = i; "):rep(30) .. " end", { A = shape(10) })
    local shown = ("local x = i; "):rep(30):sub(-40) .. "A[i + 1] = A[i]" ..
      ("local x = i; "):rep(30):sub(1, 105)
    assert.are.equal("  1 | " .. shown, text:match("\n([^\n]*)"))
    assert.are.equal((" "):rep(46) .. "^^^^^^^^ iteration 1 writes A[2]      ^^^^ iteration 2 " ..
      "reads A[2]: distance 1, every iteration", text:match("\n[^\n]*\n([^\n]*)"))
    -- A mark that covers more than is shown ends with it.
    text = text_of("for i in parallel(9) do s = s + A[i]" .. (" + 1"):rep(800) .. " end",
      { A = shape(9) })
    for line in text:gmatch("[^\n]+") do assert.is_true(#line < 300, line) end
  end)

  it("do without the source", function()
    local plan = analyze.analyze("for i in parallel(9) do A[i + 1] = A[i] end", { A = shape(10) })
    plan.text = nil
    assert.are.equal(lines(
      "text:1: loop over i is not parallel [DEP101 carried dependence]",
      "  line 1: A[i + 1] iteration 1 writes A[2]; A[i] iteration 2 reads A[2]: " ..
        "distance 1, every iteration",
      "  run it serially:  parallel(9, {serial = true})        " ..
        "if old values are fine:  local old = A:snapshot()  ... old[i]"), report.text(plan))
  end)
end)

describe("plan tables", function()
  it("have the shape that the manual shows", function()
    local plan = analyze.analyze("for i in parallel({1,9}) do A[i+3] = A[i] end", { A = shape(12) },
      { ordered = false })
    assert.are.equal("serial", plan.verdict)
    assert.are.equal("serial", plan.strategy)
    assert.are.same({ { 3 } }, plan.distances)
    assert.are.equal("read+write", plan.arrays.A.access)
    local reason = plan.reasons[1]
    assert.are.equal("DEP101", reason.code)
    assert.are.same({ from = { 1 }, to = { 4 } }, reason.witness)
    assert.are.same({ 1, 29, 35, "A[i+3]", "writes A[4]" }, { reason.first.line,
      reason.first.column, reason.first.end_column, reason.first.text, reason.first.does })
    assert.are.equal("iteration 1 writes A[4] and iteration 4 reads A[4]: " ..
      "distance 3, every iteration", reason.message)
    assert.are.equal(2, #reason.fixes)
    assert.are.equal("userdata", type(plan.handle))
  end)
end)

describe("bad input", function()
  local function loop_of(text)
    return assert(core.loop(text, "=text"))
  end

  it("of texts gives errors with a place", function()
    local loop, problem = core.loop("each(n, function(i) A[i] = i & 3 end)", "=text", 1, 1)
    assert.is_nil(loop)
    assert.is_truthy(problem.message:find("'&', which this LuaJIT reads", 1, true))
    assert.equal(1, problem.line)
    loop, problem = core.loop("for i in parallel(", "=text")
    assert.is_nil(loop)
    assert.are.equal("SRC", problem.code)
    loop, problem = core.loop("return 1", "=text")
    assert.is_nil(loop)
    assert.are.equal("SRC", problem.code)
    for _, bad in ipairs { "x = 1", "for i in parallel() do end", "for i in parallel('x') do end",
      "for i in parallel({}) do end", "for i in parallel({1, 2, 0}) do end", "for i in",
      "for i in parallel(1.5) do end", "for i in parallel(9, {foo = 1}) do end",
      "error('no')\nfor i in parallel(9) do end" } do
      local ok, err = pcall(analyze.analyze, bad)
      assert.is_false(ok)
      assert.is_truthy(err.code == "SRC" or err.code == "OPT", tostring(err))
    end
  end)

  it("of bindings raises, and leaves nothing behind", function()
    local loop = loop_of("for i in parallel(9) do A[i] = n end")
    local good = { { kind = "array", array = 1, storage = 1, dims = { 9 } },
      { kind = "number", number = 2 } }
    local space = { ranges = { { 1, 9, 1 } } }
    assert.is_truthy(core.plan(loop, good, space))
    local bads = {
      {}, { good[1] }, { good[1], {} }, { good[1], { kind = "what" } }, { good[1], 7 },
      { { kind = "array" }, good[2] }, { { kind = "array", dims = {} }, good[2] },
      { { kind = "array", dims = { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, good[2] },
      { { kind = "array", dims = { "x" } }, good[2] },
      { { kind = "array", dims = { 2.5 } }, good[2] },
      { good[1], { kind = "number", depth = -1 } },
      { good[1], { kind = "function", reached = { 0 } } },
      { good[1], { kind = "function", reached = { "x" } } },
      { good[1], { kind = "function", reached = { 99 } } },
      { good[1], { kind = "function", code = 1 } },
      { good[1], { kind = "function", code = loop, means = { 1, 0 } } },
      { good[1], { kind = "function", code = loop, means = { 1, 0, 2, 1 } } },
      { good[1], { kind = "table", fields = { "a", 9 } } },
      { good[1], { kind = "table", fields = { 1, 1 } } },
      { good[1], { kind = "table", fields = { "a", -1 } } },
      { good[1], { kind = "number", number = {} } },
      { good[1], { kind = "array", array = 0 / 0, dims = { 1 } } },
    }
    for k, bad in ipairs(bads) do
      assert.is_false(pcall(core.plan, loop, bad, space), "bindings " .. k)
    end
    local spaces = { {}, { ranges = {} }, { ranges = { 1 } }, { ranges = { {} } },
      { ranges = { { 1, 2.5 } } }, { ranges = { { 1, 9 } }, collapse = 0 },
      { ranges = { { 1, 9 } }, collapse = 1e30 }, { ranges = { { 1, 9 } }, source = 3 },
      { ranges = { { 1 / 0, 2 } } }, { ranges = { { "a", "b" } } } }
    for k, bad in ipairs(spaces) do
      assert.is_false(pcall(core.plan, loop, good, bad), "space " .. k)
    end
    local plan, problem = core.plan(loop, good, { ranges = { { 1, 9, 0 } } })
    assert.is_nil(plan)
    assert.are.equal("OPT", problem.code)
    plan, problem = core.plan(loop, { good[1], { kind = "number", depth = 1 } }, space)
    assert.is_nil(plan)
    assert.are.equal("BUG", problem.code)
    assert.is_false(pcall(core.plan, io.stdout, good, space))
    assert.is_false(pcall(loop.captures, io.stdout))
  end)

  it("of shapes is refused", function()
    for _, bad in ipairs { {}, { -1 }, { 1.5 }, { "x" }, { 1, { spars = true } },
      { 1, 2, 3, 4, 5, 6, 7, 8, 9 } } do
      assert.is_false(pcall(shape, unpack(bad)))
    end
    assert.is_false(pcall(function() return shape(3)[1] end))
  end)

  it("of enormous bodies ends in an answer", function()
    local body = {}
    for k = 1, 400 do body[k] = ("A[%d*i + %d] = A[i + %d]"):format(k % 7, k, k * 2) end
    local start = os.clock()
    local plan = analyze.analyze("for i in parallel(1000) do\n" .. table.concat(body, "\n") ..
      "\nend", { A = shape(10000) })
    assert.are.equal("serial", plan.strategy)
    assert.is_true(os.clock() - start < 10)
    local deep = ("("):rep(150) .. "i" .. (")"):rep(150)
    plan = analyze.analyze("for i in parallel(9) do A[" .. deep .. "] = 1 end", { A = shape(9) })
    assert.are.equal("independent", plan.strategy)
    local sum = "i" .. (" + 0"):rep(700)
    local wide = analyze.analyze("for i in parallel(9) do A[" .. sum .. "] = 1 end",
      { A = shape(9) })
    assert.are_not.equal("serial", wide.verdict)
  end)
end)

describe("loops", function()
  it("say what they capture", function()
    local loop = core.loop("local a = 1\nfor i, j in parallel(n) do\n" ..
      "  opts.W[i] = a\n  s = s + 1\nend",
      "=text")
    assert.are.same({ "i", "j" }, loop:indices())
    local found = {}
    for k, capture in ipairs(loop:captures()) do
      found[k] = ("%s %s %s %s %d:%d"):format(capture.root, table.concat(capture.fields, "."),
        capture.reach, tostring(capture.assigned), capture.line, capture.column)
    end
    table.sort(found)
    assert.are.same({ "a  local false 3:15", "opts W global false 3:3", "s  global true 4:3" },
      found)
    local info = loop:info()
    assert.are.same({ 2, 2, 5, 3 }, { info.line, info.first_line, info.last_line,
      info.body_first_line })
  end)
end)
