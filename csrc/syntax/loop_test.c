/* SPDX-License-Identifier: MIT
 *
 * Tests of finding loops and their captures. */
#include "syntax/loop.h"

#include <string.h>
#include <time.h>

#include "base/test.h"
#include "base/text.h"

static ms_tree *parse(const char *text) {
  ms_error err;
  ms_error_clear(&err);
  ms_tree *tree = ms_tree_parse(text, strlen(text), "@test.lua", &err);
  if (tree == NULL) fprintf(stderr, "%s\n  %d: %s\n", text, err.line, err.message);
  CHECK(tree != NULL);
  return tree;
}

/* "LOCAL a.b=, GLOBAL c": the captures, "=" for those assigned. */
static void describe(const ms_loop *loop, ms_text *out) {
  static const char *const reaches[] = {
      [MS_REACH_LOCAL] = "LOCAL", [MS_REACH_UPVALUE] = "UPVALUE", [MS_REACH_GLOBAL] = "GLOBAL"};
  out->length = 0;
  ms_text_add(out, "");
  for (uint32_t i = 0; i < loop->capture_count; i++) {
    const ms_capture *capture = &loop->captures[i];
    ms_text_format(out, "%s%s %s", i > 0 ? ", " : "", reaches[capture->reach], capture->root);
    for (uint32_t j = 0; j < capture->field_count; j++)
      ms_text_format(out, ".%s", capture->fields[j]);
    if (capture->assigned) ms_text_add(out, "=");
  }
}

/* The loop of either form; the closure form ignores `line`. */
static ms_loop *find(ms_tree *tree, uint32_t first, uint32_t last, uint32_t line, bool closure_form,
                     ms_error *err) {
  ms_which which = {first, last, 0};
  return closure_form ? ms_loop_closure(tree, which, err) : ms_loop_find(tree, which, line, err);
}

static void test_captures(void) {
  static const struct {
    const char *text;
    bool closure_form;
    const char *captures;
  } rows[] = {
      {"for i in p(n, m.x) do end", false, ""},
      {"local a for i in p(n) do a[i] = b[i] + i end", false, "LOCAL a, GLOBAL b"},
      {"local a for i in p(n) do local a = a local c = a end", false, "LOCAL a"},
      {"local o for i in p(n) do x(o.a.b, o.a, o, o.a.b) end", false,
       "GLOBAL x, LOCAL o.a.b, LOCAL o.a, LOCAL o"},
      {"local o for i in p(n) do o['a'].b[i].c = o[\"a\"].b[1].d end", false, "LOCAL o.a.b"},
      {"local o for i in p(n) do o.a.b, y = 1, 2 end", false, "LOCAL o.a.b=, GLOBAL y="},
      {"local s for i in p(n) do s = s + 1 end", false, "LOCAL s="},
      {"local o for i in p(n) do o.a.b:m(i):n() o.f(1).g = 2 end", false, "LOCAL o.a.b, LOCAL o.f"},
      {"for i in p(n) do function f() end function t.g:h() end end", false,
       "GLOBAL f=, GLOBAL t.g.h="},
      {"local s for i in p(n) do local function g(k) s = k + u end g(i) end", false,
       "LOCAL s=, GLOBAL u"},
      {"local s for i, s in p(n) do s = i end", false, ""},
      {"for i in p(n) do (t).a = (t.b).c end", false, "GLOBAL t, GLOBAL t.b"},
      {"for i in p(n) do x = {k = v, [w] = i} goto l ::l:: end", false,
       "GLOBAL x=, GLOBAL v, GLOBAL w"},
      {"for i in p(n) do x(t['a\\0b'], t['a\\0c'].d) end", false, "GLOBAL x, GLOBAL t"},
      {"local s each(A, s, function(i, j) s = s + i + g end)", true, "LOCAL s=, GLOBAL g"},
      {"local s each(A, function() local t = s\nfunction t.x() return s end\nend)", true,
       "LOCAL s"},
      {"local s m.each(A, function(s, ...) s = v end)", true, "GLOBAL v"},
      {"local a, b for i in p(n) do repeat local b = a until b end", false, "LOCAL a"},
  };
  ms_text text = {0};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    ms_error err;
    ms_error_clear(&err);
    ms_tree *tree = parse(rows[i].text);
    if (tree == NULL) continue;
    uint32_t last = strchr(rows[i].text, '\n') != NULL ? 3 : 1;
    ms_loop *loop = find(tree, rows[i].closure_form, last, 1, rows[i].closure_form, &err);
    CHECK(loop != NULL);
    if (loop != NULL) describe(loop, &text);
    bool same = loop != NULL && strcmp(text.bytes, rows[i].captures) == 0;
    if (!same) fprintf(stderr, "%s\n  %s %s\n", rows[i].text, text.bytes, err.message);
    CHECK(same);
    ms_tree_destroy(&tree);
  }
  ms_text_free(&text);
}

static void test_reach(void) {
  ms_tree *tree = parse(
      "local up\n"
      "local function outer(par)\n"
      "  local loc\n"
      "  for i in parallel(n) do\n"
      "    f(up, par, loc, function() return up.x + loc.y end)\n"
      "  end\n"
      "  each(A, function(i)\n"
      "    loc = par + up\n"
      "  end)\n"
      "end");
  if (tree == NULL) return;
  ms_error err;
  ms_error_clear(&err);
  ms_text text = {0};
  ms_loop *loop = ms_loop_find(tree, (ms_which){2, 10, 0}, 4, &err);
  CHECK(loop != NULL && loop->closure == NULL && loop->statement->kind == MS_FOR_GENERIC);
  if (loop != NULL) {
    describe(loop, &text);
    CHECK(strcmp(text.bytes,
                 "GLOBAL f, UPVALUE up, LOCAL par, LOCAL loc, UPVALUE up.x, LOCAL loc.y") == 0);
    CHECK(loop->function == tree->main->first_child && loop->index_count == 1);
    CHECK(strcmp(loop->indices[0]->name, "i") == 0 && loop->call->open_line == 4);
    CHECK(loop->captures[4].first->kind == MS_INDEX && loop->captures[4].first->line == 5);
    CHECK(loop->captures[1].symbol == tree->main->body->kid[0]->symbols[0]);
    CHECK(loop->body->kind == MS_BLOCK && loop->body == loop->statement->kid[1]);
  }
  loop = ms_loop_closure(tree, (ms_which){7, 9, 0}, &err);
  CHECK(loop != NULL && loop->closure != NULL && loop->call->kind == MS_CALL);
  if (loop != NULL) {
    describe(loop, &text);
    CHECK(strcmp(text.bytes, "LOCAL loc=, LOCAL par, UPVALUE up") == 0);
    CHECK(loop->body == loop->closure->body && loop->index_count == 1);
    CHECK(loop->function == tree->main->first_child && loop->closure->parent == loop->function);
    ms_loop *again = ms_loop_again(loop, &err);
    CHECK(again != NULL && again->tree != tree && again->closure != loop->closure);
    if (again != NULL) {
      describe(again, &text);
      CHECK(strcmp(text.bytes, "LOCAL loc=, LOCAL par, UPVALUE up") == 0);
      CHECK(again->closure->first_line == 7 && again->tree->symbols == tree->symbols);
      ms_tree_destroy(&again->tree);
    }
  }
  ms_text_free(&text);
  ms_tree_destroy(&tree);
}

static void test_found(void) {
  static const struct {
    const char *text;
    uint32_t first, last, line;
    bool closure_form;
    const char *call; /* NULL: an error that holds `message` */
    const char *message;
  } rows[] = {
      {"for i in parallel(n) do end", 0, 0, 1, false, "parallel(n)", NULL},
      {"for i in m.a.parallel{n} do end", 0, 9, 1, false, "m.a.parallel{n}", NULL},
      {"for i in\n  parallel\n  'x' do end", 0, 0, 3, false, "parallel\n  'x'", NULL},
      {"for i in a:b(n) do end", 0, 0, 1, false, "a:b(n)", NULL},
      {"for i in parallel(n) do for k in pairs(t) do end end", 0, 0, 1, false, "parallel(n)", NULL},
      {"for k in ipairs(t) do for i in p(n) do end end", 0, 0, 1, false, "p(n)", NULL},
      {"for w in s:gmatch('x') do for i in p(n) do end end", 0, 0, 1, false, "p(n)", NULL},
      {"for w in f()(1) do for i in p(n) do end end", 0, 0, 1, false, "p(n)", NULL},
      {"local pairs = p for i in pairs(n) do end", 0, 0, 1, false, "pairs(n)", NULL},
      {"for i in p(n) do\nfor j in q(n) do end end", 0, 0, 2, false, "q(n)", NULL},
      {"function f() for i in p(n) do end end", 1, 1, 1, false, "p(n)", NULL},
      {"function f() for i in p(n) do end end for j in q(n) do end", 0, 0, 1, false, "q(n)", NULL},
      {"f(function()\nfor i in p(n) do end end,\nfunction()\nfor i in q(n) do end end)", 3, 4, 4,
       false, "q(n)", NULL},
      {"each(A, function(i) end)", 1, 1, 0, true, "each(A, function(i) end)", NULL},
      {"local f =\nfunction(i) end each(A, f)", 2, 2, 0, true, "function(i) end", NULL},
      {"it('x', function() each(A,\nfunction(i) end) end)", 2, 2, 0, true,
       "each(A,\nfunction(i) end)", NULL},
      {"for i in p(n) do end", 0, 0, 2, false, NULL, "must be the only expression"},
      {"for i in p(n) do end", 1, 1, 1, false, NULL, "must be the only expression"},
      {"for i in (p(n)) do end", 0, 0, 1, false, NULL, "for i in parallel(n) do"},
      {"for i in p(n), nil do end", 0, 0, 1, false, NULL, "must be the only expression"},
      {"local f = p(n) for i in f do end", 0, 0, 1, false, NULL, "in a variable"},
      {"for k in pairs(p(n)) do end", 0, 0, 1, false, NULL, "not in a wrapper"},
      {"return p(n)", 0, 0, 1, false, NULL, "tail call"},
      {"for i in p(n) do end for i in p(n) do end", 0, 0, 1, false, NULL, "2 loops over a call"},
      {"a = function() for i in p(n) do end end b = function() for i in p(n) do end end", 1, 1, 1,
       false, NULL, "put each on a line of its own"},
      {"each(A, function() end) each(A, function() end)", 1, 1, 1, true, NULL,
       "2 functions begin on line 1"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    ms_error err;
    ms_error_clear(&err);
    ms_tree *tree = parse(rows[i].text);
    if (tree == NULL) continue;
    ms_loop *loop =
        find(tree, rows[i].first, rows[i].last, rows[i].line, rows[i].closure_form, &err);
    bool right;
    if (rows[i].call != NULL) {
      size_t length = strlen(rows[i].call);
      right = loop != NULL && loop->call->end - loop->call->begin == length &&
              memcmp(tree->text + loop->call->begin, rows[i].call, length) == 0;
    } else {
      right = loop == NULL && err.code == MS_SRC && strcmp(err.file, "test.lua") == 0 &&
              err.line == (int)rows[i].line && strstr(err.message, rows[i].message) != NULL;
    }
    if (!right) fprintf(stderr, "%s\n  %d: %s\n", rows[i].text, err.line, err.message);
    CHECK(right);
    ms_tree_destroy(&tree);
  }
}

static void test_first(void) {
  ms_error err;
  ms_error_clear(&err);
  ms_tree *tree = parse(
      "local function f() for i in no(n) do end end\n"
      "for k in pairs(t) do for i in parallel(n) do s = i end end for j in parallel(m) do end");
  if (tree == NULL) return;
  ms_loop *loop = ms_loop_first(tree, &err);
  CHECK(loop != NULL && loop->call->column == 31 && loop->capture_count == 1);
  ms_tree_destroy(&tree);
  tree = parse("for i = 1, 2 do end");
  if (tree == NULL) return;
  CHECK(ms_loop_first(tree, &err) == NULL && err.code == MS_SRC && err.line == 1);
  CHECK(strstr(err.message, "no loop of the form") != NULL);
  ms_tree_destroy(&tree);
}

/* Bodies too deep to recurse over are refused; many captures are found without scanning. */
static void test_large(void) {
  ms_text text = {0};
  for (int terms = 900; terms <= 1100; terms += 200) {
    text.length = 0;
    ms_text_add(&text, "for i in p(n) do x=1");
    for (int i = 0; i < terms; i++) ms_text_add(&text, "+1");
    ms_text_add(&text, " end");
    ms_tree *tree = parse(text.bytes);
    ms_error err;
    ms_error_clear(&err);
    ms_loop *loop = tree != NULL ? ms_loop_first(tree, &err) : NULL;
    CHECK((loop != NULL) == (terms == 900));
    CHECK(loop != NULL || strstr(err.message, "split its longest expression") != NULL);
    ms_tree_destroy(&tree);
  }
  text.length = 0;
  ms_text_add(&text, "for i in p(n) do ");
  for (int i = 0; i < 50000; i++) ms_text_format(&text, "v%d.f = v%d.f ", i, i / 2);
  ms_text_add(&text, "end");
  ms_tree *tree = parse(text.bytes);
  ms_error err;
  ms_error_clear(&err);
  clock_t before = clock();
  ms_loop *loop = tree != NULL ? ms_loop_first(tree, &err) : NULL;
  CHECK(clock() - before < 10 * CLOCKS_PER_SEC);
  CHECK(loop != NULL && loop->capture_count == 50000);
  CHECK(loop != NULL && loop->captures[49999].assigned &&
        strcmp(loop->captures[49999].root, "v49999") == 0);
  ms_tree_destroy(&tree);
  ms_text_free(&text);
}

int main(void) {
  test_captures();
  test_reach();
  test_found();
  test_first();
  test_large();
  return ms_test_end();
}
