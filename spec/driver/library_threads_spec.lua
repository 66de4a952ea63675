-- SPDX-License-Identifier: MIT
--
-- How many threads libraries in workers are told to use.
local child = require "spec.support.child"

-- What a worker and the driver see of the variables.
local SCRIPT = [[
  local meissa, parallel = require "meissa", require("meissa").parallel
  meissa.init {workers = 2}
  local names = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}
  local seen = meissa.objects(2)
  for i in parallel(2) do
    local own = {}
    for k = 1, 3 do own[k] = os.getenv(names[k]) or "none" end
    seen[i] = own
  end
  for i = 1, 2 do io.write(table.concat(seen[i], " "), "\n") end
  for k = 1, 3 do io.write(os.getenv(names[k]) or "none", " ") end
]]

local function run(env)
  return (child.script(SCRIPT, {env = "env -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS " ..
    "-u MKL_NUM_THREADS " .. env}))
end

describe("The threads of workers' libraries", function()
  it("are one", function()
    assert.equal("1 1 1\n1 1 1\nnone none none ", run "")
  end)

  it("are what the user says", function()
    assert.equal("1 4 1\n1 4 1\nnone 4 none ", run "OPENBLAS_NUM_THREADS=4")
    assert.equal("3  2\n3  2\n3  2 ",
      run "OMP_NUM_THREADS=3 OPENBLAS_NUM_THREADS= MKL_NUM_THREADS=2")
  end)
end)
