-- SPDX-License-Identifier: MIT
--- until_launched(run): calls run(n), n = 1, 2, ..., as often as it takes until a launch has run
-- its loop.
local launches = require "meissa.driver.launch"

return function(run)
  for n = 1, 3000 do
    local before = launches.executions
    run(n)
    if launches.executions > before then return end
  end
  error("no launch in 3000 executions")
end
