-- SPDX-License-Identifier: MIT
--- The median of a list, which it sorts, by `less` if that is given; of an even number of figures
-- the lesser of the two.
return function(list, less)
  table.sort(list, less)
  return list[math.ceil(#list / 2)]
end
