-- SPDX-License-Identifier: MIT
--
-- Results of blocks that came as one string are combined by C as the Lua rules combine them one by
-- one, bit by bit. MEISSA_TEST_SEED replays a run.

local ffi = require "ffi"
local native = require "meissa.kernel.native"
local result = require "meissa.kernel.result"
local serialize = require "meissa.kernel.serialize"

local seed = require "spec.support.seed"
local RULES = { "+", "*", "min", "max", "and", "or", "private", "group" }
local LEADERS = { "min", "max", "and", "or" }
local WINS = { "beyond", "equal", "unless" }
local OWN_WINS = { ["and"] = { "beyond" }, ["or"] = { "beyond", "equal" } }
local LOGIC = { ["and"] = true, ["or"] = true }
local SPECIAL = { 0, -0.0, 1, -1, math.huge, -math.huge, 0 / 0, 2 ^ 53, 5e-324 }
local NONE, NUMBER, NIL = 0, 1, 4

local function number(pick)
  return pick(2) == 1 and SPECIAL[pick(#SPECIAL)] or (pick() - 0.5) * 10 ^ pick(-20, 20)
end

-- An extreme or the first value at one of so many places, and what is assigned with it at others.
local function add_group(info, pick)
  local begin, count = #info.results, pick(3) + 1
  local leader, op = begin + pick(count), LEADERS[pick(#LEADERS)]
  local wins = OWN_WINS[op] or WINS
  wins = wins[pick(#wins)]
  for n = begin + 1, begin + count do
    info.results[n] = { capture = n, role = "reduction", leader = leader, wins = wins,
      op = n ~= leader and "with" or op, leads = n == leader }
  end
end

local function kernel_info(pick)
  local info = { results = {}, positions = 0 }
  for _ = 1, pick(4) do
    local rule, n = RULES[pick(#RULES)], #info.results + 1
    if rule == "group" then
      add_group(info, pick)
    else
      local wins = OWN_WINS[rule] or WINS
      info.results[n] = { capture = n, role = rule == "private" and rule or "reduction", op = rule,
        wins = wins[pick(#wins)], leader = n }
    end
  end
  return info
end

-- A block's results as bytes; `tags` that a private scalar may get.
local function block_of(info, pick, tags)
  local slots = ffi.new("ms_native_slot[?]", 1 + 2 * #info.results)
  ffi.copy(slots, "\255slots\0\0", 8)
  local taken = pick(3) > 1 -- by what is assigned together
  for n, scalar in ipairs(info.results) do
    local logic = LOGIC[scalar.op]
    local with = scalar.op == "with" or logic and scalar.leads
    local free = scalar.role == "private" or logic and not with
    slots[2 * n - 1].number = number(pick)
    slots[2 * n].whole = free and tags[pick(#tags)] or
      with and (taken and tags[pick(2, #tags - (logic and 1 or 0))] or NONE) or NUMBER
  end
  return ffi.string(slots, ffi.sizeof(slots))
end

-- Equal bits give equal texts, but for the sign of nan, which no operation of Lua's shows.
local function text_of_value(value)
  if value ~= value then return "nan" end
  if value == 0 then return tostring(1 / value) end
  return type(value) == "number" and ("%.17g"):format(value) or tostring(value)
end

-- Whether a reduction's variable that stays as it is is assigned once more shows no more.
local function text_of(info, values, assigned)
  local parts = {}
  for _, each in ipairs(assigned) do
    local text = text_of_value(each.value)
    local stays = info.results[each.capture].role == "reduction" and
      text == text_of_value(values[each.capture])
    if not stays then parts[#parts + 1] = each.capture .. "=" .. text end
  end
  return table.concat(parts, " ")
end

describe("results that came as one string (seed " .. seed .. ")", function()
  it("are combined like those that came one by one", function()
    math.randomseed(seed)
    local pick, combined = math.random, 0
    for round = 1, 500 do
      local info, values, list = kernel_info(pick), {}, {}
      for n, scalar in ipairs(info.results) do
        values[n] = number(pick)
        -- From nil, blocks assign nothing where one asks for `s and ...`.
        local most = scalar.leads and scalar.op == "and" and 4 or 5
        if LOGIC[scalar.op] then values[n] = ({ true, false, 0, "text" })[pick(most)] end
      end
      for b = 1, pick(40) do list[b] = block_of(info, pick, { NONE, NUMBER, 2, 3, NIL }) end
      assert.is_true(result.combines_flat(info))
      local flat = { flat = table.concat(list), blocks = #list }
      assert.is_true(native.is_flat(flat, #info.results))
      local expected = text_of(info, values, result.combine(info, values, list))
      local got = text_of(info, values, result.combine(info, values, flat))
      assert.are.equal(expected, got, "round " .. round)
      if expected ~= "" then combined = combined + 1 end
    end
    assert.is_true(combined > 300)
  end)

  it("may be of either engine, where a worker had no machine code yet", function()
    local info = { results = { { capture = 1, role = "reduction", op = "or", wins = "beyond" } },
      positions = 0 }
    local options = result.options(tostring, function() end)
    local slots = ffi.new("ms_native_slot[3]")
    ffi.copy(slots, "\255slots\0\0", 8)
    local list = { ffi.string(slots, 24) } -- nothing was assigned
    for _, value in ipairs { false, true } do
      list[#list + 1] = serialize.encode({ value, "1", "", nil, "." }, 5, options)
      assert.equal(24, #list[#list])
      local flat = { flat = table.concat(list), blocks = #list }
      assert.is_true(native.is_flat(flat, 1))
      for _, before in ipairs { false, true } do
        local assigned = result.combine(info, { before }, flat)
        assert.are.same(result.combine(info, { before }, list), assigned)
        assert.equal(before or value, assigned[1].value)
      end
    end
  end)

  it("may be what the Lua rules alone combine", function()
    local function info_of(op)
      return { results = { { capture = 1, role = "reduction", op = op, wins = "beyond" } },
        positions = 0 }
    end
    assert.is_false(result.combines_flat(info_of "bit.bor"))
    for _, hindrance in ipairs { "unset", "gate", "tie" } do
      local one = info_of "max"
      one.results[1][hindrance] = 1
      assert.is_false(result.combines_flat(one))
    end
    assert.is_false(result.combines_flat { results = {}, positions = 0 })
    local private = info_of "+"
    private.results[1].role, private.positions = "private", 1
    assert.is_false(result.combines_flat(private))
    -- A sum of what is no number is the Lua rules' error.
    local info = info_of "+"
    local slots = ffi.new("ms_native_slot[3]")
    ffi.copy(slots, "\255slots\0\0", 8)
    slots[2].whole = 2
    local bytes = ffi.string(slots, 24)
    local ok, message = pcall(result.combine, info, { 1 }, { flat = bytes, blocks = 1 })
    local same, expected = pcall(result.combine, info, { 1 }, { bytes })
    assert.is_false(ok or same)
    assert.are.equal(expected, message)
  end)
end)
