-- SPDX-License-Identifier: MIT
-- Mutants of what arrays take in and give out.
local damage = {spec = "spec/read/damage_spec.lua", draws = "MEISSA_FILES", most = 300}
local encoded = {spec = "spec/base/encoded_spec.lua"}
local tensor = {spec = "spec/array/tensor_spec.lua"}
local along = {spec = "spec/array/along_spec.lua"}
local triples = {spec = "spec/read/triples_spec.lua"}
local errors = {spec = "spec/driver/first_error_spec.lua"}

return {
  {
    rule = "bits from outside are numbers, strings and tables",
    finders = {damage, encoded},
    mutants = {
      {"bits of files stay", "csrc/read/file.c",
       "    ms_type_settle_nan(array->type, at, (size_t)n);\n", ""},
      {"bits of floats stay", "csrc/array/type.c",
       "if (type == MS_FLOAT) settle_floats(", "if (type < 0) settle_floats("},
      {"bits of tensors stay", "lua/meissa/array/tensor.lua",
       "    c_api.lib.ms_type_settle_nan(number, to, count)\n", "", finders = {tensor}},
      {"numbers with any bits are decoded", "csrc/base/encoded.c",
       "if (bits > NAN_BITS) return", "if (bits > UINT64_MAX - (NAN_BITS & 0)) return"},
      {"pointers are decoded", "csrc/base/encoded.c",
       [[if (tag <= TAG_LIGHT64) return "has a pointer";]],
       "if (tag <= TAG_LIGHT64) return skip(s, tag == TAG_LIGHT64 ? 8 : tag == 4 ? 4 : 0);"},
      {"integers of 64 bits are decoded", "csrc/base/encoded.c",
       "    return integers ? skip(s, 8)", "    return integers || true ? skip(s, 8)"},
      {"tables have the size that they announce", "csrc/base/encoded.c",
       "if (table.left > bytes_left(s)) return", "if (table.left > UINT32_MAX) return"},
      {"keys may be nil", "csrc/base/encoded.c", "if (tag == TAG_NIL && key) return",
       "if (tag == TAG_NIL && key && s->depth < 0) return"},
      {"streams are decoded as they come", "lua/meissa/base/encoded.lua",
       "if fault ~= nil then", "if fault ~= nil and #bytes == 0 then"},
    },
  },
  {
    rule = "tensors have an array's elements, sizes and type",
    finders = {tensor},
    mutants = {
      {"sizes are given to the constructor", "lua/meissa/array/tensor.lua",
       "tensor:resize(torch.LongStorage(subscript.methods.size(handle)))",
       "tensor = torch[names[raw.type]](torch.LongStorage(subscript.methods.size(handle)))"},
      {"sizes are the memory's", "lua/meissa/array/tensor.lua",
       "local copy = handle:clone()", "local copy = handle"},
      {"what has no elements is resized", "lua/meissa/array/tensor.lua",
       "if bytes == 0 then return tensor end\n", "\n"},
      {"all integers have 64 bits", "lua/meissa/array/tensor.lua",
       [["IntTensor", "LongTensor" }]], [["LongTensor", "LongTensor" }]]},
      {"any tensor's memory is copied", "lua/meissa/array/tensor.lua",
       "if names[number] == string.sub(class, 7) then", "if names[number] then"},
    },
  },
  {
    rule = "reductions go along the dimension that they are given; arguments mean something",
    finders = {along, {spec = "spec/array/product_spec.lua"}},
    mutants = {
      {"the dimension is ignored", "lua/meissa/array/along.lua",
       "ms_array_reduce_along, array, d - 1, op,", "ms_array_reduce_along, array, 0, op,"},
      {"places are counted from 0", "csrc/array/along.c",
       "ms_reduce_place_view(&view, values[lane]) + 1;",
       "ms_reduce_place_view(&view, values[lane]);"},
      {"nan is nowhere", "csrc/array/reduce.c",
       "(isnan(value) && isnan(elements[i]))", "(isnan(value) && elements[i] < 0)"},
      {"dimensions may be fractions", "lua/meissa/array/along.lua",
       "math.floor(d) ~= d or ", ""},
      {"entries are counted with the last dimension", "csrc/array/along.c",
       "if (d != dim) lane = lane", "if (d != x->dim_count - 1) lane = lane"},
      {"snapshots have an address", "lua/meissa/array/shape.lua",
       "valid.check_writable(array, \"data\")", "local _ = array"},
      {"snapshots may be written", "lua/meissa/array/part.lua",
       "  lib.ms_array_freeze(copy.array)\n", ""},
      {"arguments too many are passed over", "lua/meissa/array/arity.lua",
       "if extra ~= nil then refuse(name, 2, extra) end", ""},
    },
  },
  {
    rule = "a first line of names over a column of integers is asked about",
    finders = {triples},
    mutants = {
      {"headers are entries", "csrc/read/triple_batch.c",
       "batch->integers[d] = format->maybe_header;", "batch->integers[d] = false;"},
      {"columns below names are integers", "csrc/read/triple_batch.c",
       "      batch->integers[c] = is_integer(&fields[c]);\n", ""},
      {"skip = 0 is no answer", "csrc/read/triple_batch.c",
       "options->like == NULL && !options->no_header &&", "options->like == NULL &&"},
    },
  },
  {
    rule = "of several errors the first in the loop's order is raised",
    finders = {errors},
    mutants = {
      {"the first to arrive", "csrc/driver/failure.c",
       "return !first->any || next->turn < first->turn;", "return !first->any;"},
      {"that of the last block", "csrc/driver/failure.c",
       "return !first->any || next->turn < first->turn;",
       "return !first->any || next->turn > first->turn;"},
      {"nobody is waited for", "csrc/driver/failure.c",
       "    if (member->part != MS_PART_NONE && has_due(session, member)) return;\n", ""},
      {"iterations of a block come as they like", "csrc/driver/failure.c",
       "if (difference != 0) return difference < 0;",
       "if (difference != 0) return difference > 0;"},
      {"in this process the last one", "lua/meissa/driver/loop_failure.lua",
       "turn == self.turn and order < self.order", "turn == self.turn and order > self.order"},
    },
  },
}
