/* SPDX-License-Identifier: MIT
 *
 * Shown: bytes of a user's file as a message may print them. A pure function. */
#ifndef MS_BASE_SHOWN_H
#define MS_BASE_SHOWN_H

#include <stddef.h>

/* Room that is enough for any piece of text in a message. */
#define MS_SHOWN_SIZE 128

/* Writes the bytes into `buffer`, terminated, and returns it. Printable ASCII and well-formed UTF-8
 * stay as they are; control characters and other bytes become \xNN, a backslash \\. What would not
 * fit, and what follows the first 40 bytes, is dropped, and "..." says so. */
const char *ms_shown(const char *text, size_t length, char *buffer, size_t size);

#endif
