-- SPDX-License-Identifier: MIT
--- A module that keeps math.random under a name of its own, as programs' do.
local random = math.random
local M = {}

function M.draw() return random() end

return M
