-- SPDX-License-Identifier: MIT
-- Mutants of functions that a body makes, of lists of rows, and of limits.
local guards = {spec = "spec/depend/guards_random_spec.lua", draws = "MEISSA_GUARDS", most = 20000}
local body = {spec = "spec/depend/body_spec.lua"}
local inline = {spec = "spec/depend/inline_spec.lua"}
local own_objects = {spec = "spec/depend/own_objects_spec.lua"}
local given_back = {spec = "spec/capture/given_back_spec.lua"}
local table_keys = {spec = "spec/depend/table_keys_spec.lua"}

return {
  {
    rule = "functions that a body makes and only calls are walked where they are called",
    finders = {inline, body},
    mutants = {
      {"they may be called at any time", "csrc/depend/literal.c",
       "return found.other ? NULL : node->function;", "return NULL;"},
      {"those that are passed on, too", "csrc/depend/literal.c",
       "found->other = found->other || !called || inside;",
       "found->other = found->other || inside;"},
      {"they give their last value", "csrc/depend/literal.c",
       "literal->result = node == literal->tail ? *value :",
       "literal->result = literal != NULL ? *value :", finders = {guards}},
    },
  },
  {
    rule = "rows that lists and functions have are those of their arrays",
    finders = {{spec = "spec/depend/row_tables_spec.lua"},
               {spec = "spec/plan/views_spec.lua", draws = "MEISSA_VIEWS", most = 20000}},
    mutants = {
      {"rows in tables are copies", "lua/meissa/capture/search.lua",
       "  self.found[index] = true\n", ""},
      {"views begin one further", "csrc/depend/mapping.c",
       "constant(view->first[k])}", "constant(view->first[k] + 1)}"},
      {"all of a base's dimensions are one step", "csrc/depend/mapping.c",
       "factor = constant(binding->view->factor[d]);", "factor = constant(1);"},
    },
  },
  {
    rule = "a table as a subscript is a range",
    finders = {table_keys},
    mutants = {
      {"it is an element", "csrc/depend/subscript.c",
       "key->kind == MS_ABSTRACT_VALUE_OTHER && key->levels != 1",
       "key->kind == MS_ABSTRACT_VALUE_NUMBER && key->levels > 9"},
      {"elements have no methods", "csrc/depend/evaluate.c",
       "may_range ? ms_abstract_value_other(groups, false) :",
       "may_range && groups == 0 ? *value :"},
      {"lists hold no tables", "lua/meissa/capture/search.lua",
       "and 2 or 3", "and 2 or 2"},
    },
  },
  {
    rule = "large captures and long bodies are analysed, up to limits that are named",
    finders = {{spec = "spec/capture/size_spec.lua"}},
    mutants = {
      {"twenty thousand tables are many", "lua/meissa/capture/search.lua",
       "M.MOST = 1000000", "M.MOST = 20000"},
      {"few values are followed", "csrc/depend/walk.c",
       "#define MAX_PASSES 64", "#define MAX_PASSES 1",
       finders = {{spec = "spec/depend/long_bodies_spec.lua"}, body}},
      {"a call in a call is one too many", "csrc/depend/literal.c",
       "#define MAX_CALLS    12U", "#define MAX_CALLS    1U",
       finders = {{spec = "spec/depend/literal_spec.lua"}, inline, body}},
    },
  },
  {
    rule = "objects that a body makes keep what their methods store into them, and nothing else",
    finders = {own_objects},
    mutants = {
      {"all classes do", "csrc/depend/value.c",
       "  if (!walk->bindings[class->binding].kept) return;\n", ""},
      {"no class does", "lua/meissa/capture/ownership.lua",
       'type(class) == "table" and not questions.is_class(world, class) then',
       'type(class) == "table" then'},
      {"what is outside may be passed on", "lua/meissa/capture/ownership.lua",
       "if passed and not self:may_take(callee, value, n) then return false end", ""},
      {"tables hide what is stored into", "lua/meissa/capture/bytecode.lua",
       "if value == nil or value == PARAMETER then self.stores = true end",
       "if value == PARAMETER then self.stores = true end", finders = {given_back}},
      {"keys are not what is outside", "lua/meissa/capture/ownership.lua",
       "      self:is_outside(key))", "      false)",
       finders = {given_back}},
      {"locals have names of their own", "lua/meissa/capture/ownership.lua",
       "  if self.dirty then return OUTSIDE end\n", "", finders = {given_back}},
      {"what is outside may be returned", "lua/meissa/capture/ownership.lua",
       "return not self:any_outside(held, a, a + d - 2)", "return true"},
      {"what is outside may be stored", "lua/meissa/capture/ownership.lua",
       "or self:is_outside(held[a]) or", "or"},
      {"the last branch counts", "lua/meissa/capture/ownership.lua",
       "local met = outside and OUTSIDE or nil", "local met = other"},
      {"loops are gone through once", "lua/meissa/capture/ownership.lua",
       "and target <= pc or again", "and false or again"},
      {"a function that has been proved stays so", "lua/meissa/capture/ownership.lua",
       "if not last or not questions.are_same(last.asked, world) then", "if not last then"},
      {"functions that see the same globals are as they were",
       "lua/meissa/capture/questions.lua",
       "for n = 1, closed.count, 4 do", "for n = 1, math.min(closed.count, 4), 4 do"},
      {"objects are given nothing from outside", "csrc/depend/arguments.c",
       "return walk->owns_objects && (all->captured || walk->stored_captured);", "return false;"},
    },
  },
  {
    rule = "a loop that takes the values of sparse entries writes no other iteration's",
    finders = {{spec = "spec/depend/entries_spec.lua"}},
    mutants = {
      {"it may write any", "csrc/depend/entry.c",
       "  if (space->sparse) find_stale(walk, &access, value);\n", ""},
      {"each is another's", "csrc/depend/entry.c",
       " || is_of_entry(access, entry)) continue;", ") continue;"},
      {"whose values are named is taken to use them", "csrc/depend/entry.c",
       "return look.found ? look.symbol : NULL;", "return look.symbol;"},
    },
  },
  {
    rule = "fixes are code that is valid where the loop stands",
    finders = {{spec = "spec/depend/option_spec.lua"}},
    mutants = {
      {"options that are nil have fields", "csrc/depend/option.c",
       "count > spaces && !walk->space->no_options;", "count > spaces;"},
      {"a name is no table of options", "csrc/depend/option.c",
       "options->kind == MS_TABLE || options->kind == MS_NIL;", "true;"},
      {"an option is set twice", "csrc/depend/option.c",
       "    if (sets(table->kid[k], option)) continue;\n", ""},
    },
  },
}
