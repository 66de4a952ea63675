/* SPDX-License-Identifier: MIT
 *
 * Tests of the parser: positions, scopes, values, and the wording of every error. That it accepts
 * what loadstring accepts is tested by spec/syntax/syntax_spec.lua. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "base/text.h"
#include "syntax/tree.h"

static ms_tree *parse(const char *text) {
  ms_error err;
  ms_error_clear(&err);
  ms_tree *tree = ms_tree_parse(text, strlen(text), "=test", &err);
  if (tree == NULL) fprintf(stderr, "%s\n  %d: %s\n", text, err.line, err.message);
  return tree;
}

static ms_node *statement(const ms_tree *tree, uint32_t index) {
  return tree->main->body->kid[index];
}

static bool spans(const ms_tree *tree, const ms_node *node, const char *text) {
  return node->end - node->begin == strlen(text) &&
         memcmp(tree->text + node->begin, text, strlen(text)) == 0;
}

static void test_errors(void) {
  static const struct {
    const char *text;
    int line;
    const char *message;
  } rows[] = {
      {"x", 1, "'=' expected near '<eof>'"},
      {"x y", 1, "'=' expected near 'y'"},
      {"x = ", 1, "unexpected symbol near '<eof>'"},
      {"\n\nx = = 1", 3, "unexpected symbol near '='"},
      {"x = 'a\nb'", 1, "unfinished string near ''a'"},
      {"x = \"a", 1, "unfinished string near '<eof>'"},
      {"x = '\\q'", 1, "invalid escape sequence near '''"},
      {"x = '\\xg0'", 1, "invalid escape sequence near '''"},
      {"x = 'ab\\256'", 1, "invalid escape sequence near ''ab'"},
      {"x = '\\u{110000}'", 1, "invalid escape sequence near '''"},
      {"x = '\\u{d800}'", 1, "invalid escape sequence near '''"},
      {"x = [[a\nb", 2, "unfinished long string near '<eof>'"},
      {"--[==[a\n]]", 2, "unfinished long comment near '<eof>'"},
      {"x = [=a", 1, "invalid long string delimiter near '[='"},
      {"x = 1..2", 1, "malformed number near '1..2'"},
      {"x = 3u", 1, "malformed number near '3u'"},
      {"x = 0e1048576", 1, "malformed number near '0e1048576'"},
      {"x = 0b12", 1, "malformed number near '0b12'"},
      {"x = 18446744073709551616LL", 1, "malformed number near '18446744073709551616LL'"},
      {"if x then", 1, "'end' expected near '<eof>'"},
      {"if x\nthen\n", 3, "'end' expected (to close 'if' at line 1) near '<eof>'"},
      {"if x do", 1, "'then' expected near 'do'"},
      {"while x then", 1, "'do' expected near 'then'"},
      {"for 1 = 1", 1, "'<name>' expected near '1'"},
      {"for i do", 1, "'=' or 'in' expected near 'do'"},
      {"f(\n1", 2, "')' expected (to close '(' at line 1) near '<eof>'"},
      {"f\n(1)", 2, "ambiguous syntax (function call x new statement) near '('"},
      {"a:b = 1", 1, "function arguments expected near '='"},
      {"f() = 1", 1, "unexpected symbol near '='"},
      {"a.'b' = 1", 1, "'<name>' expected near ''b''"},
      {"(a) = 1", 1, "syntax error near '='"},
      {"a, f() = 1", 1, "syntax error near '='"},
      {"end", 1, "'<eof>' expected near 'end'"},
      {"return 1 x = 2", 1, "'<eof>' expected near 'x'"},
      {";", 1, "unexpected symbol near ';'"},
      {"local x <const> = 1", 1, "unexpected symbol near '<'"},
      {"function f(a, 1) end", 1, "<name> or '...' expected near '1'"},
      {"function f() return ... end", 1, "cannot use '...' outside a vararg function near '...'"},
      {"break", 1, "no loop to break"},
      {"do break end", 1, "no loop to break"},
      {"\ngoto out", 2, "undefined label 'out'"},
      {"::a:: function f() goto a end", 1, "undefined label 'a'"},
      {"do ::a:: end goto a", 1, "undefined label 'a'"},
      {"::a:: ::a::", 1, "duplicate label 'a'"},
      {"goto a local x ::a:: x = 1", 1, "<goto a> jumps into the scope of local 'x'"},
      {"repeat goto a local x ::a:: until x", 1, "<goto a> jumps into the scope of local 'x'"},
      {"x = \1", 1, "unexpected symbol near 'char(1)'"},
      {"\x1BLJ", 1, "this is bytecode, not Lua text"},
      {"#!lua\n\x1BLJ", 2, "this is bytecode, not Lua text"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    ms_error err;
    ms_error_clear(&err);
    ms_tree *tree = ms_tree_parse(rows[i].text, strlen(rows[i].text), "@dir/file.lua", &err);
    bool same = tree == NULL && err.code == MS_SRC && err.line == rows[i].line &&
                strcmp(err.message, rows[i].message) == 0 && strcmp(err.file, "dir/file.lua") == 0;
    if (!same) fprintf(stderr, "%s\n  %d: %s\n", rows[i].text, err.line, err.message);
    CHECK(same);
    ms_tree_destroy(&tree);
  }
}

static void test_accepted(void) {
  static const char *const rows[] = {
      "",
      "#!/usr/bin/env luajit",
      "\xEF\xBB\xBFreturn 1",
      "goto = 1; local goto = {goto = goto.goto}; goto(goto)",
      "goto goto_ ::goto_::",
      "for i = 1, 2 do if i then goto continue end local x ::continue:: end",
      "for i = 1, 2 do if i then break end end",
      "do goto a; local x; ::a:: end",
      "do goto a; local x; ::a:: ::b:: end",
      "::a:: do goto a ::a:: end",
      "repeat local x if x then break end until x",
      "local \xC3\xBC = 1",
      "local t = {f\n(1)}",
      "f'a'\"b\"[[c]]{d}(e)",
      "a.b['c']:d().e = 1",
      "local function f(...) return ... end",
      "x = {1; 2, [3] = 4, a = 5,}",
      "return",
      "return;",
      "x = 'a\\z  \n  b\\\nc'",
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    ms_tree *tree = parse(rows[i]);
    CHECK(tree != NULL);
    ms_tree_destroy(&tree);
    CHECK(tree == NULL);
  }
}

static void test_positions(void) {
  ms_tree *tree = parse("local a = 1\n  foo.bar(a,\n    b + 2):go'x'\r\nreturn a");
  CHECK(tree != NULL);
  if (tree == NULL) return;
  ms_node *method = statement(tree, 1)->kid[0];
  CHECK(method->kind == MS_METHOD && strcmp(method->text, "go") == 0);
  CHECK(method->line == 2 && method->column == 3 && method->open_line == 3);
  CHECK(spans(tree, method, "foo.bar(a,\n    b + 2):go'x'"));
  ms_node *call = method->kid[0];
  CHECK(call->kind == MS_CALL && call->open_line == 2 && call->kids == 3);
  CHECK(spans(tree, call->kid[0], "foo.bar") && call->kid[0]->dotted);
  ms_node *sum = call->kid[2];
  CHECK(sum->kind == MS_BINARY && sum->op == MS_OP_ADD && sum->line == 3 && sum->column == 5);
  CHECK(spans(tree, sum, "b + 2") && sum->kid[1]->number == 2);
  CHECK(sum->parent == call && sum->ordinal == 2 && call->parent == method);
  CHECK(statement(tree, 2)->line == 4 && spans(tree, statement(tree, 2), "return a"));
  CHECK(spans(tree, statement(tree, 0), "local a = 1"));
  CHECK(tree->main->body->parent == NULL && tree->main->body->height == 6);
  ms_tree_destroy(&tree);
}

static void test_functions(void) {
  ms_tree *tree = parse(
      "function a.b:c(x, ...)\n  return function\n  ()\n  end\nend\n"
      "local function f() end");
  CHECK(tree != NULL);
  if (tree == NULL) return;
  ms_function *method = tree->main->first_child;
  CHECK(method->first_line == 1 && method->last_line == 5 && method->vararg);
  CHECK(method->parameter_count == 2 && strcmp(method->parameters[0]->name, "self") == 0);
  CHECK(strcmp(method->parameters[1]->name, "x") == 0 && method->parameters[1]->column == 16);
  ms_function *inner = method->first_child;
  CHECK(inner->first_line == 3 && inner->last_line == 4 && !inner->vararg);
  CHECK(inner->parent == method && inner->next_sibling == NULL);
  CHECK(method->next_sibling->first_line == 6 && method->next_sibling->last_line == 6);
  CHECK(tree->main->first_line == 0 && tree->main->last_line == 0 && tree->main->vararg);
  ms_node *set = statement(tree, 0);
  CHECK(set->kind == MS_SET_FUNCTION && spans(tree, set->kid[0], "a.b:c"));
  CHECK(set->kid[1]->function == method && method->body->parent == set->kid[1]);
  CHECK(spans(tree, inner->node, "function\n  ()\n  end"));
  ms_tree_destroy(&tree);
}

static void test_scopes(void) {
  ms_tree *tree = parse(
      "local a, b = a\n"
      "b = function() a = 1 return b end\n"
      "do local a = a end\n"
      "for a = a, 2 do print(a) end\n"
      "repeat local c = 1 until c\n"
      "local function f() return f end");
  CHECK(tree != NULL);
  if (tree == NULL) return;
  ms_node *first = statement(tree, 0);
  ms_symbol *a = first->symbols[0], *b = first->symbols[1];
  CHECK(first->kid[0]->symbol == NULL && first->symbol_count == 2 && first->kids == 1);
  CHECK(a->declaration == first && a->line == 1 && a->column == 7 && b->index == a->index + 1);
  CHECK(a->assigned && a->upvalue && b->assigned && b->upvalue);
  ms_node *inner = statement(tree, 2)->kid[0]->kid[0];
  CHECK(inner->kid[0]->symbol == a && inner->symbols[0] != a && !inner->symbols[0]->assigned);
  ms_node *loop = statement(tree, 3);
  CHECK(loop->kid[0]->symbol == a && loop->kid[2] == NULL);
  CHECK(loop->kid[3]->kid[0]->kid[0]->kid[1]->symbol == loop->symbols[0]);
  ms_node *repeat = statement(tree, 4);
  CHECK(repeat->kid[1]->symbol == repeat->kid[0]->kid[0]->symbols[0]);
  ms_node *local = statement(tree, 5);
  CHECK(local->kind == MS_LOCAL_FUNCTION && local->symbols[0]->upvalue);
  CHECK(!local->symbols[0]->assigned && tree->symbols == 6);
  ms_tree_destroy(&tree);
}

static void test_numbers(void) {
  static const struct {
    const char *text;
    double value;
    bool boxed;
  } rows[] = {
      {"0", 0, false},
      {"007", 7, false},
      {".5", .5, false},
      {"3.", 3, false},
      {"1e2", 100, false},
      {"12.50e+1", 125, false},
      {"0x10", 16, false},
      {"0X.8p1", 1, false},
      {"0xA.8", 10.5, false},
      {"0b101", 5, false},
      {"1e400", HUGE_VAL, false},
      {"1e-400", 0, false},
      {"4.9e-324", 4.9e-324, false},
      {"0.1", 0.1, false},
      {"9007199254740993", 9007199254740992.0, false},
      {"0x1p-1074", 4.9e-324, false},
      {"1LL", 1, true},
      {"2ull", 2, true},
      {"3LLU", 3, true},
      {"0xFFFFFFFFFFFFFFFFULL", 18446744073709551616.0, true},
      {"4i", 4, true},
      {"0b11i", 3, true},
      {"1e23", 1e23, false},
      {"123456789012345678901234567890", 1.2345678901234568e29, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[64];
    snprintf(text, sizeof text, "return %s", rows[i].text);
    ms_tree *tree = parse(text);
    ms_node *node = tree != NULL ? statement(tree, 0)->kid[0] : NULL;
    bool same = node != NULL && node->kind == MS_NUMBER && node->number == rows[i].value &&
                node->boxed == rows[i].boxed;
    if (!same) fprintf(stderr, "%s: %a\n", rows[i].text, node != NULL ? node->number : NAN);
    CHECK(same);
    ms_tree_destroy(&tree);
  }
}

static void test_strings(void) {
  ms_tree *tree = parse(
      "return 'a\\0b\\065\\x41\\u{20AC}\\z  \n c\\\r\nd', [==[\r\n]]\r]==], "
      "\"\\u{10FFFF}\\u{7FF}\"");
  CHECK(tree != NULL);
  if (tree == NULL) return;
  ms_node **value = statement(tree, 0)->kid;
  CHECK(value[0]->length == 11 && memcmp(value[0]->text,
                                         "a\0bAA\xE2\x82\xAC"
                                         "c\nd",
                                         12) == 0);
  CHECK(value[1]->length == 3 && strcmp(value[1]->text, "]]\n") == 0);
  CHECK(strcmp(value[2]->text, "\xF4\x8F\xBF\xBF\xDF\xBF") == 0);
  ms_tree_destroy(&tree);
}

typedef struct trail {
  ms_text kinds;
  ms_kind skip;
} trail;

static bool note_kind(ms_node *node, void *context) {
  static const char *const names[] = {
      [MS_NUMBER] = "number", [MS_STRING] = "string",   [MS_NAME] = "name",
      [MS_CALL] = "call",     [MS_FUNCTION] = "func",   [MS_UNARY] = "unary",
      [MS_TABLE] = "table",   [MS_FIELD] = "field",     [MS_BLOCK] = "block",
      [MS_ASSIGN] = "assign", [MS_EXPRESSION] = "expr", [MS_FOR_NUMERIC] = "for",
      [MS_RETURN] = "return", [MS_LABEL] = NULL};
  trail *seen = context;
  ms_text_format(&seen->kinds, " %s", names[node->kind] != NULL ? names[node->kind] : "?");
  return node->kind != seen->skip;
}

static bool walks(ms_tree *tree, ms_kind skip, const char *kinds) {
  trail seen = {.skip = skip};
  ms_node_walk(tree->main->body, note_kind, &seen);
  bool same = strcmp(seen.kinds.bytes, kinds) == 0;
  if (!same) fprintf(stderr, "walked%s\n", seen.kinds.bytes);
  ms_text_free(&seen.kinds);
  return same;
}

static void test_walk(void) {
  ms_tree *tree = parse("for i = 1, 2 do f(function() return {1, a = 2} end) end x = -x");
  CHECK(tree != NULL);
  if (tree == NULL) return;
  CHECK(walks(tree, MS_BLOCK, " block"));
  CHECK(walks(tree, MS_FUNCTION,
              " block for number number block expr call name func assign name unary name"));
  CHECK(walks(tree, MS_GOTO,
              " block for number number block expr call name func block return table field number"
              " field string number assign name unary name"));
  ms_tree_destroy(&tree);
}

static bool count_node(ms_node *node, void *context) {
  (void)node;
  ++*(size_t *)context;
  return true;
}

/* Chains as long as the text, and nesting up to and beyond the limit. */
static void test_depth(void) {
  ms_text text = {0};
  ms_text_add(&text, "x=1");
  for (int i = 0; i < 200000; i++) ms_text_add(&text, "+1");
  ms_tree *tree = parse(text.bytes);
  size_t nodes = 0;
  if (tree != NULL) ms_node_walk(tree->main->body, count_node, &nodes);
  CHECK(nodes == 400004);
  CHECK(tree != NULL && tree->main->body->height == 200003);
  ms_tree_destroy(&tree);
  for (int depth = 197; depth <= 100000; depth = depth == 198 ? 100000 : depth + 1) {
    text.length = 0;
    ms_text_add(&text, "x=");
    for (int i = 0; i < depth; i++) ms_text_add(&text, "(");
    ms_text_add(&text, "1");
    for (int i = 0; i < depth; i++) ms_text_add(&text, ")");
    ms_error err;
    ms_error_clear(&err);
    tree = ms_tree_parse(text.bytes, text.length, "=test", &err);
    CHECK((tree != NULL) == (depth == 197));
    CHECK(tree != NULL || strcmp(err.message, "chunk has too many syntax levels") == 0);
    ms_tree_destroy(&tree);
  }
  ms_text_free(&text);
}

/* Names and jumps by the ten thousand are found without scanning. */
static void test_many(void) {
  ms_text text = {0};
  for (int i = 0; i < 30000; i++) ms_text_format(&text, "local v%d = v%d\n", i, i / 2);
  for (int i = 0; i < 30000; i++) ms_text_format(&text, "if v%d then goto l%d end\n", i, i);
  for (int i = 0; i < 30000; i++) ms_text_format(&text, "::l%d:: v1 = 2\n", i);
  ms_tree *tree = parse(text.bytes);
  CHECK(tree != NULL && tree->symbols == 30000);
  ms_tree_destroy(&tree);
  ms_text_free(&text);
}

static void test_names(void) {
  char place[64];
  ms_tree *tree = parse("return");
  CHECK(tree != NULL);
  if (tree == NULL) return;
  static const struct {
    const char *name, *place;
  } rows[] = {
      {"@a.lua", "a.lua"},
      {"=stdin", "stdin"},
      {"return 1", "[string \"return 1\"]"},
      {"return 1\nreturn 2", "[string \"return 1...\"]"},
      {"local aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1",
       "[string \"local aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\"]"},
      {"@/long/path/long/path/long/path/long/path/long/path/long/path/file.lua",
       "...h/long/path/long/path/long/path/long/path/long/path/file.lua"},
  };
  const char *own = tree->name;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tree->name = rows[i].name;
    ms_tree_place(tree, place, sizeof place);
    if (strcmp(place, rows[i].place) != 0) fprintf(stderr, "%s\n", place);
    CHECK(strcmp(place, rows[i].place) == 0);
  }
  tree->name = own;
  CHECK(strcmp(ms_op_name(MS_OP_NE), "~=") == 0 && strcmp(ms_op_name(MS_OP_LEN), "#") == 0);
  ms_tree_destroy(&tree);
}

/* Zero bytes are characters like others; in a string they count, elsewhere they are errors. */
static void test_zeros(void) {
  ms_error err;
  ms_error_clear(&err);
  static const char string[] = "return 'a\0b'", code[] = "return\0";
  ms_tree *tree = ms_tree_parse(string, sizeof string - 1, "=test", &err);
  CHECK(tree != NULL && statement(tree, 0)->kid[0]->length == 3);
  ms_tree_destroy(&tree);
  CHECK(ms_tree_parse(code, sizeof code - 1, "=test", &err) == NULL);
  CHECK(strcmp(err.message, "unexpected symbol") == 0);
}

int main(void) {
  test_errors();
  test_accepted();
  test_positions();
  test_functions();
  test_scopes();
  test_numbers();
  test_strings();
  test_walk();
  test_depth();
  test_many();
  test_names();
  test_zeros();
  return ms_test_end();
}
