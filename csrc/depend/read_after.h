/* SPDX-License-Identifier: MIT
 *
 * Reads after the loop: whether anything needs the value that a variable has when the loop is over.
 */
#ifndef MS_DEPEND_READ_AFTER_H
#define MS_DEPEND_READ_AFTER_H

#include "syntax/loop.h"

/* Whether the variable that a capture names is read outside of the loop's body at a place that
 * can run after the loop, before it is given another value. Globals: in this chunk; other chunks
 * are not seen. */
bool ms_capture_is_read_after(const ms_loop *loop, const ms_capture *capture);

#endif
