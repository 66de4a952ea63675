-- SPDX-License-Identifier: MIT
--
-- Tables that a body makes, and what it puts there of captured data: of a list of strings come
-- strings, which lead to no table from outside, as keys and as values. Compared with plain loops.
local meissa = require "meissa"
local plain = require "spec.support.plain"

local N = 12

local HEAD = [[
local parallel, A, N = ...
local tags, nested, mixed = {"a", "b", "c"}, {{"a"}, {"b"}}, {"a", {n = 1}}
local first = nested[1]
local keyed = {[first] = 1}
local records = {{tag = "a", n = 1}, {tag = "b", n = 2}}
local function new(o) return {n = o.n, tag = o.tag or "none"} end
for i in parallel(N) do local best = {} BODY end
return nested[1].n, mixed[2].n, records[1].n, #tags
]]

local function run(body, parallel)
  local A = meissa.zeros(N)
  local chunk = assert(loadstring((HEAD:gsub("BODY", function() return body end))))
  local ok, err = pcall(function() return { chunk(parallel, A, N) } end)
  return ok and { err, A:totable() } or err
end

describe("tables of a body's own", function()
  local fine = {
    ["keyed by a list's elements"] = [=[
      best.x = {} best.x[tags[i % 3 + 1]] = i best.x.b = i A[i] = best.x.a or best.x.b]=],
    ["keyed by ipairs of a list"] = [=[
      for t = 1, 3 do best[t] = {} for _, tag in ipairs(tags) do best[t][tag] = t * i end end
      A[i] = best[2].c]=],
    ["keyed by pairs of a list"] = [=[
      for t = 1, 3 do best[t] = {} for k, tag in pairs(tags) do best[t][tag] = k * i end end
      A[i] = best[3].b]=],
    ["keyed by fields of records"] = [=[
      for k, r in ipairs(records) do
        best[r.tag] = best[r.tag] or {n = 0}
        best[r.tag].n = best[r.tag].n + k * i
      end
      A[i] = best.a.n + best.b.n]=],
    ["with fields of records"] = [=[
      local o = new(records[i % 2 + 1]) best.o = o best.o.n = best.o.n + i A[i] = o.n]=],
  }
  for what, body in pairs(fine) do
    it("may be " .. what, function()
      local expected = run(body, plain.parallel)
      assert.is_table(expected[2], tostring(expected))
      assert.same(expected, run(body, meissa.parallel))
    end)
  end

  local refused = {
    ["tables of a list"] = "best[1] = nested[1] best[1].n = i",
    ["tables of a list, by ipairs"] = "for _, t in ipairs(nested) do best.t = t best.t.n = i end",
    ["tables of a list, as keys"] = "best[nested[1]] = 1 for k in pairs(best) do k.n = i end",
    ["tables among strings"] = "for _, t in ipairs(mixed) do best.t = t end best.t.n = i",
    ["keys of a table"] = "for k in pairs(keyed) do best.t = k best.t.n = i end",
    ["records"] = "best.r = records[1] best.r.n = i",
    ["records, by pairs"] = "for _, r in pairs(records) do best.r = r end best.r.n = i",
  }
  for what, body in pairs(refused) do
    it("may not be written into once they may be " .. what, function()
      local err = run(body, meissa.parallel)
      assert.equal("DEP", err.code)
      assert.truthy(tostring(err):find("DEP107", 1, true), tostring(err))
    end)
  end
end)
