/* SPDX-License-Identifier: MIT
 *
 * Writing C in fast mode: what a region touches, which decides its precision. */
#ifndef MS_KERNEL_NATIVE_C_SURVEY_H
#define MS_KERNEL_NATIVE_C_SURVEY_H

#include "kernel/native/writer.h"

/* Whether the loop, or the body's block, `node` computes in float as c_region.h says. Notes in
 * w->info what would be faster. */
bool ms_c_survey_is_single(ms_writer *w, const ms_node *node);

/* Notes in w->info that fast mode computes in float in this line. */
void ms_c_survey_note(ms_writer *w, const ms_node *node);

/* Whether `node`, or what it calls, may write the memory of an array. */
bool ms_c_survey_writes(ms_writer *w, const ms_node *node, uint32_t array);

/* The loop or function around a node. */
const ms_node *ms_c_survey_around(const ms_node *node);

/* Whether `node`, or what is below it, assigns to a variable, but for statements right in the loop
 * or function `home` (NULL: for none). */
bool ms_c_survey_assigns(const ms_node *node, const ms_symbol *symbol, const ms_node *home);

#endif
