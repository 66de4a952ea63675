-- SPDX-License-Identifier: MIT
local programs = require "spec.support.compare_programs"

describe("programs whose loop makes objects", function() programs.test("objects", it) end)
