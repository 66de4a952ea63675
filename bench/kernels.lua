-- SPDX-License-Identifier: MIT
--- Kernels: what Meissa makes of a loop's text against C written by hand (bench/kernels.c).
--
-- support/race.lua says what is compared with what, support/loops.lua has the loops.
-- Prints a table and then the same figures as JSON, one object a line.
--   luajit bench/kernels.lua [--loop mf_sgd] [--rank 32] [--numeric fast] [--engine lua]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/support/?.lua;" ..
  package.path
local argparse = require "argparse"
local loops = require "loops"
local race = require "race"

local parser = race.options(argparse("kernels.lua", "Loops against C written by hand."))
parser:option("--ratings", "Entries of sparse arrays."):convert(tonumber):default "1000000"
race.run(loops.list, parser:parse())
