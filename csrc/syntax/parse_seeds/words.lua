#!shebang
-- line --[[ comment
--[==[ long ]] comment ]==] local s = 'a\n\065\x41\u{48}\z
  b\'' .. "\\" .. [[

x]] .. [=[]]]=]
local n = {0x7fp-2, 1e+10, .5, 3., 0xA.8P0, 1LL, 2ULL, 0xffull, 4i, 1e308}
