-- SPDX-License-Identifier: MIT
--
-- A function's name has the noun of its header in it, or of a type that its header defines; what a
-- .c file keeps to itself has no ms_ (CONTRIBUTING.md, Names).

-- Old and new name by line, of functions that headers declare.
local EXPORTED = [[
  -- array
  ms_array_apply ms_arith_array
  ms_row_apply ms_arith_row
  ms_is_row_major ms_array_is_row_major
  ms_array_blocks ms_partition_blocks
  ms_array_gemv ms_product_gemv
  ms_array_ger ms_product_ger
  ms_array_gemm ms_product_gemm
  ms_columns_dot_double ms_product_columns_double
  ms_columns_dot_float ms_product_columns_float
  ms_array_reduce ms_reduce_array
  ms_row_reduce ms_reduce_row
  ms_array_place ms_reduce_place
  ms_view_place ms_reduce_place_view
  ms_array_dot ms_reduce_dot
  ms_row_dot ms_reduce_dot_row
  ms_touched_next ms_touched_walk_next

  -- binding
  ms_bind_ ms_lua_open_
  ms_bind_analysis ms_lua_open_analysis
  ms_bind_chunks ms_lua_open_chunks
  ms_bind_kernel ms_lua_open_kernel
  ms_bind_launch ms_lua_open_launch
  ms_bind_library ms_lua_open_library
  ms_bind_merge ms_lua_open_merge
  ms_bind_plain ms_lua_open_plain
  ms_bind_reached ms_lua_open_reached
  ms_bind_run ms_lua_open_run
  ms_bind_runtime ms_lua_open_runtime
  ms_bind_traits ms_lua_open_traits
  ms_bind_undo ms_lua_open_undo
  ms_bind_verdict ms_lua_open_verdict
  ms_bind_worker ms_lua_open_worker
  ms_push_error ms_lua_push_error
  ms_check_loop ms_lua_check_loop
  ms_check_verdict ms_lua_check_verdict
  ms_push_verdict ms_lua_push_verdict
  ms_space_from_lua ms_lua_to_space
  ms_bindings_from_lua ms_lua_to_bindings
  ms_list_keys ms_lua_list_keys
  ms_settle_keys ms_lua_settle_keys
  ms_to_pointer ms_field_to_pointer
  ms_to_whole ms_field_to_whole
  ms_to_small ms_field_to_small
  ms_scratch ms_field_scratch
  ms_read_grid ms_job_read_grid
  ms_read_job ms_job_read
  ms_launch_find_homes ms_launch_move_find_homes
  ms_launch_is_apart ms_launch_move_is_apart
  ms_launch_point ms_launch_move_point
  ms_launch_point_home ms_launch_move_point_home
  ms_rule_begin ms_rule_state_begin
  ms_check_session ms_run_check_session

  -- depend
  ms_walk_find_changes ms_arguments_find_changes
  ms_walk_operate ms_arithmetic_operate
  ms_walk_whole ms_arithmetic_floor
  ms_walk_number_range ms_arithmetic_range
  ms_walk_constant ms_arithmetic_constant
  ms_walk_visits_entries ms_call_visits_entries
  ms_loop_capture_of ms_capture_path_of
  ms_loop_captures_root ms_capture_path_starts
  ms_capture_is ms_capture_path_is
  ms_walk_logic ms_condition_logic
  ms_walk_compare ms_condition_compare
  ms_walk_not ms_condition_not
  ms_truth_keep ms_condition_keep
  ms_component_is_zero ms_distance_is_zero
  ms_component_is_never_negative ms_distance_is_never_negative
  ms_component_is_never_zero ms_distance_is_never_zero
  ms_walk_value ms_evaluate
  ms_walk_binding ms_evaluate_binding
  ms_walk_field ms_evaluate_field
  ms_walk_event ms_evaluate_event
  ms_binding_path ms_explain_path
  ms_domain_extent ms_extent_of
  ms_domain_is_long ms_extent_is_long
  ms_domain_ordinals ms_extent_ordinals
  ms_domain_describe ms_extent_describe
  ms_greatest_divisor ms_integer_gcd
  ms_absolute ms_integer_absolute
  ms_floor_div ms_integer_floor_div
  ms_row_make_primitive ms_integer_make_primitive
  ms_node_builtin ms_tally_builtin
  ms_node_same_value ms_tally_same_value
  ms_node_is_steady ms_tally_is_steady
  ms_walk_enter ms_flow_enter
  ms_walk_if ms_flow_if
  ms_walk_exit ms_flow_exit
  ms_walk_label ms_flow_label
  ms_walk_close_jumps ms_flow_close_jumps
  ms_walk_leaves ms_flow_leaves
  ms_walk_note_dead ms_flow_note_dead
  ms_walk_is_dead ms_flow_is_dead
  ms_walk_make_groups ms_footprint_make_groups
  ms_walk_groups_of ms_footprint_groups
  ms_walk_record_view ms_footprint_add_view
  ms_walk_record_element ms_footprint_add_element
  ms_walk_record_groups ms_footprint_add_groups
  ms_walk_record ms_footprint_add
  ms_walk_find_impure ms_impure_find
  ms_walk_find_random ms_impure_find_random
  ms_walk_find_barred ms_impure_find_barred
  ms_walk_find_globals ms_impure_find_globals
  ms_symbol_is_followed ms_induction_follows
  ms_node_targets ms_induction_targets
  ms_node_assigned ms_induction_assigned
  ms_node_has_exit ms_induction_has_exit
  ms_walk_meaning ms_inline_meaning
  ms_walk_give_parameters ms_inline_parameters
  ms_function_tail ms_inline_tail
  ms_walk_give_result ms_inline_result
  ms_walk_place ms_inline_place
  ms_walk_quantify ms_numeric_loop_variable
  ms_walk_generic ms_generic_loop_walk
  ms_walk_only_called ms_literal_only_called
  ms_walk_hold ms_local_value_hold
  ms_walk_held ms_local_value_held
  ms_walk_forget ms_local_value_forget
  ms_walk_end_path ms_local_value_end_path
  ms_walk_meet ms_local_value_meet
  ms_walk_count_trips ms_trips_count
  ms_walk_begin_trips ms_trips_begin
  ms_walk_end_trips ms_trips_end
  ms_code_meaning ms_pure_meaning
  ms_walk_range ms_shift_range
  ms_walk_new_view ms_subscript_new_view
  ms_walk_view ms_subscript_whole_array
  ms_walk_is_table_key ms_subscript_is_table_key
  ms_walk_is_indexed ms_subscript_is_of_array
  ms_walk_index ms_subscript_index
  ms_walk_element ms_subscript_element
  ms_walk_part ms_subscript_part
  ms_walk_floor ms_subscript_floor
  ms_walk_set_symbol ms_variable_value_set
  ms_walk_assign ms_variable_value_assign
  ms_walk_either ms_variable_value_either
  ms_walk_join ms_variable_value_join
  ms_walk_store ms_variable_value_store
  ms_walk_add_stored ms_variable_value_add_stored
  ms_walk_own_objects ms_variable_value_own_objects
  ms_reduce_name ms_reduce_op_name
  ms_wins_name ms_reduce_wins_name

  -- driver, job, net, plan, read, syntax, worker
  ms_session_accept ms_session_wait_accept
  ms_session_complete ms_session_wait_complete
  ms_session_dismiss ms_session_wait_dismiss
  ms_writes_section ms_operand_writes_section
  ms_writes_rows ms_operand_writes_rows
  ms_writes_span ms_operand_writes_span
  ms_small_put_back ms_small_keep_restore
  ms_abi ms_frame_abi
  ms_abi_check ms_frame_abi_check
  ms_lane_receive ms_link_receive_lane
  ms_identity_make ms_socket_identity
  ms_element_run_write ms_element_lists_write_run
  ms_marks_take ms_needs_take
  ms_marks_take_touched ms_needs_take_touched
  ms_table_is_missing ms_table_format_is_missing
  ms_triple_look ms_triple_format_learn
  ms_loop_split ms_version_split
  ms_worker_resume ms_worker_checkpoint_resume
  ms_worker_keep_image ms_worker_checkpoint_keep
  ms_worker_stop ms_worker_failure_stop
  ms_worker_give_up ms_worker_failure_give_up
  ms_worker_last_turn ms_worker_failure_last_turn
  ms_worker_needs ms_worker_failure_needs
  ms_worker_publish ms_worker_failure_publish
  ms_worker_begin ms_worker_job_begin
  ms_worker_end ms_worker_job_end
  ms_worker_advance ms_worker_job_advance
  ms_worker_room ms_worker_job_room
  ms_worker_cancelled ms_worker_job_cancelled
  ms_worker_keep_report ms_worker_report_keep
  ms_worker_send_done ms_worker_report_done
  ms_worker_remember_operands ms_worker_return_remember

  -- kernel/emit
  ms_capture_find ms_emitter_find_capture
  ms_emitter_may_fail ms_index_path_may_fail
  ms_assign_direct ms_index_path_stores_direct
  ms_key_may_be_table ms_key_type_may_be_table
  ms_key_is_number ms_key_type_is_number
  ms_pow ms_strict_pow

  -- kernel/native
  ms_c_gains ms_c_advice_gains
  ms_c_memory ms_c_array_memory
  ms_c_touch ms_c_array_touch
  ms_c_touched ms_c_array_touched
  ms_c_stride ms_c_array_stride
  ms_c_extent ms_c_array_extent
  ms_c_limit ms_c_array_limit
  ms_c_as_integer ms_c_array_integer
  ms_c_stored ms_c_array_stored
  ms_c_stored_whole ms_c_array_stored_whole
  ms_c_object_type ms_c_array_object_type
  ms_c_locate ms_c_location_find
  ms_c_load ms_c_location_load
  ms_c_touch_target ms_c_site_touch
  ms_c_target_eval ms_c_site_eval
  ms_c_target_lvalue ms_c_site_lvalue
  ms_c_assignment ms_c_assign
  ms_c_is_update ms_c_assign_is_update
  ms_c_update ms_c_assign_update
  ms_c_selection ms_c_assign_selection
  ms_c_function ms_c_block_function
  ms_c_bounds ms_c_block_bounds
  ms_c_subscript ms_c_bounds_check_subscript
  ms_c_note_use ms_c_cache_prefetch_note
  ms_c_return ms_c_call_return
  ms_c_arguments ms_c_call_arguments
  ms_c_operand ms_c_expression_operand
  ms_c_condition ms_c_expression_condition
  ms_c_left_operand ms_c_expression_left
  ms_c_reads_late ms_c_expression_reads_late
  ms_c_is_choice ms_c_expression_is_choice
  ms_c_local_value ms_c_expression_local
  ms_c_counted ms_c_induction_counted
  ms_c_widened ms_c_integer_widened
  ms_c_narrowed ms_c_integer_narrowed
  ms_c_is_part ms_c_integer_value_is_part
  ms_c_extent_dim ms_c_integer_value_extent
  ms_c_for ms_c_loop
  ms_c_for_jammed ms_c_loop_jammed
  ms_c_for_length ms_c_loop_length
  ms_c_special ms_c_parameter_special
  ms_c_argument ms_c_recursive_argument
  ms_c_is_single ms_c_region_is_single
  ms_c_joined ms_c_region_joined
  ms_c_local_form ms_c_region_local_form
  ms_c_is_written_in ms_c_survey_writes
  ms_c_loop_around ms_c_survey_around
  ms_c_is_assigned_in ms_c_survey_assigns
  ms_c_round ms_c_rounded_note
  ms_c_round_sum ms_c_rounded_sum
  ms_c_cut ms_c_rounded_cut
  ms_c_round_local ms_c_rounded_local
  ms_c_round_again ms_c_rounded_again
  ms_c_measure ms_c_row_measure
  ms_c_extent_of ms_c_row_extent
  ms_c_small_product ms_c_small_sum_product
  ms_c_small_local ms_c_small_sum_local
  ms_c_small_text ms_c_small_sum_text
  ms_c_for_entries ms_c_sparse_for
  ms_c_block ms_c_statements
  ms_c_declare ms_c_local_declare
  ms_c_list ms_c_expression_list
  ms_c_parts_find ms_c_sum_parts_find
  ms_c_parts_begin ms_c_sum_parts_begin
  ms_c_parts_take ms_c_sum_parts_take
  ms_c_parts_end ms_c_sum_parts_end
  ms_c_is_elementwise ms_c_trip_is_elementwise
  ms_c_is_scan ms_c_trip_is_scan
  ms_c_is_scatter ms_c_trip_is_scatter
  ms_c_uses ms_c_trip_uses
  ms_c_passed_type ms_c_upvalue_type
  ms_c_is_passed ms_c_upvalue_is_passed
  ms_c_nil ms_c_value_nil
  ms_c_representation ms_c_value_representation
  ms_c_type ms_c_value_type
  ms_c_called ms_c_value_called
  ms_c_as_double ms_c_value_as_double
  ms_c_as_float ms_c_value_as_float
  ms_c_as_form ms_c_value_as_form
  ms_c_as_truth ms_c_value_as_truth
  ms_c_as_number ms_c_value_as_number
  ms_c_choice ms_c_value_choice
  ms_c_hold ms_c_value_hold
  ms_c_captured ms_c_variable_captured
  ms_streak_free ms_combine_free_streak
  ms_kind_join ms_kind_of_both
  ms_kind_number ms_kind_of_number
  ms_kind_other ms_kind_of_other
  ms_kind_scalar ms_kind_of_scalar
  ms_block_ends ms_typed_block_ends
]]

-- A type, and the variable of it that takes its name.
local ZEROMQ = [[
  ms_zeromq ms_zeromq_calls
  ms_zmq ms_zeromq
]]

-- Types of one .c file each.
local LOCAL = [[
  ms_capture_uses capture_uses
  ms_emission emission_box
  ms_met met_local
  ms_emitted_target emitted_target
  ms_gain gain_search
  ms_index_keys index_keys
  ms_target assign_target
  ms_keeping target_parts
  ms_alternatives alternatives
  ms_mentions mention_search
  ms_rest branch_rest
  ms_drawn draw_search
  ms_count_search count_search
  ms_nest loop_nest
  ms_copies loop_copies
  ms_copied copied_loop
  ms_counted counted_loop
  ms_ended ended_loop
  ms_call_path call_path
  ms_survey region_survey
  ms_assignments assignments
  ms_stores store_search
  ms_c_row row_argument
  ms_row_arguments row_arguments
  ms_sparse_entries sparse_entries
  ms_uses use_search
  ms_search sum_search
  ms_terms term_search
  ms_extent_search extent_search
  ms_scan_search scan_search
  ms_scatter_search scatter_search
  ms_counting counting_search
  ms_edges call_edges
]]

-- (A name in kernels, too: not there.)
local LOOP_END = {"ms_end", "loop_end", within = {"csrc/kernel/native/c_loop"}}

local function pairs_of(text)
  local list = {}
  for old, new in text:gsub("%-%-[^\n]*", ""):gmatch "(%S+) (%S+)" do
    list[#list + 1] = {old, new}
  end
  return list
end

local words = pairs_of(ZEROMQ .. LOCAL)
words[#words + 1] = LOOP_END

return {
  files = {
    {"csrc/binding/binding", "csrc/binding/lua"},
    {"csrc/depend/inner", "csrc/depend/numeric_loop"},
    {"csrc/depend/iterated", "csrc/depend/generic_loop"},
    {"csrc/depend/record_access", "csrc/depend/footprint"},
    {"csrc/kernel/native/c_region_survey", "csrc/kernel/native/c_survey"},
    {"csrc/sync/replica_merge", "csrc/sync/replica"},
  },
  identifiers = pairs_of(EXPORTED),
  words = words,
}
