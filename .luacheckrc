-- SPDX-License-Identifier: MIT
std = "luajit"
max_line_length = 100
exclude_files = {"build/"}
files["spec"] = {std = "+busted"}
files["**/*_spec.lua"] = {std = "+busted"}
