/* SPDX-License-Identifier: MIT
 *
 * Digest: a 128-bit name for a text (FNV-1a), for caches. Not for secrets. Thread safe. */
#ifndef MS_BASE_DIGEST_H
#define MS_BASE_DIGEST_H

#include <stddef.h>

/* Hexadecimal digits of a digest. */
#define MS_DIGEST_SIZE 32

/* Writes the digest of `length` bytes as a terminated string. */
void ms_digest(const char *bytes, size_t length, char hex[MS_DIGEST_SIZE + 1]);

#endif
