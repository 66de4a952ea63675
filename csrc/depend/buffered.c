/* SPDX-License-Identifier: MIT
 *
 * Buffers: see buffered.h. */
#include "depend/buffered.h"
#include "depend/inline.h"

#include <string.h>

/* A read or write of a buffer; the latest first. */
typedef struct ms_buffered {
  struct ms_buffered *next;
  const ms_node *node, *place; /* in its own text; in the loop's body */
  const ms_abstract_view *view;
  bool write;
} ms_buffered;

void ms_buffered_note(ms_walk *walk, const ms_abstract_view *view, bool write,
                      const ms_node *node) {
  ms_buffered *noted = ms_arena_take(walk->arena, 1, sizeof *noted);
  if (noted == NULL) {
    walk->failed = true;
    return;
  }
  *noted = (ms_buffered){walk->buffered, node, ms_inline_place(walk, node), view, write};
  walk->buffered = noted;
}

/* Whether two places are never the same element: a constant apart in some dimension. */
static bool are_apart(const ms_abstract_view *a, const ms_abstract_view *b) {
  for (uint32_t s = 0; s < a->subscript_count && s < b->subscript_count; s++) {
    const ms_subscript *one = &a->subscript[s], *other = &b->subscript[s];
    bool known = one->known && other->known && one->form.constant != other->form.constant;
    if (known && memcmp(one->form.at, other->form.at, sizeof one->form.at) == 0) return true;
  }
  return false;
}

/* Whether the body also reads what this stores into, as far as can be seen. */
static bool is_read(const ms_walk *walk, const ms_buffered *store) {
  uint64_t buffers = walk->bindings[store->view->binding].array;
  for (const ms_buffered *read = walk->buffered; read != NULL; read = read->next) {
    if (read->write || walk->bindings[read->view->binding].array != buffers) continue;
    if (!are_apart(read->view, store->view)) return true;
  }
  return false;
}

static bool depends_only_on(const ms_form *form, uint32_t dim) {
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    if ((form->at[v] != 0) != (v == dim)) return false;
  }
  return true;
}

/* Whether each iteration stores into elements of its own. */
static bool is_own(const ms_walk *walk, const ms_abstract_view *view) {
  for (uint32_t d = 0; d < walk->domain->dim_count; d++) {
    bool apart = walk->domain->dim[d].box && walk->domain->dim[d].extent <= 1;
    for (uint32_t s = 0; s < view->subscript_count; s++) {
      const ms_subscript *subscript = &view->subscript[s];
      apart = apart || (subscript->known && depends_only_on(&subscript->form, d));
    }
    if (!apart) return false;
  }
  return true;
}

static void find_overwritten(ms_walk *walk, const ms_buffered *store) {
  if (!store->write || is_own(walk, store->view) || is_read(walk, store)) return;
  const char *fix = "store what is pending there and more";
  if (store->node == store->place && store->node->kind == MS_INDEX) {
    const char *text = walk->loop->tree->text + store->node->begin;
    int length = (int)(store->node->end - store->node->begin);
    fix = ms_arena_format(walk->arena, "add to what is pending there: %.*s = %.*s + x", length,
                          text, length, text);
    if (fix == NULL) walk->failed = true;
  }
  ms_walk_find(walk, MS_REASON_OVERWRITTEN, true, store->place, fix,
               "the body stores into a buffer, where other iterations store, too, without regard "
               "to what is pending there: what the blocks add up then depends on how the loop is "
               "cut into them");
}

/* What the body writes into an array would be lost or not when its buffer is merged, depending on
 * which block ends first. */
static void find_beside(ms_walk *walk, const ms_access *access) {
  const ms_binding *written = &walk->bindings[access->binding];
  for (uint32_t b = 0; access->write && b < walk->binding_count; b++) {
    const ms_binding *beside = &walk->bindings[b];
    if (beside->buffers == 0 || beside->buffers != written->storage) continue;
    if (beside->replica) {
      ms_walk_find(walk, MS_REASON_BUFFERED, !access->possible, access->node,
                   "write the replica's own copy instead",
                   "the body writes into an array of which it also uses replicas: it keeps what it "
                   "was before the loop, and they are merged into it");
      continue;
    }
    ms_walk_find(walk, MS_REASON_BUFFERED, !access->possible, access->node,
                 "write all of it through the buffer, or without it",
                 "the body writes into an array whose buffer it also uses, and merging the "
                 "buffer reads and writes that array between blocks");
  }
}

void ms_buffered_find(ms_walk *walk) {
  for (uint32_t a = 0; a < walk->accesses.count; a++) find_beside(walk, walk->accesses.item[a]);
  for (const ms_buffered *each = walk->buffered; each != NULL; each = each->next)
    find_overwritten(walk, each);
}
