/* SPDX-License-Identifier: MIT
 *
 * Writing C: elements and parts of dense arrays. See c_array.h. */
#include "kernel/native/c_array.h"

#include <inttypes.h>

#include "kernel/native/c_bounds_check.h"
#include "kernel/native/c_cache_prefetch.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_lists.h"
#include "kernel/native/c_part.h"
#include "kernel/native/c_value.h"

uint32_t ms_c_array(const ms_writer *w, uint32_t capture) {
  const ms_binding *bindings = w->emitter->job->bindings;
  for (uint32_t c = 0; c < capture; c++) {
    if (bindings[c].kind == MS_BIND_ARRAY && bindings[c].array == bindings[capture].array) return c;
  }
  return capture;
}

const char *ms_c_array_memory(ms_writer *w, uint32_t capture) {
  capture = ms_c_array(w, capture);
  w->pointer_used[capture] = true;
  w->shared[capture] = w->shared[capture] || w->within != NULL; /* two ways to it */
  return ms_c_text(w, "p%u_%s", capture + 1, ms_c_binding_name(w, capture));
}

const char *ms_c_array_touched(ms_writer *w, uint32_t capture) {
  capture = ms_c_array(w, capture);
  w->touched_used[capture] = true;
  return ms_c_text(w, "ms_touched%u", capture + 1);
}

static bool is_marked(const ms_writer *w, uint32_t capture) {
  return w->emitter->job->elements[ms_c_array(w, capture)].touched;
}

void ms_c_array_touch(ms_writer *w, uint32_t capture, const char *pointer, const char *count) {
  if (!is_marked(w, capture)) return;
  const char *at = ms_c_text(w, "%s - %s", pointer, ms_c_array_memory(w, capture));
  if (count == NULL) {
    ms_c_line(w, "ms_touch(%s, %s);", ms_c_array_touched(w, capture), at);
  } else {
    ms_c_line(w, "ms_touch_row(%s, %s, %s);", ms_c_array_touched(w, capture), at, count);
  }
}

const char *ms_c_array_stride(ms_writer *w, uint32_t capture, uint32_t dim) {
  capture = ms_c_array(w, capture);
  bool last = dim + 1 == w->emitter->job->bindings[capture].dim_count;
  if (last && ms_emitter_row_major(w->emitter, capture)) return "1";
  w->stride_used[capture * MS_MAX_DIMS + dim] = true;
  return ms_c_text(w, "s%u_%u", capture + 1, dim + 1);
}

const char *ms_c_array_extent(ms_writer *w, uint32_t capture, uint32_t dim) {
  capture = ms_c_array(w, capture);
  w->extent_used[capture * MS_MAX_DIMS + dim] = true;
  return ms_c_text(w, "e%u_%u", capture + 1, dim + 1);
}

const char *ms_c_array_limit(ms_writer *w, uint32_t dim) {
  w->limit_used[dim] = true;
  return ms_c_text(w, "ms_limit%u", dim + 1);
}

const char *ms_c_array_object_type(ms_writer *w, const ms_kind_of *kind) {
  static const char *const views[] = {[MS_FLOAT] = "float *",
                                      [MS_DOUBLE] = "double *",
                                      [MS_INT32] = "int32_t *",
                                      [MS_INT64] = "int64_t *"};
  bool view = kind->object == MS_OBJECT_VIEW, part = kind->object == MS_OBJECT_PART;
  if (kind->can != MS_CAN_OBJECT) return NULL;
  if (kind->object == MS_OBJECT_SPARSE) return kind->given > 0 ? "int64_t" : NULL;
  if (kind->object == MS_OBJECT_LISTS) return ms_c_lists_is_all(w, kind) ? NULL : "int64_t";
  if (!view && !part) return NULL;
  int32_t type = w->emitter->job->elements[kind->array].type;
  return view ? views[type] : ms_c_text(w, "ms_part_%s", ms_type_name(type));
}

/* The keys of A[i][j] or A[{i, j}], outermost array first; -1 if there are more than dimensions. */
typedef struct index_keys {
  const ms_node *base;
  const ms_node *key[MS_MAX_DIMS];
  uint32_t count, last;      /* last: how many stand before the last [] */
  uint32_t end[MS_MAX_DIMS]; /* by key: the first key behind its [] */
} index_keys;

static bool is_captured(const ms_writer *w, const ms_node *node) {
  const ms_node *value;
  return ms_typed_binding(w->typed, node, &value) != MS_NO_CAPTURE;
}

static bool add_listed(ms_writer *w, const ms_node *table, index_keys *keys) {
  keys->last = keys->count;
  if (table->kids == 0) {
    ms_c_refuse(w, table, "`{}` is no subscript");
    return false;
  }
  for (uint32_t f = 0; f < table->kids; f++) {
    const ms_node *value = table->kid[f]->kid[1];
    ms_kind_of kind = ms_typed_expression(w->typed, value);
    if (kind.can & MS_CAN_NIL) {
      ms_c_refuse(w, value, "`%s` may be nil, and then `%s` is no element", ms_c_source(w, value),
                  ms_c_source(w, table));
      return false;
    }
    if (table->kid[f]->kid[0] != NULL || (kind.can & MS_CAN_OBJECT) || keys->count >= MS_MAX_DIMS) {
      ms_c_refuse(w, value, "`%s` takes a range of an array", ms_c_source(w, table));
      return false;
    }
    keys->key[keys->count++] = value;
  }
  for (uint32_t k = keys->last; k < keys->count; k++) keys->end[k] = keys->count;
  return true;
}

static bool find_keys(ms_writer *w, const ms_node *node, index_keys *keys) {
  if (node->kind == MS_PAREN) return find_keys(w, node->kid[0], keys);
  if (node->kind != MS_INDEX || is_captured(w, node)) {
    keys->base = node;
    return true;
  }
  if (!find_keys(w, node->kid[0], keys)) return false;
  const ms_node *key = node->kid[1];
  if (key->kind == MS_TABLE) return add_listed(w, key, keys);
  if (key->kind == MS_STRING || keys->count >= MS_MAX_DIMS) {
    ms_c_refuse(w, node, "`%s` is indexed by a string", ms_c_source(w, node->kid[0]));
    return false;
  }
  keys->last = keys->count;
  keys->key[keys->count++] = key;
  keys->end[keys->last] = keys->count;
  return true;
}

/* Joins "base" and "offset" into an address or element. */
static const char *address(ms_writer *w, const char *base, const char *offset, bool element) {
  if (element) return ms_c_text(w, "%s[%s]", base, *offset ? offset : "0");
  return *offset ? ms_c_text(w, "%s + (%s)", base, offset) : base;
}

/* Adds "(i - 1) * 32" to an offset. */
static const char *joined(ms_writer *w, const char *offset, const char *at, uint32_t array,
                          uint32_t dim) {
  const char *stride = ms_c_array_stride(w, array, dim), *join = *offset ? " + " : "";
  if (stride[0] == '1' && stride[1] == '\0') return ms_c_text(w, "%s%s%s - 1", offset, join, at);
  return ms_c_text(w, "%s%s(%s - 1) * %s", offset, join, at, stride);
}

/* "(i - 1) * 32 + k - 1" of the first `count` keys: what stands in one [] is evaluated, then
 * checked. */
static const char *offset_of(ms_writer *w, const index_keys *keys, uint32_t count, bool hold,
                             const ms_kind_of *object) {
  const char *offset = "";
  for (uint32_t k = 0, next; k < count; k = next) {
    ms_c_bounds_check key[MS_MAX_DIMS];
    next = keys->end[k];
    for (uint32_t n = k; n < next; n++) {
      bool stores = hold;
      for (uint32_t l = n + 1; l < keys->count; l++)
        stores = stores || ms_typed_stores(w->typed, keys->key[l]);
      key[n] = ms_c_bounds_check_of(w, keys->key[n],
                                    ms_c_array_extent(w, object->array, object->given + n), stores);
    }
    for (uint32_t n = k; n < next; n++) {
      uint32_t dim = object->given + n;
      const char *at = ms_c_bounds_check_write(w, &key[n], keys->key[n], object->array, dim);
      offset = joined(w, offset, at, object->array, dim);
    }
  }
  return offset;
}

/* In words, the value that is indexed and is no dense array of numbers. */
static const char *what_else(const ms_writer *w, const ms_node *base) {
  const ms_node *value;
  uint32_t at = ms_typed_binding(w->typed, base, &value);
  if (at == MS_NO_CAPTURE) return "no array of numbers that is known here";
  switch (w->emitter->job->bindings[at].kind) {
    case MS_BIND_ARRAY:
      return w->emitter->job->bindings[at].sparse ? "a sparse array" : "an array of objects";
    case MS_BIND_TABLE:
      return "a plain table from outside, which only LuaJIT reads; meissa.from makes an array of a "
             "list of numbers";
    case MS_BIND_STRING:
      return "a string";
    case MS_BIND_NIL:
      return "nil";
    default:
      return "no array of numbers";
  }
}

/* Takes an indexing expression apart: what is indexed must be a dense array. */
static bool take_apart(ms_writer *w, const ms_node *node, index_keys *keys, ms_kind_of *object) {
  if (!find_keys(w, node, keys)) return false;
  *object = ms_typed_expression(w->typed, keys->base);
  if (object->object != MS_OBJECT_VIEW && object->object != MS_OBJECT_PART) {
    ms_c_refuse(w, node, "`%s` is %s", ms_c_source(w, keys->base), what_else(w, keys->base));
    return false;
  }
  if (object->given + keys->count > w->emitter->job->bindings[object->array].dim_count) {
    ms_c_refuse(w, node, "`%s` has more subscripts than dimensions", ms_c_source(w, node));
    return false;
  }
  return true;
}

static const char *base_of(ms_writer *w, const index_keys *keys, const ms_kind_of *object) {
  if (!is_captured(w, keys->base)) return ms_c_expression(w, keys->base).text;
  if (keys->count > 0) ms_c_cache_prefetch_note(w, object->array, keys->key, keys->count);
  return ms_c_array_memory(w, object->array);
}

/* How many elements a row has that so many subscripts lead to, as C text; NULL: they do not lie in
 * a line. */
static const char *row_length(ms_writer *w, uint32_t capture, uint32_t given) {
  if (given == 0 || !ms_emitter_row_major(w->emitter, ms_c_array(w, capture))) return NULL;
  return ms_c_array_stride(w, capture, given - 1);
}

/* Marks a row that has been located, if it is a short one: names that stand for it may be stored
 * through. */
static void touch_row(ms_writer *w, const ms_c_location *row) {
  if (row->element || !is_marked(w, row->kind.array)) return;
  const char *length = row_length(w, row->kind.array, row->kind.given);
  if (length == NULL) return;
  ms_c_line(w, "if (%s <= MS_TOUCHED_ROW) {", length);
  ms_c_array_touch(w, row->kind.array, row->text, length);
  ms_c_line(w, "}");
}

void ms_c_site_touch(ms_writer *w, const ms_c_site *site, const char *element) {
  if (!is_marked(w, site->kind.array)) return;
  bool part = site->kind.object == MS_OBJECT_PART;
  const char *length = part ? NULL : row_length(w, site->kind.array, site->kind.given);
  if (length != NULL) ms_c_line(w, "if (%s > MS_TOUCHED_ROW) {", length);
  ms_c_array_touch(w, site->kind.array, ms_c_text(w, "&%s", element), NULL);
  if (length != NULL) ms_c_line(w, "}");
}

bool ms_c_location_find(ms_writer *w, const ms_node *node, ms_c_location *location) {
  index_keys keys = {0};
  ms_kind_of object;
  if (!take_apart(w, node, &keys, &object)) return false;
  size_t before = w->out->length;
  const char *base = base_of(w, &keys, &object);
  *location = (ms_c_location){.kind = object, .element = true};
  if (object.object == MS_OBJECT_PART && keys.count == 1) {
    location->text = ms_c_part_element(w, base, keys.key[0], object.array);
    location->plain = w->out->length == before;
    return true;
  }
  uint32_t dims = w->emitter->job->bindings[object.array].dim_count;
  location->element = object.given + keys.count == dims;
  location->text =
      address(w, base, offset_of(w, &keys, keys.count, false, &object), location->element);
  location->kind.given += keys.count;
  touch_row(w, location);
  location->plain = w->out->length == before;
  return true;
}

bool ms_c_site_eval(ms_writer *w, const ms_node *node, ms_c_keeps *keeps, const void *context,
                    ms_c_site *site) {
  index_keys keys = {0};
  ms_kind_of object;
  *site = (ms_c_site){0};
  if (!take_apart(w, node, &keys, &object)) return false;
  const ms_binding *binding = &w->emitter->job->bindings[object.array];
  if (object.given + keys.count != binding->dim_count) {
    ms_c_refuse(w, node, "`%s` is no single element", ms_c_source(w, node));
    return false;
  }
  bool part = object.object == MS_OBJECT_PART;
  site->kind = object;
  site->base = base_of(w, &keys, &object);
  if (!is_captured(w, keys.base) && keeps(w, keys.base, context)) {
    const char *held = ms_c_temp(w);
    ms_c_line(w, "%s const %s = %s;", ms_c_array_object_type(w, &object), held, site->base);
    site->base = held;
  }
  site->offset = offset_of(w, &keys, keys.last, keeps(w, NULL, context), &object);
  site->dim = object.given + keys.last;
  site->keys = keys.count - keys.last;
  for (uint32_t k = 0; k < site->keys; k++) {
    const ms_node *key = site->node[k] = keys.key[keys.last + k];
    bool stores = keeps(w, key, context);
    for (uint32_t l = keys.last + k + 1; l < keys.count; l++)
      stores = stores || ms_typed_stores(w->typed, keys.key[l]);
    const char *extent = part ? NULL : ms_c_array_extent(w, object.array, site->dim + k);
    site->key[k] = part ? ms_c_part_key(w, site->base, key, stores)
                        : ms_c_bounds_check_of(w, key, extent, stores);
  }
  return true;
}

const char *ms_c_site_lvalue(ms_writer *w, const ms_c_site *site) {
  uint32_t array = site->kind.array;
  if (site->kind.object == MS_OBJECT_PART)
    return ms_c_part_at(w, site->base, &site->key[0], site->node[0], array);
  const char *offset = site->offset;
  for (uint32_t k = 0; k < site->keys; k++) {
    uint32_t dim = site->dim + k;
    const char *at = ms_c_bounds_check_write(w, &site->key[k], site->node[k], array, dim);
    offset = joined(w, offset, at, array, dim);
  }
  return address(w, site->base, offset, true);
}

ms_integer_value *ms_c_array_integer(ms_writer *w, ms_c_value *value, int32_t type) {
  int64_t most = type == MS_INT32 ? INT32_MAX : (int64_t)1 << 53;
  int64_t least = type == MS_INT32 ? INT32_MIN : -most;
  ms_integer_value *whole = ms_c_integer(w, ms_c_text(w, "(int64_t)%s", value->text), least, most);
  value->whole = whole;
  value->text = ms_c_text(w, "(double)%s", value->text);
  return whole;
}

ms_c_value ms_c_location_load(ms_writer *w, const ms_c_location *location, const ms_node *node) {
  int32_t type = w->emitter->job->elements[location->kind.array].type;
  ms_c_value value = {.kind = ms_kind_of_number(ms_type_precision(type)), .text = location->text};
  value.form = ms_c_value_representation(w, &value.kind);
  if (type == MS_DOUBLE || (type == MS_FLOAT && value.form == MS_FORM_FLOAT)) return value;
  if (type == MS_INT64) {
    const char *held = ms_c_temp(w);
    ms_c_line(w, "const int64_t %s = %s;", held, location->text);
    ms_c_line(w, "if (MS_UNLIKELY(!ms_is_exact(%s))) {", held);
    ms_c_line(w, "ms_stop_wide(fault, %u, %u, %s);", node->line, location->kind.array, held);
    ms_c_leave(w, node);
    ms_c_line(w, "}");
    value.text = held;
  }
  if (type == MS_FLOAT) {
    value.text = ms_c_text(w, "(double)%s", value.text);
  } else {
    const char *element = value.text;
    ms_integer_value *whole = ms_c_array_integer(w, &value, type);
    if (type == MS_INT32 && whole != NULL && location->plain) {
      whole->element = node;
      whole->of_element = element;
    }
  }
  return value;
}

/* Text of an integer on its way into an element of type int32 or int64, checked if it may not fit:
 * as a double it is `number`. */
static const char *integer_stored(ms_writer *w, const ms_integer_value *whole, int32_t type,
                                  const char *number, uint32_t capture, const ms_node *node) {
  if (type == MS_INT64) return ms_c_text(w, "(int64_t)%s", whole->text);
  if (whole->least >= INT32_MIN && whole->most <= INT32_MAX)
    return ms_c_text(w, "(int32_t)%s", whole->text);
  const char *held = whole->text;
  if (!ms_c_is_simple(held)) {
    held = ms_c_temp(w);
    ms_c_line(w, "const int64_t %s = %s;", held, whole->text);
    number = ms_c_text(w, "(double)%s", held);
  }
  ms_c_stop(w, node, ms_c_text(w, "%s != (int32_t)%s", held, held), "MS_NATIVE_VALUE", capture, 0,
            number);
  return ms_c_text(w, "(int32_t)%s", held);
}

const char *ms_c_array_stored_whole(ms_writer *w, uint32_t capture, const ms_node *node) {
  int32_t type = w->emitter->job->elements[capture].type;
  if (type != MS_INT32 && type != MS_INT64) return NULL;
  ms_integer_value whole = ms_c_integer_value(w, node);
  bool fits = type == MS_INT64 || (whole.least >= INT32_MIN && whole.most <= INT32_MAX);
  if (!whole.known || !fits) return NULL;
  return ms_c_text(w, "(%s_t)%s", type == MS_INT32 ? "int32" : "int64", whole.text);
}

const char *ms_c_array_stored(ms_writer *w, ms_c_value value, uint32_t capture,
                              const ms_node *node) {
  int32_t type = w->emitter->job->elements[capture].type;
  const ms_complaint says = {
      ms_c_text(w, "ARR: cannot store a nil in an array of type %s", ms_type_name(type)),
      ms_c_text(w, "ARR: cannot store a boolean in an array of type %s", ms_type_name(type))};
  if (type == MS_FLOAT && value.form != MS_FORM_FLOAT)
    return ms_c_text(w, "(float)%s", ms_c_value_as_number(w, value, node, says));
  if (type == MS_FLOAT) return value.text;
  if (type == MS_DOUBLE) return ms_c_value_as_number(w, value, node, says);
  if (value.whole != NULL) return integer_stored(w, value.whole, type, value.text, capture, node);
  const char *name = type == MS_INT32 ? "int32" : "int64";
  const char *number = ms_c_value_as_number(w, value, node, says);
  if (!ms_c_is_simple(number)) {
    const char *held = ms_c_temp(w);
    ms_c_line(w, "const double %s = %s;", held, number);
    number = held;
  }
  ms_c_stop(w, node, ms_c_text(w, "!ms_fits_%s(%s)", name, number), "MS_NATIVE_VALUE", capture, 0,
            number);
  return ms_c_text(w, "(%s_t)%s", name, number);
}
