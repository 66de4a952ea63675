/* SPDX-License-Identifier: MIT
 *
 * Digest: see digest.h. Fowler, Noll and Vo's FNV-1a with its 128-bit prime and offset basis. */
#include "base/digest.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

__extension__ typedef unsigned __int128 wide;

void ms_digest(const char *bytes, size_t length, char hex[MS_DIGEST_SIZE + 1]) {
  const wide prime = ((wide)1 << 88) + 0x13b;
  wide hash = ((wide)UINT64_C(0x6c62272e07bb0142) << 64) + UINT64_C(0x62b821756295c58d);
  for (size_t b = 0; b < length; b++) {
    hash ^= (unsigned char)bytes[b];
    hash *= prime;
  }
  snprintf(hex, MS_DIGEST_SIZE + 1, "%016" PRIx64 "%016" PRIx64, (uint64_t)(hash >> 64),
           (uint64_t)hash);
}
