/* SPDX-License-Identifier: MIT
 *
 * Witness: one concrete pair of iterations that collide, put into words. */
#ifndef MS_DEPEND_WITNESS_H
#define MS_DEPEND_WITNESS_H

#include "depend/explain.h"

/* Fills message, distance, witness and what each place does. -1: out of memory. */
int ms_witness_find(const ms_explainer *explain, const ms_meeting *meeting, ms_reason *reason);

#endif
