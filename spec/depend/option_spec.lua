-- SPDX-License-Identifier: MIT
--
-- Fixes that set an option: code that is valid where the loop stands. Each is applied, and the loop
-- then runs as the plain one.
local meissa = require "meissa"
local parallel = meissa.parallel

-- A loop that is refused, over `call`, behind lines that say what its names are.
local function program(call, before)
  local names = call:find("9, 9", 1, true) and "i, j" or "i"
  return ([[
local meissa, A, S, ranges = ...
local parallel, opts, model = meissa.parallel, {ordered = true}, {opts = {{ordered = true}}}
local unset
local function chosen() return opts end
%s
for %s in %s do A[i + 1] = A[i] + 1 end]]):format(before or "", names, call)
end

local function run(text)
  local A, S = meissa.zeros(12), meissa.sparse({9}, {i = {1, 2, 3, 4, 5, 6, 7, 8, 9}})
  local ok, err = pcall(assert(loadstring(text)), meissa, A, S, {9, {check = false}})
  return ok, ok and A or tostring(err)
end

local function fix_of(message)
  return message:match("run it serially:  (.-)        ") or
    message:match("run it serially:  ([^\n]*)")
end

-- Each call, what to write instead, and what to write before it.
local CALLS = {
  {"parallel(9)", "parallel(9, {serial = true})"},
  {"parallel({1, 9})", "parallel({1, 9}, {serial = true})"},
  {"parallel(9, {})", "parallel(9, {serial = true})"},
  {"parallel(9, {serial = false})", "parallel(9, {serial = true})"},
  {"parallel(9, {['serial'] = false; collapse = 1})", "parallel(9, {serial = true, collapse = 1})"},
  {"meissa.parallel(9, {grid = {4},})", "meissa.parallel(9, {serial = true, grid = {4}})"},
  {"parallel(9, 9, {ordered = true})", "parallel(9, 9, {serial = true, ordered = true})"},
  {"parallel(S, nil)", "parallel(S, {serial = true})"},
  {"parallel(S, unset)", "parallel(S, {serial = true})"},
  {"parallel(S, model.unset)", "parallel(S, {serial = true})"},
  {"parallel(9, opts)", nil, "opts.serial = true"},
  {"parallel(9, 9, opts)", nil, "opts.serial = true"},
  {"parallel(S, opts)", nil, "opts.serial = true"},
  {"parallel({1, 9}, model.opts[1])", nil, "model.opts[1].serial = true"},
  {"parallel(unpack(ranges))", "parallel(unpack(ranges), {serial = true})"},
}

describe("a fix that sets an option", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  for _, each in ipairs(CALLS) do
    local call, instead, before = unpack(each, 1, 3)
    it("of " .. call .. " is valid", function()
      local ok, message = run(program(call))
      assert.is_false(ok)
      assert.equal(instead or before, fix_of(message))
      local fixed, A = run(program(instead or call, before))
      assert.is_true(fixed, A)
      assert.equal(9, A[10])
    end)
  end

  it("says no code where none would be", function()
    for _, call in ipairs {"parallel(9, chosen())", "parallel(9, opts or {})"} do
      local _, message = run(program(call))
      assert.equal("serial = true in the options", fix_of(message))
    end
    local _, message = run(program("parallel(unpack({9, 9}))"):gsub("for i in", "for i, j in"))
    assert.equal("serial = true in the options", fix_of(message))
  end)

  it("leaves out what else stands in a call over several lines", function()
    local _, message = run(program("parallel(9, {ordered =\ntrue})"))
    assert.equal("parallel(..., {serial = true, ...})", fix_of(message))
    _, message = run(program("parallel(9 +\n0)"))
    assert.equal("parallel(..., {serial = true})", fix_of(message))
  end)

  it("is none of those that loops over replicas do not have", function()
    local opts, n, sum = {impure = false}, 8, meissa.zeros(9)
    local S = meissa.sparse({9, 9}, {i = {1, 2, 3}, j = {1, 1, 2}})
    local r = meissa.replicate(meissa.zeros(3), {replicas = 2, every = 2})
    local refused = {
      function() for _ in parallel(n) do sum[1] = sum[1] + r[1] end end,
      function() for _, _ in parallel(3, n) do sum[1] = sum[1] + r[1] end end,
      function() for _, _ in parallel(3, n, opts) do sum[1] = sum[1] + r[1] end end,
      function() for _, _ in parallel(3, n, {check = false}) do sum[1] = sum[1] + r[1] end end,
      function() for i, j in parallel(S) do sum[1] = sum[j] + r[1] + i end end,
    }
    for k, loop in ipairs(refused) do
      local ok, err = pcall(loop)
      assert.is_false(ok)
      assert.truthy(tostring(err):find("DEP10", 1, true), tostring(err))
      assert.is_nil(tostring(err):find("serial", 1, true), k .. ": " .. tostring(err))
    end
    local function order(loop)
      return tostring(select(2, pcall(loop))):match("if their order does not matter:  ([^\n]*)")
    end
    assert.equal("parallel(3, n, {impure = true})", order(function()
      for _, _ in parallel(3, n) do r[1] = r[1] + os.remove("") end
    end))
    assert.equal("parallel(S, {impure = true})", order(function()
      for _, _ in parallel(S) do r[1] = r[1] + os.remove("") end
    end))
    local function count()
      for _, _ in parallel(3, n, opts) do
        os.remove ""
        r[1] = r[1] + 1
      end
    end
    assert.equal("opts.impure = true", order(count))
    opts.impure = true
    count()
    assert.equal(3 * n / 2, r:replica(1)[1])
  end)

  it("is none of those where a body comes to what it may not call", function()
    meissa.init {workers = 1, quiet = true}
    local thread, name, words = coroutine.create(function() end), {"odd"}, {"a"}
    string.odd = function() return thread end -- luacheck: ignore
    local w, A = meissa.zeros(4), meissa.zeros(4)
    local r = meissa.replicate(w, {replicas = 2, every = 1})
    local function call(n) return words[1][name[1]](words[1]) and n end
    local loops = {
      function() for i in parallel(4, {impure = true}) do A[i] = call(i) end end,
      function() for i in parallel(4, {impure = true}) do r[i] = call(i) end end,
      function() for _, i in meissa.iterate(w, 2, {impure = true}) do w[i] = call(i) end end,
    }
    for k, loop in ipairs(loops) do
      local ok, err = pcall(loop)
      assert.is_false(ok)
      assert.truthy(tostring(err):find("Call it by its name", 1, true), tostring(err))
      assert.equal(k == 1, tostring(err):find("or run the loop serially", 1, true) ~= nil, k)
    end
    string.odd = nil -- luacheck: ignore
    local sum = 0
    local ok, err = pcall(function()
      for _, i in meissa.iterate(w, 2, {reduce = "serial"}) do
        sum = sum + 0.1 * w[i]
        w[i] = 1
      end
    end)
    assert.is_false(ok)
    assert.truthy(tostring(err):find("forbids that. Leave the option out$"), tostring(err))
    meissa.init {}
  end)

  it("is that of the options that the loop has now", function()
    local A, S = meissa.zeros(12), meissa.sparse({9}, {i = {1, 2, 3, 4, 5, 6, 7, 8, 9}})
    local function refusal(opts)
      local _, err = pcall(function() for i in parallel(S, opts) do A[i + 1] = A[i] + 1 end end)
      return fix_of(tostring(err))
    end
    for _ = 1, 2 do
      assert.equal("parallel(S, {serial = true})", refusal(nil))
      assert.equal("opts.serial = true", refusal({}))
    end
  end)

  it("of the closure form does so, too", function()
    local A, opts = meissa.zeros(12), {ordered = true}
    local function refusal(fn)
      local _, err = pcall(fn)
      return fix_of(tostring(err))
    end
    assert.equal("meissa.each(..., {serial = true}, ...)", refusal(function()
      meissa.each(9, function(i) A[i + 1] = A[i] end)
    end))
    assert.equal("meissa.each(..., {serial = true, ...}, ...)", refusal(function()
      meissa.each(9, {ordered = true}, function(i) A[i + 1] = A[i] end)
    end))
    local plan = meissa.plan(9, function(i) A[i + 1] = A[i] end)
    assert.equal("meissa.plan(..., {serial = true}, ...)", fix_of(tostring(plan)))
    assert.equal("opts.serial = true", refusal(function()
      meissa.each(9, opts, function(i) A[i + 1] = A[i] end)
    end))
    assert.equal("meissa.each(..., {serial = true}, ...)", refusal(function()
      error(select(2, pcall(meissa.each, 9, opts, function(i) A[i + 1] = A[i] end)), 0)
    end))
  end)

  it("is the same for other options", function()
    local text = "for i, j in parallel(9, 9, %s) do V[i] = V[i] + W[j] W[j] = W[j] + V[i] end"
    local function notice(call)
      local run_text = "local meissa, V, W, opts = ... local parallel = meissa.parallel " ..
        text:format(call)
      assert(loadstring(run_text))(meissa, meissa.ones(9), meissa.ones(9), {ordered = true})
      return tostring(meissa.last())
    end
    assert.truthy(notice("opts"):find("acceptable:  opts.ordered = false", 1, true))
    assert.truthy(notice("{ordered = true, collapse = 1}"):find(
      "acceptable:  parallel(9, 9, {ordered = false, collapse = 1})", 1, true))
  end)
end)
