-- SPDX-License-Identifier: MIT
--
-- Elements that lie apart are strided; rows and sections that share no memory are disjoint.

local RENAMES = {
  {"ms_row_apart", "ms_row_is_disjoint"},
  {"ms_sections_apart", "ms_sections_disjoin"},
}
for name in ([[dot_double dot_float dot_mixed spread_double spread_float sum_double sum_float
    sum_wide]]):gmatch "%S+" do
  RENAMES[#RENAMES + 1] = {"ms_" .. name .. "_apart", "ms_" .. name .. "_strided"}
end

return {identifiers = RENAMES}
