/* SPDX-License-Identifier: MIT
 *
 * MS_API marks the functions that LuaJIT's FFI calls by name; everything else stays hidden.
 * MS_API_TYPE marks structures that it knows, beside those that these functions mention:
 * `typedef struct MS_API_TYPE x`. tools/declarations.lua collects both. */
#ifndef MS_BASE_API_H
#define MS_BASE_API_H

#ifndef MS_API
#define MS_API __attribute__((visibility("default")))
#define MS_API_TYPE
#endif

#endif
