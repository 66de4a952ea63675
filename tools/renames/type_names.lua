-- SPDX-License-Identifier: MIT
--
-- No name of a type stands for two.

return {
  identifiers = {
    {"ms_uses", "ms_capture_uses", within = {"csrc/binding/analysis"}},
    {"ms_terms", "ms_strategy_terms", within = {"csrc/depend"}},
    {"ms_entries", "ms_sparse_entries", within = {"csrc/kernel/native/c_sparse"}},
    {"ms_row_search", "ms_extent_search", within = {"csrc/kernel/native/c_trip"}},
    {"ms_part", "ms_worker_part", within = {"csrc/driver"}},
    {"ms_part", "ms_scan_part", within = {"csrc/read"}},
    {"ms_part_free", "ms_scan_part_free", within = {"csrc/read"}},
    {"ms_parts_free", "ms_scan_parts_free", within = {"csrc/read"}},
    {"ms_set_number", "ms_field_set_number"},
    {"ms_set_boolean", "ms_field_set_boolean"},
    {"ms_set_string", "ms_field_set_string"},
  },
}
