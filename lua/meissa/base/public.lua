-- SPDX-License-Identifier: MIT
--- The module's public names, for the rooms below the one that gathers them (init.lua).
-- @module meissa.base.public
local M = {}

--- The module as its users have it; nil where parts of it are used alone.
M.names = nil

return M
