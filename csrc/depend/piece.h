/* SPDX-License-Identifier: MIT
 *
 * Pieces: values that are one thing or another, depending on affine conditions, as `i > 1 and i - 1
 * or n` is and math.max(1, i - 1).
 *
 * To who knows nothing of pieces such a value is any of them. Each piece is a value without pieces
 * and where it may be that; together they are everywhere where the value is formed. */
#ifndef MS_DEPEND_PIECE_H
#define MS_DEPEND_PIECE_H

#include "depend/walk_state.h"

#define MS_MAX_PIECES 4

/* What is known of pieces that are numbers: the value is the greatest, or the least, of them. */
typedef enum ms_extremity { MS_NOT_EXTREME, MS_GREATEST, MS_LEAST } ms_extremity;

typedef struct ms_piece {
  const ms_guard *when;
  ms_abstract_value value;
} ms_piece;

struct ms_pieces {
  uint32_t count;
  bool exact; /* the value is a piece wherever its guard holds */
  ms_extremity extremity;
  ms_piece piece[MS_MAX_PIECES];
};

/* Pieces while they are collected. */
typedef struct ms_collection {
  ms_walk *walk;
  bool fits;
  ms_pieces all;
} ms_collection;

/* A collection of no pieces yet. */
ms_collection ms_pieces_begin(ms_walk *walk);

/* Adds what a value is where `when` holds; `exact`: it surely is that there. */
void ms_pieces_add(ms_collection *made, const ms_guard *when, const ms_abstract_value *value,
                   bool exact);

/* The value that was collected; false if there were too many pieces, or none. */
bool ms_pieces_end(const ms_collection *made, ms_abstract_value *value);

/* A value's pieces: itself, if it has none. */
ms_pieces ms_pieces_of(const ms_abstract_value *value);

/* Goes to where a piece is the value, and back. */
typedef struct ms_outside_piece {
  const ms_guard *guard;
  bool possible;
} ms_outside_piece;

/* Has the walk know that piece `p` of all holds, until ms_piece_leave. */
ms_outside_piece ms_piece_enter(ms_walk *walk, const ms_pieces *all, uint32_t p);
void ms_piece_leave(ms_walk *walk, const ms_outside_piece *outside);

/* left op right, where one of them has pieces and all are affine numbers; false otherwise. */
bool ms_pieces_operate(ms_walk *walk, ms_op op, const ms_abstract_value *left,
                       const ms_abstract_value *right, ms_abstract_value *value);

/* math.max or math.min of affine numbers; false if they are not. */
bool ms_pieces_extreme(ms_walk *walk, bool greatest, const ms_abstract_value *values,
                       uint32_t count, ms_abstract_value *value);

/* What a function's returns give, while it is walked where it is called. */
struct ms_returns {
  ms_returns *outer;
  uint32_t possible;
  bool known; /* each gives one value, and does so once */
  ms_collection made;
};

/* Begins to collect what a function returns; adds what a return statement gives. */
void ms_returns_begin(ms_walk *walk, ms_returns *returns);
void ms_returns_add(ms_walk *walk, const ms_node *node, const ms_abstract_value *value);

/* At the function's end: what it gives; false if that is not known piece by piece. */
bool ms_returns_end(ms_walk *walk, ms_abstract_value *value);

#endif
