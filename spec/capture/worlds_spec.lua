-- SPDX-License-Identifier: MIT
local programs = require "spec.support.compare_programs"

describe("programs that change libraries and load modules", function()
  programs.test("worlds", it)
end)
