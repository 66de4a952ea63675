/* SPDX-License-Identifier: MIT
 *
 * Variables: captured scalars that a block function assigns. See emitter.h.
 *
 * A reduction begins at its operator's identity, a private scalar without a value. Blocks of
 * several dimensions may run in another order than the loop as written, so there the value of a
 * private scalar that outlives the loop is tracked: it comes with the iteration that gave it. */
#ifndef MS_KERNEL_EMIT_VARIABLE_H
#define MS_KERNEL_EMIT_VARIABLE_H

#include "kernel/emit/emitter.h"

/* Whether capture `at` is a variable of the block function. */
bool ms_variable_is(const ms_emitter *emitter, uint32_t at);

/* Whether the block function returns it. */
bool ms_variable_is_result(const ms_emitter *emitter, uint32_t at);

/* Whether it is returned with the iteration that assigned it last. */
bool ms_variable_is_tracked(const ms_emitter *emitter, uint32_t at);

/* Whether a capture is a reduction that keeps the iteration from which its value is. */
bool ms_variable_is_ranked(const ms_emitter *emitter, uint32_t at);

/* Whether a ranked variable has no value before its first, whose iteration it comes with, too. */
bool ms_variable_has_origin(const ms_emitter *emitter, uint32_t at);

/* Whether it is a list whose elements come with the iterations that appended them. */
bool ms_variable_is_keyed(const ms_emitter *emitter, uint32_t at);

/* The ranked variable that the block of an `if` combines; MS_NO_CAPTURE: none. */
uint32_t ms_variable_ranked_by(ms_emitter *emitter, const ms_node *block);

/* Whether it has a head: what its block took first, apart from what came of it. A reduction that
 * starts without a value must know whether the first one was nan, which nothing replaces; one that
 * another reduction goes before (`elseif`), what that one took only for want of a better
 * (depend/branch_gate.h). */
bool ms_variable_has_head(const ms_emitter *emitter, uint32_t at);

/* Whether such a head is the last of equal ones. */
bool ms_variable_heads_last(const ms_emitter *emitter, uint32_t leader);

/* Whether it leaves a streak in place of a head, or goes with one that does (depend/branch_gate.h).
 */
bool ms_variable_has_streak(const ms_emitter *emitter, uint32_t at);

/* The variable that an `if` adds to the streak of; MS_NO_CAPTURE: none. */
uint32_t ms_variable_streak_of(ms_emitter *emitter, const ms_node *statement);

/* How many of the variables that go with the same leader as variable `at`, the leader included,
 * come before it in the verdict. */
uint32_t ms_variable_streak_rank(const ms_emitter *emitter, uint32_t at);

/* How many variables have a part in the streak of a leader. */
uint32_t ms_variable_streak_members(const ms_emitter *emitter, uint32_t leader);

/* The value that a block of plain assignments gives to a variable that it assigns. */
const ms_node *ms_variable_value(ms_emitter *emitter, const ms_node *block, uint32_t at);

/* The value that leaves a combination unchanged, as Lua text; NULL: none. Of bits it is no value
 * that they can take, so that a block that has combined nothing is known. */
const char *ms_variable_identity(const ms_emitter *emitter, uint32_t at);

/* Calls visit for each captured variable that a block of plain assignments assigns. */
void ms_variable_each_assigned(ms_emitter *emitter, const ms_node *block,
                               void (*visit)(void *context, uint32_t at, const ms_node *value),
                               void *context);

/* Where an `if` takes heads: when its first branch begins, or after all of it. */
typedef enum ms_head { MS_HEAD_NONE, MS_HEAD_BEFORE, MS_HEAD_AFTER } ms_head;
ms_head ms_variable_head_of(ms_emitter *emitter, const ms_node *statement);

/* The capture that decides about what such a block assigns. */
uint32_t ms_variable_leader(ms_emitter *emitter, const ms_node *block);

/* Whether a block must know if the variable is decided when it begins: `s or e` is, if s is true,
 * and e is not evaluated. */
bool ms_variable_is_logic(const ms_emitter *emitter, uint32_t at);

/* Whether a mention of a variable that `or` reduces asks for its value: a block begins without one,
 * which then counts as false. */
bool ms_variable_is_asked(const ms_emitter *emitter, uint32_t at, const ms_node *mention);

/* The variable that a mention of variable `at` asks for: a condition that asks whether what goes
 * with an extreme has a value means the extreme, which has one as soon as the other. */
uint32_t ms_variable_meant(const ms_emitter *emitter, uint32_t at, const ms_node *mention);

/* Adds the declarations before the loops. */
void ms_variables_declare(ms_emitter *emitter, const ms_kernel_info *info);

/* Adds what comes before the body and after it in each iteration. */
void ms_variables_begin(ms_emitter *emitter);
void ms_variables_end(ms_emitter *emitter, const ms_kernel_info *info);

/* Fills info->results: the values, then the heads. */
void ms_variables_results(const ms_emitter *emitter, ms_kernel_info *info);

/* Adds the return statement of these. */
void ms_variables_return(ms_emitter *emitter, ms_kernel_info *info);

#endif
