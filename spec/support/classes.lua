-- SPDX-License-Identifier: MIT
--- Loops of every class, run one after the other: prints for each its name, the plan's strategy, a
-- digest of all arrays, and the scalars.
--   luajit classes.lua plain|meissa [loops.jsonl]
-- With a file the loops are its rows instead, each ordered and unordered.
local meissa = require "meissa"
local plain = require "spec.support.plain"
local known_loops = require "spec.support.known_loops"
local loops = require "spec.support.loops"

local is_plain, file = arg[1] == "plain", arg[2]

local function report(case, env)
  local arrays, numbers = plain.image(env)
  local strategy = is_plain and "-" or meissa.last().strategy
  print(("%s\t%s\t%s\t%s"):format(case.name, strategy, arrays, numbers))
end

local function run(case)
  local env = case.world(meissa)
  if is_plain then
    plain.run(case.text, env, plain.parallel)
  elseif not case.serial then
    plain.run(case.text, env, meissa.parallel)
  end
  if not case.serial then report(case, env) end
end

for _, case in ipairs(file and known_loops.of_file(file) or loops.list) do run(case) end
