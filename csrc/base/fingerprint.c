/* SPDX-License-Identifier: MIT
 *
 * Fingerprint: see fingerprint.h. Rounds and final mixing as in Collet's xxHash64: four lanes, each
 * step of which can be inverted, so a change of one word cannot be lost. */
#include "base/fingerprint.h"

#include <string.h>

static const uint64_t one = UINT64_C(0x9e3779b185ebca87), two = UINT64_C(0xc2b2ae3d27d4eb4f),
                      three = UINT64_C(0x165667b19e3779f9);

static uint64_t turn(uint64_t x, int by) {
  return x << by | x >> (64 - by);
}

static uint64_t step(uint64_t lane, uint64_t word) {
  return turn(lane + word * two, 31) * one;
}

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 33) * two;
  x = (x ^ x >> 29) * three;
  return x ^ x >> 32;
}

void ms_fingerprint(const void *bytes, size_t size, uint64_t out[2]) {
  const unsigned char *at = bytes;
  uint64_t lane[4] = {one + two, two, 0, (uint64_t)0 - one};
  size_t left = size;
  for (; left >= sizeof lane; left -= sizeof lane, at += sizeof lane) {
    uint64_t word[4];
    memcpy(word, at, sizeof word);
    for (int k = 0; k < 4; k++) lane[k] = step(lane[k], word[k]);
  }
  uint64_t rest[4] = {0};
  if (left > 0) memcpy(rest, at, left);
  for (int k = 0; k < 4; k++) lane[k] = step(lane[k], rest[k]);
  out[0] = mix(lane[0] + turn(lane[1], 7) + turn(lane[2], 12) + turn(lane[3], 18) + size);
  out[1] = mix(out[0] ^ step(step(step(step(size, lane[3]), lane[2]), lane[1]), lane[0]));
}
