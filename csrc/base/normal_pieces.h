/* SPDX-License-Identifier: MIT
 *
 * The polynomials of normal.h: one table, constant data. */
#ifndef MS_BASE_NORMAL_PIECES_H
#define MS_BASE_NORMAL_PIECES_H

#include "base/normal.h"

extern const ms_normal ms_normal_pieces;

#endif
