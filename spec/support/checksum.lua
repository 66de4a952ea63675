-- SPDX-License-Identifier: MIT
--
-- The footer that ends Meissa's own files, made anew: so that what reads them meets a change of
-- their bytes, and not the checksum.
local bit = require "bit"

local M = {}

local FOOTER = 16

local crcs = {}
for byte = 0, 255 do
  local crc = byte
  for _ = 1, 8 do
    crc = bit.bxor(bit.rshift(crc, 1), bit.band(crc, 1) == 1 and 0xedb88320 or 0)
  end
  crcs[byte] = crc
end

--- CRC-32 as zlib's.
function M.crc32(text)
  local crc = -1
  for k = 1, #text do
    crc = bit.bxor(crcs[bit.band(bit.bxor(crc, text:byte(k)), 255)], bit.rshift(crc, 8))
  end
  return bit.bnot(crc)
end

local function little_endian(number)
  return string.char(bit.band(number, 255), bit.band(bit.rshift(number, 8), 255),
    bit.band(bit.rshift(number, 16), 255), bit.rshift(number, 24))
end

--- Contents with the footer that goes with them.
function M.close(content)
  local crc = M.crc32(content)
  return content .. "MEISSACR" .. little_endian(crc) .. little_endian(bit.bnot(crc))
end

--- The contents before a file's footer.
function M.open(text)
  return text:sub(1, -FOOTER - 1)
end

return M
