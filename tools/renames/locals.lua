-- SPDX-License-Identifier: MIT
--
-- Parameters, locals and fields follow their types, which field_words.lua renamed; a run of a
-- strided array is no range of lines.

local LINES = {"lua/meissa/read/lines", "spec/read/lines_spec"}

return {
  identifiers = {
    {"ms_line_range", "ms_strided_run", within = {"csrc/job"}},
    {"ms_strided_stretch", "ms_strided_run_at"},
    {"ms_elements_stretch", "ms_elements_run_at"},
  },
  words = {
    -- kernel
    {"draft", "emitter", within = {"csrc/kernel"}},
    {"chain", "path", within = {"csrc/kernel/emit"}},
    {"hold_chain", "hold_path", within = {"csrc/kernel/emit"}},
    -- depend
    {"serve", "inspector", within = {"csrc/depend/inspector"}},
    -- read
    {"*stretch*", "range", within = {"csrc/read"}},
    {"stretch", "range", within = LINES},
    {"stretches", "ranges", within = LINES},
    {"STRETCH", "RANGE_BYTES", within = LINES},
    {"*piece*", "bytes", within = {"csrc/read/line_range"}},
    {"*piece*", "range", within = {
      "csrc/read/byte_range", "csrc/read/lines", "csrc/read/pipeline", "csrc/read/scan",
      "csrc/read/triple",
    }},
    -- job, driver, worker
    {"stretch", "run", within = {"csrc/job"}},
    {"*parcel*", "transfer", within = {"csrc/job", "csrc/driver", "csrc/worker"}},
    {"*wanted*", "indices", within = {
      "csrc/job/index_list", "csrc/job/transfer", "csrc/driver/residency",
      "csrc/driver/worker_handle", "csrc/driver/session_state",
    }},
    {"redo", "checkpoint", within = {"csrc/job", "csrc/driver", "csrc/worker"}},
    {"*board*", "page", within = {"csrc/base", "csrc/job", "csrc/driver", "csrc/worker"}},
    {"bundle", "batch", within = {"csrc/worker"}},
    {"bundle_cost", "batch_cost", within = {"csrc/worker"}},
    {"play_bundles", "play_batches", within = {"csrc/worker"}},
    {"crew", "learned", within = {"lua/meissa/driver/job"}},
  },
}
