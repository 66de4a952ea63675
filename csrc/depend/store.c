/* SPDX-License-Identifier: MIT
 *
 * Walk, stores into plain tables that are refused: why, and what to write. See walk.h.
 *
 * The words are those of what keeps the table from being output (sliced_output.h, gather.h):
 * another way to it, another use of it, a key of which several iterations may be, a value that may
 * be two. */
#include <string.h>

#include "depend/capture_path.h"
#include "depend/carried.h"
#include "depend/scalar.h"
#include "depend/store.h"
#include "depend/store_key.h"

static bool look_for_length(ms_node *node, void *context) {
  bool *found = context;
  *found = *found || (node->kind == MS_UNARY && node->op == MS_OP_LEN);
  return !*found;
}

/* A field that is like a reduction, and the body's alone: what keeps it from being one. */
static bool find_carried_field(ms_walk *walk, bool proven, int64_t field, const ms_node *node) {
  if (field < 0 || !ms_scalar_has_field(walk, (uint32_t)field)) return false;
  const char *words = NULL;
  const ms_node *place = NULL;
  const char *fix = ms_carried_fix(walk, walk->loop->body, (uint32_t)field, &words, &place);
  const char *message =
      words == NULL ? NULL
                    : ms_arena_format(walk->arena, "%.*s %s", (int)(node->end - node->begin),
                                      walk->loop->tree->text + node->begin, words);
  if (message == NULL) return false;
  ms_walk_find(walk, MS_REASON_SCALAR, proven, place != NULL ? place : node, fix, message);
  return true;
}

/* A field that is assigned, of a table that the body also uses as a whole. */
static void find_field_store(ms_walk *walk, bool proven, const ms_node *node) {
  const ms_tree *tree = walk->loop->tree;
  const ms_node *table = node->kid[0];
  int64_t capture = ms_capture_path_of(walk->loop, node);
  if (find_carried_field(walk, proven, capture, node)) return;
  const char *alias = capture >= 0 ? walk->bindings[capture].alias : NULL;
  int field = (int)(node->end - node->begin), whole = (int)(table->end - table->begin);
  const char *path = tree->text + node->begin, *name = node->kid[1]->text;
  const char *message =
      alias != NULL
          ? ms_arena_format(walk->arena,
                            "the body assigns %.*s, and %s is the same variable; and each worker "
                            "has its own copy of it",
                            field, path, alias)
          : ms_arena_format(
                walk->arena,
                "the body assigns %.*s, and also uses %.*s as a whole (as a method call does) or "
                "calls what may, so that the same field may be read or assigned there; and each "
                "worker has its own copy of it",
                field, path, whole, tree->text + table->begin);
  const char *fix = ms_arena_format(
      walk->arena, "use a local: local %s = %.*s  for ... do %s = ... end  %.*s = %s", name, field,
      path, name, field, path, name);
  walk->failed = walk->failed || message == NULL || fix == NULL;
  ms_walk_find(walk, MS_REASON_TABLE_WRITE, proven, node, fix, message);
}

/* Whether a target is a constant field of a table that the body can reach otherwise, too. */
static bool is_shared_field(const ms_walk *walk, const ms_node *node) {
  if (node->kind != MS_INDEX || node->kid[1]->kind != MS_STRING) return false;
  int64_t field = ms_capture_path_of(walk->loop, node);
  if (field >= 0 && walk->bindings[field].aliased) return true;
  return ms_capture_path_of(walk->loop, node->kid[0]) >= 0;
}

/* table.insert(t, v), by whatever name; `t[#t + 1] = v` takes only the first value of a call. */
static bool is_insert(const ms_walk *walk, const ms_node *node) {
  int64_t callee = node->kind == MS_CALL ? ms_capture_path_of(walk->loop, node->kid[0]) : -1;
  if (callee < 0 || node->kids != 3 || walk->bindings[callee].kind != MS_BIND_BUILTIN) return false;
  return strcmp(walk->bindings[callee].name, "table.insert") == 0;
}

/* A sum of names and numbers, which as the subscript of an array is compared between iterations. */
static bool look_for_data(ms_node *node, void *context) {
  bool *found = context;
  bool sum = node->kind == MS_NAME || node->kind == MS_NUMBER || node->kind == MS_PAREN ||
             (node->kind == MS_UNARY && node->op == MS_OP_NEG) ||
             (node->kind == MS_BINARY && node->op <= MS_OP_MUL);
  *found = *found || !sum;
  return !*found;
}

/* `h[k] = h[k] + e` counts where it is written so that h[k] may be nil: in words; else NULL. */
static const char *counting_fix(ms_walk *walk, const ms_node *node) {
  const ms_node *assign = node->parent;
  if (node->kind != MS_INDEX || assign->kind != MS_ASSIGN || assign->kids != 2) return NULL;
  const ms_node *sum = assign->kid[1];
  if (sum->kind != MS_BINARY || (sum->op != MS_OP_ADD && sum->op != MS_OP_SUB)) return NULL;
  const ms_node *old = sum->kid[0];
  const char *text = walk->loop->tree->text;
  size_t length = node->end - node->begin;
  if (old->kind != MS_INDEX || old->end - old->begin != length ||
      memcmp(text + old->begin, text + node->begin, length) != 0)
    return NULL;
  int size = (int)length;
  const char *fix = ms_arena_format(walk->arena, "count by keys: %.*s = (%.*s or 0) %c ...", size,
                                    text + node->begin, size, text + node->begin,
                                    sum->op == MS_OP_ADD ? '+' : '-');
  walk->failed = walk->failed || fix == NULL;
  return fix;
}

/* The captured plain table that a path means or begins with, or -1; *inner: it goes on from there.
 */
static int64_t table_of(const ms_walk *walk, const ms_node *node, bool *inner) {
  int64_t capture = ms_capture_path_of(walk->loop, node);
  for (*inner = false; capture < 0 && node->kind == MS_INDEX; *inner = true) {
    node = node->kid[0];
    capture = ms_capture_path_of(walk->loop, node);
  }
  if (capture < 0 || walk->bindings[capture].kind != MS_BIND_TABLE) return -1;
  return walk->bindings[capture].depth == walk->loop->captures[capture].field_count ? capture : -1;
}

typedef struct use {
  const ms_capture *capture;
  const ms_node *read;  /* the first mention that is not the table of an element assigned */
  const ms_node *inner; /* of these, the first by which what an element holds is written */
  bool grows;           /* an element is given what it may hold already */
} use;

static bool is_target(const ms_node *node) {
  return node->parent->kind == MS_ASSIGN && node->ordinal < node->parent->targets;
}

static bool look_for_use(ms_node *node, void *context) {
  use *look = context;
  if (!ms_capture_path_is(look->capture, node)) return true;
  const ms_node *element = node->parent, *within = element;
  bool indexed = element->kind == MS_INDEX && node->ordinal == 0;
  while (indexed && within->parent->kind == MS_INDEX && within->ordinal == 0)
    within = within->parent;
  if (indexed && is_target(element)) {
    const ms_node *assign = element->parent;
    bool made = assign->kids == 2 && ms_node_bare(assign->kid[1])->kind == MS_TABLE;
    look->grows = look->grows || !made;
    return false;
  }
  if (look->inner == NULL && indexed && is_target(within)) look->inner = element;
  if (look->read == NULL) look->read = node;
  return false;
}

#define LISTED                                                   \
  "list keys and values, and put them together after the loop: " \
  "keys[#keys + 1], values[#values + 1] = key, value"

/* There is another way to the table: it is named. */
static void find_other_way(ms_walk *walk, bool proven, const char *other, const ms_node *node,
                           const char *verb) {
  const ms_node *table = node->kind == MS_INDEX ? node->kid[0] : node->kid[1];
  const char *text = walk->loop->tree->text + table->begin;
  int size = (int)(table->end - table->begin);
  const char *message = ms_arena_format(
      walk->arena,
      "the body %s %.*s, and %s, which it uses as a whole (as a method call does), leads to it, "
      "too: each worker has its own copy of both",
      verb, size, text, other);
  const char *fix = ms_arena_format(
      walk->arena, "fill a new table: local new = {}  for ... do new[...] = ... end  %.*s = new",
      size, text);
  walk->failed = walk->failed || message == NULL || fix == NULL;
  ms_walk_find(walk, MS_REASON_TABLE_WRITE, proven, node, fix, message);
}

/* A store into what an element of the table holds, or of the element where the body does that. */
static void find_inner_store(ms_walk *walk, bool proven, const use *look, const ms_node *element,
                             const ms_node *node) {
  int size = (int)(element->end - element->begin);
  const char *text = walk->loop->tree->text + element->begin;
  const char *message = ms_arena_format(
      walk->arena,
      "the body writes into what %.*s holds, which to a worker is a table from outside: each has "
      "its own copy of it",
      size, text);
  const char *fix = look->grows ? LISTED
                                : ms_arena_format(walk->arena,
                                                  "make it first, then store it: local own = {}  "
                                                  "own[...] = value  ... %.*s = own",
                                                  size, text);
  walk->failed = walk->failed || message == NULL || fix == NULL;
  ms_walk_find(walk, MS_REASON_TABLE_WRITE, proven, node, fix, message);
}

/* xs[n] = value of a counted n. */
static void find_counted_store(ms_walk *walk, bool proven, const ms_node *node) {
  const ms_node *table = node->kid[0], *key = node->kid[1];
  const char *text = walk->loop->tree->text, *name = text + table->begin;
  int size = (int)(table->end - table->begin);
  const char *message = ms_arena_format(
      walk->arena,
      "the body stores at %.*s, which it counts, and no worker knows what the others have counted",
      (int)(key->end - key->begin), text + key->begin);
  const char *fix = ms_arena_format(
      walk->arena, "append, its length counts: %.*s[#%.*s + 1] = value", size, name, size, name);
  walk->failed = walk->failed || message == NULL || fix == NULL;
  ms_walk_find(walk, MS_REASON_TABLE_WRITE, proven, node, fix, message);
}

/* The body also reads the table. */
static void find_read_store(ms_walk *walk, bool proven, const ms_node *node) {
  const ms_node *table = node->kid[0], *key = node->kid[1];
  const char *text = walk->loop->tree->text;
  int size = (int)(table->end - table->begin);
  const char *message = ms_arena_format(walk->arena,
                                        "the body writes into %.*s and also reads it, and each "
                                        "worker has its own copy of it: a plain "
                                        "table is output where it is only written",
                                        size, text + table->begin);
  const char *fix =
      ms_store_key_is_own(walk, node->kid[1])
          ? ms_arena_format(walk->arena,
                            "write into another table: local new = {}  ... new[%.*s] = value",
                            (int)(key->end - key->begin), text + key->begin)
          : LISTED;
  walk->failed = walk->failed || message == NULL || fix == NULL;
  ms_walk_find(walk, MS_REASON_TABLE_WRITE, proven, node, fix, message);
}

/* A store into an array of objects, or into what an element holds. */
static void find_object_store(ms_walk *walk, bool proven, uint32_t objects, const ms_node *node) {
  const char *message = objects == MS_OBJECTS_ELEMENT
                            ? "the body changes what is inside an element of an array of objects, "
                              "and each worker has "
                              "its own copy of it"
                            : "each worker has its own copy of an array of objects: a body may "
                              "only assign elements of "
                              "a vector, O[i] = value at the loop's own index, and not read it";
  ms_walk_find(
      walk, MS_REASON_OBJECTS, proven, node,
      "assign elements of another vector: local new = meissa.objects(n)  ... new[i] = {...}",
      message);
}

/* A path that begins at a local of the body. */
static bool has_own_root(const ms_walk *walk, const ms_node *node) {
  while (node->kind == MS_INDEX) node = node->kid[0];
  if (node->kind != MS_NAME || node->symbol == NULL) return false;
  for (uint32_t c = 0; c < walk->loop->capture_count; c++) {
    if (walk->loop->captures[c].symbol == node->symbol) return false;
  }
  return true;
}

/* Finds a store into a value that may be a table of the body's own, or one from outside. */
static void find_unsure_store(ms_walk *walk, const ms_node *node) {
  const ms_node *table = node->kid[0];
  const char *message = ms_arena_format(
      walk->arena,
      "%.*s is not known to be a table that the body has made: it may be one from outside, and "
      "each worker has its own copy of it",
      (int)(table->end - table->begin), walk->loop->tree->text + table->begin);
  walk->failed = walk->failed || message == NULL;
  ms_walk_find(walk, MS_REASON_TABLE_WRITE, false, node,
               "store into a table before it is put into another: local own = {}  own[k] = value  "
               "... t[i] = own",
               message);
}

/* table.insert(t, f()), which may be given a position and a value. */
static void find_insert(ms_walk *walk, bool proven, const ms_node *node) {
  const ms_node *value = node->kid[2], *table = node->kid[1];
  const char *text = walk->loop->tree->text;
  int size = (int)(value->end - value->begin);
  const char *message = ms_arena_format(walk->arena,
                                        "%.*s may give two values, which table.insert takes for a "
                                        "position and a value: only appending "
                                        "is put together from the workers' copies of a table",
                                        size, text + value->begin);
  const char *fix = ms_arena_format(walk->arena, "one value only: %.*s(%.*s, (%.*s))",
                                    (int)(node->kid[0]->end - node->kid[0]->begin),
                                    text + node->kid[0]->begin, (int)(table->end - table->begin),
                                    text + table->begin, size, text + value->begin);
  walk->failed = walk->failed || message == NULL || fix == NULL;
  ms_walk_find(walk, MS_REASON_TABLE_WRITE, proven, node, fix, message);
}

/* A store into what has no elements; false if the table may be one. */
static bool find_no_table(ms_walk *walk, bool proven, const ms_node *node) {
  static const char *const words[] = {[MS_BIND_NIL] = "nil",
                                      [MS_BIND_NUMBER] = "a number",
                                      [MS_BIND_BOOLEAN] = "a boolean",
                                      [MS_BIND_STRING] = "a string"};
  int64_t capture = node->kind == MS_INDEX ? ms_capture_path_of(walk->loop, node->kid[0]) : -1;
  if (capture < 0 || walk->loop->captures[capture].assigned) return false;
  if (walk->bindings[capture].depth != walk->loop->captures[capture].field_count) return false;
  ms_binding_kind kind = walk->bindings[capture].kind;
  if (kind >= sizeof words / sizeof *words) return false;
  const char *name = walk->loop->tree->text + node->kid[0]->begin;
  int size = (int)(node->kid[0]->end - node->kid[0]->begin);
  const char *message =
      ms_arena_format(walk->arena, "%.*s is %s before the loop, and the body writes into it", size,
                      name, words[kind]);
  const char *fix =
      ms_arena_format(walk->arena, "make it an array before: %.*s = meissa.zeros(n)", size, name);
  walk->failed = walk->failed || message == NULL || fix == NULL;
  ms_walk_find(walk, MS_REASON_TABLE_WRITE, proven, node, fix, message);
  return true;
}

/* A store by a key. */
static void find_element(ms_walk *walk, bool proven, const ms_node *node) {
  if (find_no_table(walk, proven, node)) return;
  const char *counting = counting_fix(walk, node);
  bool inner, data = false;
  int64_t table = node->kind == MS_INDEX ? table_of(walk, node->kid[0], &inner) : -1;
  use look = {0};
  if (table >= 0) {
    look.capture = &walk->loop->captures[table];
    ms_node_walk(walk->loop->body, look_for_use, &look);
    const char *other = walk->bindings[table].other;
    if (look.inner != NULL) {
      find_inner_store(walk, proven, &look, inner ? node->kid[0] : look.inner, node);
      return;
    }
    if (other != NULL) {
      find_other_way(walk, proven, other, node, "writes into");
      return;
    }
    if (!inner && look.read == NULL && ms_store_key_is_counter(walk, node->kid[1])) {
      find_counted_store(walk, proven, node);
      return;
    }
    if (look.read != NULL && counting == NULL) {
      find_read_store(walk, proven, node);
      return;
    }
  }
  if (node->kind == MS_INDEX) ms_node_walk(node->kid[1], look_for_data, &data);
  ms_walk_find(walk, MS_REASON_TABLE_WRITE, proven, node,
               counting != NULL ? counting
               : data           ? "store at the loop's own index, and go on from there after the "
                                  "loop: local t = {}  ... t[i] = value"
                                : "use an array: local t = meissa.zeros(n)  ... t[i] = value",
               "the body writes into a plain table from outside, and each worker has its own copy "
               "of it");
}

static void find_append(ms_walk *walk, bool proven, const ms_node *node) {
  bool insert = is_insert(walk, node), inner;
  int64_t table = table_of(walk, insert ? node->kid[1] : node->kid[0], &inner);
  if (table >= 0 && inner && !insert) {
    find_element(walk, proven, node);
    return;
  }
  if (inner) table = -1;
  const char *other = table >= 0 ? walk->bindings[table].other : NULL;
  ms_kind value = insert ? node->kid[2]->kind : MS_NUMBER;
  if (other != NULL) {
    find_other_way(walk, proven, other, node, "appends to");
  } else if (table >= 0 && (value == MS_CALL || value == MS_METHOD || value == MS_VARARG)) {
    find_insert(walk, proven, node);
  } else {
    ms_walk_find(
        walk, MS_REASON_TABLE_WRITE, proven, node,
        insert ? "append by an assignment: t[#t + 1] = value"
               : "store at the loop's own index: t[i] = value",
        "the body appends to a table from outside, and each worker has its own copy of it");
  }
}

void ms_walk_find_store(ms_walk *walk, bool proven, const ms_abstract_value *into,
                        const ms_node *node) {
  if (walk->frame != NULL && walk->kept > 0) return;
  if (walk->frame != NULL) {
    ms_walk_find_outer_store(walk, proven, node);
    return;
  }
  if (into != NULL && into->kind == MS_ABSTRACT_VALUE_OTHER && into->objects != 0) {
    find_object_store(walk, proven, into->objects, node);
    return;
  }
  bool appends = is_insert(walk, node);
  if (node->kind == MS_CALL && !appends) {
    ms_walk_find(walk, MS_REASON_TABLE_WRITE, proven, node,
                 "call it before or after the loop, or for a table that the body makes",
                 "the call changes a table from outside, and each worker has its own copy of it");
    return;
  }
  if (node->kind == MS_INDEX) ms_node_walk(node->kid[1], look_for_length, &appends);
  if (appends)
    find_append(walk, proven, node);
  else if (is_shared_field(walk, node))
    find_field_store(walk, proven, node);
  else if (!proven && has_own_root(walk, node))
    find_unsure_store(walk, node);
  else
    find_element(walk, proven, node);
}
