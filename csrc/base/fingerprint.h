/* SPDX-License-Identifier: MIT
 *
 * Fingerprint: 128 bits of an array's contents, to see whether they have changed.
 *
 * Programs write elements through pointers, so a dense array does not know its version. Hashing it
 * takes a small part of the time that sending it takes. Not for secrets. No state. */
#ifndef MS_BASE_FINGERPRINT_H
#define MS_BASE_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/api.h"

/* Writes the fingerprint of `size` bytes. Two contents that differ in 8 aligned bytes only never
 * have the same one; others have with a chance of about 2^-64. */
MS_API void ms_fingerprint(const void *bytes, size_t size, uint64_t out[2]);

#endif
