/* SPDX-License-Identifier: MIT
 *
 * MS_API marks the functions that LuaJIT's FFI calls by name; everything else stays hidden. */
#ifndef MS_BASE_API_H
#define MS_BASE_API_H

#define MS_API __attribute__((visibility("default")))

#endif
