/* SPDX-License-Identifier: MIT
 *
 * Stands first in a native kernel in fast mode (prelude.h). */
#define MS_FAST 1
