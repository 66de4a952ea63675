-- SPDX-License-Identifier: MIT
--- Loops of every class, each run some times on equal worlds: prints for each its name, the plan's
-- engine, and what the last run left, to the last bit.
--   luajit engines.lua [rounds]
local meissa = require "meissa"
local plain = require "spec.support.plain"
local loops = require "spec.support.loops"

local rounds = tonumber(arg[1] or 1)

for _, case in ipairs(loops.list) do
  if not case.serial then
    local env
    for _ = 1, rounds do
      env = case.world(meissa)
      plain.run(case.text, env, meissa.parallel)
    end
    local arrays, numbers = plain.image(env)
    print(("%s\t%s\t%s\t%s"):format(case.name, meissa.last().engine, arrays, numbers))
  end
end
