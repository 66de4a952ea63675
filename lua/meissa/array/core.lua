-- SPDX-License-Identifier: MIT
--
-- The C side of arrays as Lua sees it: declarations, and calls that turn failure into errors.
-- @module meissa.array.core

local ffi = require("ffi")
local core = require("meissa.ffi")
local errors = require("meissa.errors")

core.cdef("array", [[
typedef struct ms_segment {
  uint64_t id;
  int fd;
  unsigned char *base;
  size_t size;
  uint32_t blocks;
} ms_segment;
typedef struct ms_block { ms_segment *segment; size_t offset, size; } ms_block;
typedef struct ms_store {
  uint64_t id;
  ms_block block;
  uint32_t references;
  struct ms_array *arrays;
  uint64_t lost_by;
  int32_t scratch;
} ms_store;
typedef struct ms_labels {
  uint32_t references, mask;
  int64_t count;
  int64_t *numbers;
  uint64_t *offsets;
  char *bytes;
  uint32_t *table;
  uint32_t *order;
} ms_labels;
typedef struct ms_index { uint32_t *order; int64_t *row_start; int32_t repeats; } ms_index;
typedef struct ms_rows {
  uint64_t version;
  int64_t *start;
  int32_t *columns[8];
  void *values;
  ms_store *structure, *value_store;
} ms_rows;
typedef struct ms_array {
  uint64_t id;
  int32_t type, sparse, dim_count, references;
  int64_t dims[8];
  int64_t strides[8];
  int64_t count;
  void *data;
  ms_store *store;
  int32_t *coords[8];
  ms_store *coord_store;
  uint64_t version;
  const char *invalid;
  int32_t generation, readable, writable;
  uint32_t blocks;
  struct ms_array *next;
  ms_labels *labels[8];
  ms_index *index;
  ms_rows *rows;
  struct ms_partition *partitions;
  uint32_t releases;
  struct ms_array *next_released;
} ms_array;
typedef struct ms_cut {
  uint32_t count, dims[8], ranges[8];
  int32_t ordered;
} ms_cut;
typedef struct ms_partition {
  uint64_t id;
  ms_cut cut, asked;
  int64_t *bounds[8];
  int64_t blocks;
  int64_t *start;
  int64_t count;
  int32_t type, dim_count;
  ms_store *entries;
  size_t coord_offset[8];
  size_t value_offset;
  uint64_t version;
  uint32_t references;
  uint64_t used;
  struct ms_partition *next;
} ms_partition;
uint64_t ms_segment_bytes(void);
uint32_t ms_segment_count(void);
ms_array *ms_array_dense(int type, int dim_count, const int64_t *dims, ms_error *err);
ms_array *ms_array_sparse(int type, int dim_count, const int64_t *dims, int64_t count,
                          ms_error *err);
ms_array *ms_array_foreign(int type, int dim_count, const int64_t *dims, const int64_t *strides,
                           void *data, int32_t *const *coords, int64_t count, ms_error *err);
int ms_array_check_coords(const ms_array *array, ms_error *err);
void ms_array_retain(ms_array *array);
void ms_array_release(ms_array *array);
void ms_array_release_later(ms_array *array);
void ms_array_drain(void);
void *ms_file_memory(uint64_t size, ms_error *err);
void ms_file_forget(void *memory);
void ms_array_free(ms_array *array);
ms_array *ms_array_narrow(ms_array *array, int dim, int64_t first, int64_t length, ms_error *err);
ms_array *ms_array_select(ms_array *array, int dim, int64_t position, ms_error *err);
ms_array *ms_array_transpose(ms_array *array, int one, int other, ms_error *err);
ms_array *ms_array_view(ms_array *array, int dim_count, const int64_t *dims,
                        const int64_t *strides, void *data, ms_error *err);
ms_array *ms_array_clone(const ms_array *array, ms_error *err);
void ms_array_share_labels(ms_array *to, const ms_array *from);
void ms_array_freeze(ms_array *array);
ms_array *ms_array_retyped(const ms_array *array, int type, ms_error *err);
ms_array *ms_array_pick(const ms_array *array, const uint32_t *entries, int64_t count,
                        ms_error *err);
ms_array *ms_array_cut(ms_array *array, const int64_t *first, const int64_t *length,
                       const int32_t *keep, ms_error *err);
ms_array *ms_array_coords(ms_array *array, ms_error *err);
ms_array *ms_array_values(ms_array *array, ms_error *err);
ms_array *ms_array_shuffle(const ms_array *array, uint32_t dims, uint64_t seed, ms_error *err);
int ms_array_split(const ms_array *array, double share, uint64_t seed, ms_array **first,
                   ms_array **second, ms_error *err);
double ms_array_reduce(const ms_array *x, int reduction, ms_error *err);
int ms_array_reduce_along(const ms_array *x, int dim, int reduction, double *values,
                          int64_t *places, ms_error *err);
double ms_array_dot(const ms_array *x, const ms_array *y, ms_error *err);
double ms_row_reduce(int type, void *x, int64_t stride, int64_t count, int reduction,
                     ms_error *err);
double ms_row_dot(int x_type, void *x, int64_t x_stride, int y_type, void *y, int64_t y_stride,
                  int64_t count, ms_error *err);
int ms_array_apply(int arith, ms_array *y, const ms_array *x, double a, ms_error *err);
int ms_row_apply(int arith, int y_type, void *y, int64_t y_stride, int x_type, void *x,
                 int64_t x_stride, int64_t count, double a, ms_error *err);
void ms_array_invalidate(ms_array *array, const char *why);
void ms_array_overwritten(ms_array *array);
uint64_t ms_array_bytes(const ms_array *array);
int ms_array_contiguous(const ms_array *array);
ms_labels *ms_labels_numbers(int64_t *numbers, int64_t count, ms_error *err);
ms_labels *ms_labels_strings(char *bytes, uint64_t *offsets, int64_t count, ms_error *err);
void ms_labels_release(ms_labels **labels);
int64_t ms_labels_find_number(const ms_labels *labels, int64_t number);
int64_t ms_labels_find_string(const ms_labels *labels, const char *text, uint64_t length);
const ms_index *ms_index_get(ms_array *array, ms_error *err);
int ms_index_range(ms_array *array, const int32_t *at, int count, int64_t *first, int64_t *last,
                   ms_error *err);
int ms_index_repeats(ms_array *array, ms_error *err);
int64_t ms_index_find(ms_array *array, const int32_t *at, ms_error *err);
int ms_rows_suit(const ms_array *array);
const ms_rows *ms_rows_get(ms_array *array, ms_error *err);
void ms_rows_range(const ms_rows *rows, const int32_t *at, int count, int64_t *first,
                   int64_t *last);
int ms_rows_foreign(ms_array *array, int64_t *start, int32_t *const *columns, void *values,
                    ms_error *err);
int ms_random_uniform(ms_array *array, uint64_t seed, double scale, ms_error *err);
int ms_random_normal(ms_array *array, uint64_t seed, double scale, ms_error *err);
ms_partition *ms_partition_get(ms_array *array, const ms_cut *cut, ms_error *err);
void ms_partition_release(ms_partition **partition);
const int32_t *ms_partition_coords(const ms_partition *partition, int dim);
void *ms_partition_values(const ms_partition *partition);
int64_t ms_cut_range(int64_t lo, int64_t hi, int64_t step, int64_t ranges, int64_t *bounds);
void ms_cut_lengths(const int64_t *bounds, int64_t ranges, int64_t step, int64_t blocks,
                    uint64_t *weights);
]])

local M = { lib = core.lib, new_error = core.new_error }

--- Element types by number (0 = float) and by name.
M.type_names = { [0] = "float", "double", "int32", "int64" }
M.type_numbers = { float = 0, double = 1, int32 = 2, int64 = 3 }
M.element_ctypes = {
  [0] = ffi.typeof("float"), ffi.typeof("double"), ffi.typeof("int32_t"), ffi.typeof("int64_t"),
}
M.pointer_ctypes = {
  [0] = ffi.typeof("float *"), ffi.typeof("double *"), ffi.typeof("int32_t *"),
  ffi.typeof("int64_t *"),
}

--- Numbers of the core's operations on elements (ms_arith, ms_reduction).
M.arith = { fill = 0, copy = 1, scal = 2, add = 3, axpy = 4, cmul = 5, cdiv = 6 }
M.reduction = { sum = 0, magnitudes = 1, squares = 2, least = 3, most = 4 }

-- One record for all calls: each is cleared before and read directly after.
local err = core.new_error()

--- Raises what a call left in M.err, if anything. For calls in hot loops, which pass M.err
-- themselves; the record is empty between calls.
M.err = err
function M.raise_pending()
  local raised = errors.from_core(err)
  err.code, err.line, err.file[0] = 0, 0, 0
  error(raised, 0)
end

--- Calls a core function whose last parameter is an ms_error, which is added here, and raises its
-- error when it returns NULL, or a negative number.
function M.call(fn, ...)
  local n = select("#", ...)
  local args = { ... }
  args[n + 1] = err
  local result = fn(unpack(args, 1, n + 1))
  if err.code ~= 0 then M.raise_pending() end
  return result
end

--- A dense array's elements (of a sparse one its values) as a pointer of their type.
function M.elements(array)
  return ffi.cast(M.pointer_ctypes[array.type], array.data)
end

return M
