/* SPDX-License-Identifier: MIT
 *
 * Other arrays in the place of those that a launch was made with.
 *
 * Plans, verdicts and kernels depend on an array's type, extents and strides, on whether it may be
 * written, and on which arrays share memory, but not on where it is. So a loop over an array that
 * shares memory with no other one of the loop runs with any other such array: views, rows and
 * copies that a driver loop takes anew each time. The kernel's slots tell where the arrays are that
 * the launch was made with, but while it runs: the long way uses them, too. */
#ifndef MS_BINDING_LAUNCH_MOVE_H
#define MS_BINDING_LAUNCH_MOVE_H

#include "binding/launch.h"

/* Finds out which captured arrays of a launch, which is made but for that, others may stand for;
 * `pointer` of their homes is set. */
void ms_launch_move_find_homes(ms_launch *of);

/* Whether the value at the top of the stack is an array, or a row of one, that may stand in the
 * place of the one that is captured. `kinds` is the index of a function that gives 1 for an array,
 * 2 for a row. */
bool ms_launch_move(lua_State *L, ms_launch *of, ms_captured_value *each, int kinds);

/* Whether no array that has taken another one's place shares memory with any other. */
bool ms_launch_move_is_apart(const ms_launch *of);

/* Has the kernel work where the arrays are now, and where they were. */
void ms_launch_move_point(const ms_launch *of);
void ms_launch_move_point_home(const ms_launch *of);

#endif
