-- SPDX-License-Identifier: MIT
-- time limit: 300 s
local programs = require "spec.support.compare_programs"

describe("programs whose loop makes objects", function() programs.test("objects", it) end)
