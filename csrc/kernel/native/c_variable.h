/* SPDX-License-Identifier: MIT
 *
 * Writing C: captured scalars. Those that the body only reads are parameters of the block's
 * function; those that it assigns are variables of it, which a block begins with the identity of
 * their operation, and gives to the driver as its results when it ends. */
#ifndef MS_KERNEL_NATIVE_C_VARIABLE_H
#define MS_KERNEL_NATIVE_C_VARIABLE_H

#include "kernel/native/writer.h"

/* The variable that a captured scalar is. */
const char *ms_c_variable(ms_writer *w, uint32_t capture);

/* The name of captured number or boolean `capture` as a parameter. */
const char *ms_c_variable_captured(ms_writer *w, uint32_t capture);

/* Appends `t[key] = value` for the table `t` that a slice is; both texts are of MS_FORM_VALUE. */
void ms_c_variable_slice(ms_writer *w, uint32_t capture, const char *key, const char *value,
                         const ms_node *place);

/* Appends the variables' declarations, for the beginning of a block. */
void ms_c_variables_declare(ms_writer *w);

/* Appends an assignment that counts, and says so: of a sum to which the body adds nothing but whole
 * numbers, which is an integer. */
bool ms_c_variable_step(ms_writer *w, const ms_node *assign);

/* Appends what begins an iteration: nothing is assigned yet to variables whose last one counts. */
void ms_c_variables_begin(ms_writer *w);

/* Appends the end of an iteration: variables that it has assigned get its number. */
void ms_c_variables_end(ms_writer *w);

/* Appends the results of a block that has run. */
void ms_c_variables_give(ms_writer *w);

/* Appends what frees the variables' memory where a block has stopped, without results. */
void ms_c_variables_stop(ms_writer *w);

#endif
