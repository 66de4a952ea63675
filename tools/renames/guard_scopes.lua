-- SPDX-License-Identifier: MIT
--
-- Frames are messages', and calls'; what guards of machine code hold in is a scope.

local RENAMES = {}
for _, each in ipairs {{"frame", "scope"}, {"frames", "scopes"}, {"MS_FRAMES", "MS_SCOPES"},
                       {"ms_guard_frame", "ms_guard_scope"}} do
  each.within = {"csrc/kernel/native"}
  RENAMES[#RENAMES + 1] = each
end

return {words = RENAMES}
