-- SPDX-License-Identifier: MIT
-- time limit: 300 s
local programs = require "spec.support.compare_programs"

describe("programs that change libraries and load modules", function()
  programs.test("worlds", it)
end)
