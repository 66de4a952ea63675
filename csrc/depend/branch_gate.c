/* SPDX-License-Identifier: MIT
 *
 * Gates of branches: see branch_gate.h. */
#include "depend/branch_gate.h"

#include <string.h>

static bool is_one_line(const ms_tally *all, const ms_node *node) {
  return memchr(all->loop->tree->text + node->begin, '\n', node->end - node->begin) == NULL;
}

/* What the block gives may be evaluated twice, and written again on another line. */
static bool gives_steadily(const ms_tally *all, const ms_node *block) {
  for (uint32_t s = 0; s < block->kids; s++) {
    const ms_node *assign = block->kid[s];
    for (uint32_t v = assign->targets; v < assign->kids; v++) {
      if (!ms_tally_is_steady(all, assign->kid[v]) || !is_one_line(all, assign->kid[v]))
        return false;
    }
  }
  return true;
}

/* An extreme whose condition asks for it and nothing else. */
static bool is_plain(const ms_reduce_form *form) {
  bool extreme = form->op == MS_REDUCE_MIN || form->op == MS_REDUCE_MAX;
  return extreme && form->alone && !form->unset && form->tie_count == 0;
}

bool ms_branch_gate_allows(const ms_tally *all, const ms_reduce_form *first,
                           const ms_reduce_form *second) {
  return is_plain(first) && is_plain(second) && first->op != second->op &&
         gives_steadily(all, second->block) &&
         ms_tally_same_value(all, first->value, second->value);
}
