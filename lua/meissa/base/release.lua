-- SPDX-License-Identifier: MIT
--- The version of the module: the newest one that CHANGELOG.md tells of.
-- @module meissa.base.release

return "0.1.0"
