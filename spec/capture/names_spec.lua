-- SPDX-License-Identifier: MIT
local programs = require "spec.support.compare_programs"

describe("programs with two names for everything", function() programs.test("names", it) end)
