-- SPDX-License-Identifier: MIT
-- Mutants of the tables of methods and of strategies.
local method = {spec = "spec/array/method_spec.lua"}
local classes = {spec = "spec/driver/classes_spec.lua"}
local sorting = {spec = "spec/array/sort_spec.lua"}
local functions = {spec = "spec/array/functions_spec.lua"}
local products = {spec = "spec/array/product_spec.lua"}
local picture = {spec = "spec/plan/picture_spec.lua"}
local report = {spec = "spec/depend/report_spec.lua"}
local parts = {spec = "spec/kernel/parts_spec.lua"}

return {
  {
    rule = "parts of rows and matrices are rows to machine code",
    finders = {parts},
    mutants = {
      {"parts end one further", "csrc/kernel/native/value.h",
       "first - 1 + length <= (double)extent", "first - 2 + length <= (double)extent"},
      {"columns have the stride of rows", "csrc/kernel/native/c_part.c",
       "ms_c_stride(w, of->array, gone), ms_c_stride(w, of->array, stays),",
       "ms_c_stride(w, of->array, gone), ms_c_stride(w, of->array, gone),"},
      {"parts of any lengths match", "csrc/kernel/native/c_row.c",
       [[ms_c_line(w, "if (MS_UNLIKELY(%s != %s)) {", a->extent, b->extent);]],
       [[ms_c_line(w, "if (MS_UNLIKELY(%s < %s)) {", a->extent, b->extent);]]},
      {"parts have the extents of their arrays", "csrc/kernel/native/c_bounds_check.c",
       [[key.extent = ms_c_text(w, "(double)%s", extent);]], ""},
      {"elements of parts are side by side", "csrc/kernel/native/c_part.c",
       [["%s.at[(%s - 1) * %s.stride]", part, at, part]], [["%s.at[%s - 1]", part, at]]},
      {"magnitudes lie side by side", "csrc/array/magnitudes.h",
       "ms_sum_double(ms_magnitudes_double(x + (at)*stride, stride, n, room), n)",
       "ms_sum_double(ms_magnitudes_double(x + (at), 1, n, room), n)"},
      {"all norms are Euclidean", "csrc/kernel/native/c_row.c",
       [[*name = one ? "magnitudes" :]], [[*name = one ? "norm" :]]},
      {"norms of least elements are least", "csrc/kernel/native/c_row.c",
       "extreme(w, kind, node, x, MS_MEASURE_MIN)", "extreme(w, kind, node, x, MS_MEASURE_MAX)"},
      {"variances are those of all", "csrc/array/rowwise.h",
       "return ms_row_spread_double(x, stride, count) / (double)(count - 1);",
       "return ms_row_spread_double(x, stride, count) / (double)count;"},
    },
  },
  {
    rule = "the table of methods says what they do",
    finders = {method},
    mutants = {
      {"what is scaled is not read", "csrc/array/method.c",
       [[{.name = "scal", .most = 1, .effect = MS_METHOD_UPDATE,]],
       [[{.name = "scal", .most = 1, .effect = MS_METHOD_WRITE,]]},
      {"views are new arrays", "csrc/array/method.c",
       [[{.name = "select", .most = 2, .effect = MS_METHOD_VIEW}]],
       [[{.name = "select", .most = 2, .effect = MS_METHOD_FRESH}]]},
      {"clones are views", "csrc/array/method.c",
       [[{.name = "clone", .most = 0, .effect = MS_METHOD_FRESH}]],
       [[{.name = "clone", .most = 0, .effect = MS_METHOD_VIEW}]]},
      {"sums along a dimension are numbers", "csrc/array/method.c",
       [[{.name = "sum", .most = 1, .effect = MS_METHOD_READ, .dimension = 1,]],
       [[{.name = "sum", .most = 1, .effect = MS_METHOD_READ, .dimension = 2,]]},
      {"labels are elements", "csrc/array/method.c",
       [[{.name = "label", .most = 2, .effect = MS_METHOD_SHAPE}]],
       [[{.name = "label", .most = 2, .effect = MS_METHOD_READ}]]},
    },
  },
  {
    rule = "sorting keeps the order of equal elements, and a nan is greater than all",
    finders = {sorting},
    mutants = {
      {"places do not count", "csrc/array/sort.c",
       " || (a->key == b->key && a->place < b->place)", ""},
      {"a nan is what its bits are", "csrc/array/sort.c",
       "if (value != value) return UINT64_MAX;", ""},
      {"0 is greater than -0", "csrc/array/sort.c", "if (value == 0) value = 0; /* -0 */", ""},
      {"many are sorted by their first bits alone", "csrc/array/sort.c",
       "if (lowest > 0) sort_runs(items, room, count, lowest);", ""},
      {"digits are those of the last bits", "csrc/array/sort.c",
       "return lowest < 0 ? 0 : lowest;", "return lowest < 0 ? 0 : lowest / 64;"},
      {"a heap loses its last item", "csrc/array/sort.c", "for (int64_t i = most; most > 0",
       "for (int64_t i = most + 1; most > 0"},
    },
  },
  {
    rule = "functions of arrays are those of bodies",
    finders = {functions},
    mutants = {
      {"powers of rows are others", "csrc/array/rowwise.h",
       "#define NEW(old) ms_math_pow(old, a)",
       "#define NEW(old) ms_libm_exp(ms_libm_log(old) * a)"},
      {"shares of threads overlap", "csrc/array/arith.c",
       "int64_t first = k * SHARE,", "int64_t first = k * SHARE - (k > 0),"},
    },
  },
  {
    rule = "products have the bits of dot, or of a loop over entries",
    finders = {products},
    mutants = {
      {"odd columns are taken twice", "csrc/array/product_tile_text.h",
       "if (!odd_column) to[1] += sums[1];", "to[1] += sums[1];"},
      {"chunks follow each other without an end", "csrc/array/product_block.c",
       "first += MS_REDUCE_CHUNK) {", "first += 2 * MS_REDUCE_CHUNK) {"},
      {"what is filled up is not 0", "csrc/array/product_block.c",
       "memset(to + count * (int64_t)p->size, 0,", "memset(to + count * (int64_t)p->size, 63,"},
      {"columns of entries are one off", "csrc/array/product_sparse.c",
       "sum = sum + p->values[e] * p->dense[p->columns[e] - 1];",
       "sum = sum + p->values[e] * p->dense[p->columns[e] % p->inner];"},
    },
  },
  {
    rule = "the table of strategies says what they are like",
    finders = {classes},
    mutants = {
      {"in a wavefront only the first axis is handed on", "csrc/depend/strategy_traits.c",
       [[                      .turned = true,
                      .chains = MS_CHAINS_ALL,]],
       [[                      .turned = true,
                      .chains = 1,]]},
      {"a rotation goes row by row", "csrc/depend/strategy_traits.c",
       [[                   .rotated = true,
]], "", finders = {picture}},
      {"an ordered loop may not be told of its rotation", "csrc/depend/strategy_traits.c",
       [[                   .unordered = true},]], "                   },", finders = {report}},
    },
  },
  {
    rule = "rows that names hold are what they were when they were evaluated",
    finders = {{spec = "spec/kernel/held_rows_spec.lua"}},
    mutants = {
      {"rows go on with their names", "csrc/kernel/native/c_value.c",
       "type == NULL || lasting(value.text)", "type == NULL || object || lasting(value.text)"},
      {"a list is what it was before its key was found", "csrc/kernel/native/c_lists.c",
       "return ms_c_expression(w, node).text;",
       "return ms_c_hold(w, ms_c_expression(w, node)).text;"},
    },
  },
  {
    rule = "lists of lists of numbers that are all equally deep are read as they are",
    finders = {{spec = "spec/kernel/nested_lists_spec.lua"}},
    mutants = {
      {"what is not equally deep is a list, too", "lua/meissa/capture/numbers.lua",
       "if type(element) ~= kind or count > room", "if count > room"},
      {"later launches put numbers into the first list", "lua/meissa/kernel/outer_lists.lua",
       "copied.starts[n - 1] + k - 1", "copied.starts[0] + k - 1"},
      {"elements follow the last one", "csrc/kernel/native/value.h",
       "(uint64_t)key - 1 < (uint64_t)(starts[list + 1] - first)", "key >= 1"},
      {"missing lists are none of Lua's business", "csrc/kernel/native/c_lists.c",
       '  ms_c_error(w, at, ms_c_text(w, "%s < 0", number), what);\n', ""},
      {"all lists are there", "csrc/kernel/native/c_value.c",
       'ms_c_text(w, "(%s >= 0)", value.text)', '"1"'},
    },
  },
}
