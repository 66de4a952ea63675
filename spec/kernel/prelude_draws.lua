-- SPDX-License-Identifier: MIT
--- Random numbers of the prelude that native kernels begin with, for spec/kernel/prelude_spec.lua:
-- they are those of the core, in whatever way they are drawn.
local c_core = require "meissa.base.c_core"
local ffi = require "ffi"
local random = require "meissa.kernel.random"
local bit = require "bit"

local M = {}

--- C text in front of what is exported.
M.declared = "static ms_ahead ahead; static ms_drawing drawing; static int dims;"

--- Exports functions, by export(declaration, body).
function M.export(export)
  export("void spec_draws_begin(ms_draws *draws, int dims, const double *index)",
    "ms_draws_begin(draws, dims, index);")
  export("double spec_draw_unit(ms_draws *draws)", "return ms_draw_unit(ms_draws_next(draws));")
  export("double spec_draw_normal(ms_draws *draws)",
    "return ms_draw_normal(ms_draws_next(draws), draws);")
  export("double spec_draw_whole(ms_draws *draws, double lo, double hi)",
    "return ms_draw_whole(ms_draw_unit(ms_draws_next(draws)), lo, hi);")
  export("void spec_ahead_new(const ms_draws *place, int given)",
    "dims = given; drawing = ms_ahead_new(&ahead, place, dims);")
  export("void spec_ahead_begin(const double *index)",
    "ms_ahead_begin(&ahead, &drawing, dims, index);")
  export("double spec_ahead_unit(void)",
    "return ms_draw_unit(ms_ahead_next(&ahead, &drawing, dims));")
  export("double spec_ahead_normal(void)",
    "return ms_draw_normal(ms_ahead_next(&ahead, &drawing, dims), &ahead.place);")
  export("void spec_batch(const ms_draws *place, int given, const double *index, double step, "
    .. "uint32_t draw, int64_t count, int units, double *out)",
    "ms_batch batch = ms_batch_new(place); ms_batch_begin(&batch, given, index, step); "
    .. "for (int64_t k = 0; k < count; k += MS_BATCH, ms_batch_advance(&batch, MS_BATCH)) "
    .. "ms_batch_draw(&batch, draw, ms_whole_least(count - k, MS_BATCH), units, out + k);")
end

-- A record of draws.
local function place(seed, ordinal)
  local own = ffi.new("ms_draws")
  own.seed, own.ordinal, own.normal = seed, ordinal, c_core.lib.ms_random_normal_pieces()
  return own
end

local function equal(want, got)
  if got ~= want then error(("%.17g, not %.17g"):format(got, want), 2) end
end

local checks = {}

--- What a library of these functions is to fulfil, by the words for it: functions of it.
M.checks = checks

checks["draws what meissa.random and meissa.normal draw"] = function(library)
  local own = place(5, 3)
  local before = random.open { seed = 5, ordinal = 3 }
  local index = ffi.new("double[3]")
  for i = -2, 2 do
    for j = 1, 3 do
      index[0], index[1], index[2] = i, j, 2 ^ 31 * i
      library.spec_draws_begin(own, 3, index)
      random.at(i, j, 2 ^ 31 * i)
      for _ = 1, 4 do
        equal(random.random(), library.spec_draw_unit(own))
        equal(random.normal(), library.spec_draw_normal(own))
        equal(random.random(-3, 90), library.spec_draw_whole(own, -3, 90))
      end
      if j == 3 then -- the same indices again: the numbers go on
        library.spec_draws_begin(own, 3, index)
        random.at(i, j, 2 ^ 31 * i)
        equal(random.random(), library.spec_draw_unit(own))
      end
    end
  end
  random.close(before)
end

-- Indices that go on by a step, turn, stand still and leap; iterations that draw as often as
-- the last one, and others.
checks["draws the same ahead"] = function(library)
  math.randomseed(4)
  for dims = 1, 3 do
    local index, at = ffi.new("double[3]"), { 1, 1, 1 }
    local before = random.open { seed = 7, ordinal = dims }
    local step, count = 1, 1
    library.spec_ahead_new(place(7, dims), dims)
    for iteration = 1, 700 do
      if math.random(20) == 1 then step = math.random(-2, 2) end
      if math.random(30) == 1 then count = ({ 0, 1, 2, 7, 8, 9, 30 })[math.random(7)] end
      at[dims] = at[dims] + step
      if math.random(25) == 1 then at[1] = math.random(2 ^ 31) - 2 ^ 30 end
      for d = 1, dims do index[d - 1] = at[d] end
      library.spec_ahead_begin(index)
      random.at(unpack(at, 1, dims))
      for _ = 1, math.random(8) == 1 and math.random(0, 40) or count do
        local normal = math.random(2) == 1
        local want = normal and random.normal() or random.random()
        local got = normal and library.spec_ahead_normal() or library.spec_ahead_unit()
        if got ~= want then
          error(("iteration %d: %.17g, not %.17g"):format(iteration, got, want))
        end
      end
    end
    random.close(before)
  end
end

-- Draws of many iterations at once, along each of some dimensions.
checks["draws the same for many iterations"] = function(library)
  math.randomseed(5)
  local room = ffi.new("double[400]")
  local words = ffi.cast("uint64_t *", room)
  for _ = 1, 60 do
    local dims, step, count = math.random(3), math.random(-3, 3), math.random(300)
    local draw, index, at = math.random(0, 5), ffi.new("double[3]"), {}
    for d = 1, dims do
      at[d] = math.random(2 ^ 31) - 2 ^ 30
      index[d - 1] = at[d]
    end
    local units = math.random(2) == 1
    library.spec_batch(place(7, dims), dims, index, step, draw, count, units and 1 or 0, room)
    local before = random.open { seed = 7, ordinal = dims }
    for k = 0, count - 1 do
      random.restart(unpack(at, 1, dims))
      for _ = 1, draw do random.random() end
      local want = random.random()
      local got = units and room[k] or tonumber(bit.rshift(words[k], 11)) * 2 ^ -53
      if got ~= want then error(("draw %d: %.17g, not %.17g"):format(k, got, want)) end
      at[dims] = at[dims] + step
    end
    random.close(before)
  end
end

return M
