-- SPDX-License-Identifier: MIT
--- A loop that writes a vector: the same on the Lua engine and on the one that is to run it.
local assert = require "luassert"
local meissa = require "meissa"

--- Fails unless it is.
-- @string engine that is to run it @func loop loop(options) runs it @tab v the vector
return function(engine, loop, v)
  local images = {}
  for n, options in ipairs { { engine = "lua" }, engine == "native" and { engine = engine } or
    {} } do
    v:fill(0)
    loop(options)
    images[n] = v:totable()
  end
  assert.same(images[1], images[2])
  assert.equal(engine, meissa.last().engine)
end
