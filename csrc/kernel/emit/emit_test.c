/* SPDX-License-Identifier: MIT
 *
 * The text of kernels: what is rewritten, what is left alone, and lines that keep their numbers. */
#include "kernel/emit/emit.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/test.h"
#include "kernel/emit/strict.h"

#define MOST_CAPTURES 64

/* A loop with bindings made by name: A, B, C, V are arrays (10 x 4 double, 10 double, 10 x 4 int32,
 * a 10 x 4 float with strides 1 and 10), n = 10, m = 4, x = 0.5; the rest are tables. */
typedef struct fixture {
  ms_tree *tree;
  ms_loop *loop;
  ms_binding bindings[MOST_CAPTURES];
  ms_element elements[MOST_CAPTURES];
  ms_scalar_plan scalars[MOST_CAPTURES];
  ms_verdict verdict;
  ms_space space;
  ms_text out;
  ms_kernel_info info;
  ms_error err;
  int status;
} fixture;

static void bind_array(fixture *f, uint32_t c, int32_t type, uint32_t dims, int64_t s0,
                       int64_t s1) {
  f->bindings[c] = (ms_binding){.kind = MS_BIND_ARRAY, .dim_count = dims, .dims = {10, 4}};
  f->elements[c] = (ms_element){.type = type, .strides = {s0, s1}};
}

static void bind(fixture *f, uint32_t c) {
  const ms_capture *capture = &f->loop->captures[c];
  const char *root = capture->root;
  f->bindings[c] = (ms_binding){.kind = MS_BIND_TABLE, .depth = capture->field_count};
  if (strcmp(root, "A") == 0) bind_array(f, c, MS_DOUBLE, 2, 4, 1);
  if (strcmp(root, "B") == 0) bind_array(f, c, MS_DOUBLE, 1, 1, 0);
  if (strcmp(root, "C") == 0) bind_array(f, c, MS_INT32, 2, 4, 1);
  if (strcmp(root, "V") == 0) bind_array(f, c, MS_FLOAT, 2, 1, 10);
  double number = strcmp(root, "n") == 0 ? 10 : strcmp(root, "m") == 0 ? 4 : 0.5;
  if (strchr("nmx", root[0]) != NULL && root[1] == '\0')
    f->bindings[c] = (ms_binding){.kind = MS_BIND_NUMBER, .number = number};
  if (capture->assigned && f->bindings[c].kind != MS_BIND_ARRAY)
    f->scalars[f->verdict.scalar_count++] =
        (ms_scalar_plan){.capture = c, .role = MS_ROLE_REDUCTION, .op = MS_REDUCE_SUM};
}

/* `adjust` may change the plan before the text is made. */
static fixture *emit_adjusted(const char *text, ms_space space, uint32_t locals,
                              void (*adjust)(ms_verdict *verdict)) {
  fixture *f = calloc(1, sizeof *f);
  if (f == NULL) exit(1);
  f->space = space;
  f->verdict.scalars = f->scalars;
  f->verdict.dim_count = space.dim_count + space.collapse - 1;
  for (uint32_t d = 0; d < space.dim_count; d++) f->verdict.extent[d].range = space.range[d];
  f->tree = ms_tree_parse(text, strlen(text), "@test.lua", &f->err);
  f->loop = f->tree != NULL ? ms_loop_first(f->tree, &f->err) : NULL;
  CHECK(f->loop != NULL && f->loop->capture_count <= MOST_CAPTURES);
  if (f->loop == NULL) exit(1);
  for (uint32_t c = 0; c < f->loop->capture_count; c++) bind(f, c);
  if (adjust != NULL) adjust(&f->verdict);
  ms_kernel_job job = {.loop = f->loop,
                       .verdict = &f->verdict,
                       .bindings = f->bindings,
                       .space = &f->space,
                       .elements = f->elements,
                       .entry_type = MS_DOUBLE,
                       .locals = locals};
  f->status = ms_kernel_emit(&job, &f->out, &f->info, &f->err);
  return f;
}

static fixture *emit_with(const char *text, ms_space space, uint32_t locals) {
  return emit_adjusted(text, space, locals, NULL);
}

static const ms_space rows = {.dim_count = 1, .range = {{1, 10, 1}}, .source = -1, .collapse = 1};

static void drop(fixture *f) {
  ms_text_free(&f->out);
  ms_kernel_info_clear(&f->info);
  ms_tree_destroy(&f->tree);
  free(f);
}

static void check_part(const char *text, const char *body, const char *part) {
  if (strstr(text, part) == NULL) fprintf(stderr, "%s\nhas no %s:\n%s\n", body, part, text);
  CHECK(strstr(text, part) != NULL);
}

/* Bodies of `for i in parallel(n)`, and what their text must contain. */
static const struct {
  const char *body, *part;
} cases[] = {
    {"B[i] = 1", "_mp1[i-1] = 1"},
    {"A[i][2] = A[i][m]", "_mp1[i*4+2-5] = _mp1[i*4+_mc2-5]"},
    {"A[{i, 2}] = 1", "_mp1[i*4+2-5] = 1"},
    {"B[i + 1] = 1", "_mp1[_mcheck(i + 1,10,1,1)-1] = 1"},
    {"B[11 - i] = 1", "_mp1[(11 - i)-1] = 1"},
    {"B[i % 10 + 1] = 1", "_mp1[(i % 10 + 1)-1] = 1"},
    {"for k = 1, m do A[i][k] = k end", "_mp2[i*4+k-5] = k"},
    {"for k = m, 1, -1 do A[i][k] = k end", "_mp2[i*4+k-5] = k"},
    {"for k = 0, m do A[i][k] = k end", "_mp2[i*4+_mcheck(k,4,2,2)-5] = k"},
    {"for k = 1, x do A[i][k] = k end", "_mcheck(k,4,2,2)"},
    {"local w = A[i] w[3] = w[1]", "local w = i*4-5 _mp1[w+3] = _mp1[w+1]"},
    {"local w = A[i] w[3] = w[1] f(w)", "local w = _mc1[i] w[3] = w[1] _mc2(w)"},
    {"local w = V[i] w[3] = w[1]", "local w = i*_ms1_1-_ms1_1-_ms1_2 _mp1[w+3*_ms1_2]"},
    {"local w = A[i] x = x + w:dot(A[i])", "_mdot_double_double(_mp1,w+1,1,_mp1,i*4-4,1,4)"},
    {"C[i][1] = x", "_mp1[i*4+1-5] = _mint32(_mc2,1)"},
    {"C[i][1] = i * 2", "_mp1[i*4+1-5] = i * 2"},
    {"B[i] = f", "_mp1[i-1] = _mnumber(_mc2,1)"},
    {"B[i] = f()", "_mp1[i-1] = _mnumber(_mc2(),1)"},
    {"B[i], B[1] = f()", "_mc1[i], _mc1[1] = _mc2()"},
    {"B[i] = o.p.q", "_mnumber(_mc2,1)"},
    {"x = x + i ^ 2", "_mpow(i,2)"},
    {"local _m = 1 B[i] = _m", "_m1_p1[i-1]"},
    {"local n = n B[i] = n", "local n = _mc1 "},
    {"B.x = 1", "_mc1.x = 1"},
    {"local i = i B[i] = 1", "_mp1[i-1]"},
    {"i = i + 1 B[i] = 1", "_mcheck(i,10,1,1)"},
};

static void test_parts(void) {
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[256];
    snprintf(text, sizeof text, "for i in parallel(n) do %s end", cases[c].body);
    fixture *f = emit_with(text, rows, MS_KERNEL_LOCALS);
    CHECK(f->status == 0);
    if (f->status == 0) check_part(f->out.bytes, cases[c].body, cases[c].part);
    drop(f);
  }
}

/* The line on which a mark stands, from 1. */
static int line_of(const char *text, const char *mark) {
  int line = 1;
  const char *at = strstr(text, mark);
  if (at == NULL) return 0;
  for (; text < at; text++) line += *text == '\n';
  return line;
}

static void test_lines(void) {
  const char *text =
      "-- first\nfor i in\n parallel(n)\ndo\n B[i] = o\n  .p\n  .q\n local s = [[\n\n]] --MARK1\n"
      " A[i]\n  [2] = x ^\n  2 --MARK2\n f(B[i]) --MARK3\n f()\nend";
  fixture *f = emit_with(text, rows, MS_KERNEL_LOCALS);
  CHECK(f->status == 0);
  static const char *const marks[] = {"MARK1", "MARK2", "MARK3"};
  for (int m = 0; m < 3; m++) {
    CHECK(line_of(f->out.bytes, marks[m]) == line_of(text, marks[m]));
    CHECK(line_of(text, marks[m]) > 0);
  }
  drop(f);
}

static void test_shape(void) {
  ms_space entries = {.dim_count = 2,
                      .range = {{1, 10, 1}, {1, 4, 1}},
                      .source = -2,
                      .sparse = true,
                      .collapse = 1};
  fixture *f =
      emit_with("for i, j, r in parallel(R) do x = x + r * B[i] end", entries, MS_KERNEL_LOCALS);
  CHECK(f->status == 0 && f->info.entries && f->info.param_count == 4 && f->info.result_count == 1);
  CHECK(f->info.params[0].kind == MS_PARAM_COORD && f->info.params[1].at == 1);
  CHECK(f->info.params[2].kind == MS_PARAM_ENTRIES && f->info.params[3].kind == MS_PARAM_POINTER);
  drop(f);
  ms_space down = {.dim_count = 2, .range = {{10, 1, -3}, {1, 4, 1}}, .source = -1, .collapse = 1};
  f = emit_with("for i, j in parallel(n, m) do A[i][j] = 1 end", down, MS_KERNEL_LOCALS);
  check_part(f->out.bytes, "", "for _mx1=_mlo1,_mhi1,-3 do for _mx2=_mlo2,_mhi2 do");
  check_part(f->out.bytes, "", "_mp1[i*4+j-5] = 1");
  drop(f);
}

/* j runs from i to 7 - 2 * i. */
static void bound(ms_verdict *verdict) {
  verdict->extent[1] =
      (ms_extent){.range = {1, 5, 1}, .bounded = true, .low_count = 1, .high_count = 1};
  verdict->extent[1].low[0].at[0] = 1;
  verdict->extent[1].high[0] = (ms_index_sum){.constant = 7, .at = {-2}};
}

static void skew(ms_verdict *verdict) {
  verdict->has_row = true;
  verdict->row[0] = 1;
  verdict->row[1] = -2;
}

/* Blocks that are narrowed by bounds and rows; numbers with signs never make a comment. */
static void test_nests(void) {
  ms_space collapsed = rows;
  collapsed.collapse = 2;
  fixture *f = emit_adjusted("for i in parallel(n) do for j = i, 7 - 2*i do B[i] = 1 end end",
                             collapsed, MS_KERNEL_LOCALS, bound);
  CHECK(f->status == 0 && f->info.dims == 2 && !f->info.row);
  check_part(f->out.bytes, "", "_ma2,_mz2=_mgreater(_mlo2,0+1*_mx1),_mless(_mhi2,7-2*_mx1)");
  check_part(f->out.bytes, "", "for _mx2=_ma2,_mz2 do local i=_mx1 local j=_mx2 do ");
  drop(f);
  ms_space down = {.dim_count = 2, .range = {{-3, 9, 2}, {4, 1, -1}}, .source = -1, .collapse = 1};
  f = emit_adjusted("for i, j in parallel(n, m) do B[j] = 1 end", down, MS_KERNEL_LOCALS, skew);
  CHECK(f->status == 0 && f->info.row);
  check_part(f->out.bytes, "", "function(_mlo1,_mhi1,_mlo2,_mhi2,_mrlo,_mrhi,");
  check_part(f->out.bytes, "", "_mu1,_mv1=0+-2*((_mhi2-4)/-1),0+-2*((_mlo2-4)/-1)");
  check_part(f->out.bytes, "", "_mgreater(_mlo1,-3+2*_mceil((_mrlo-_mv1)/1))");
  check_part(f->out.bytes, "", "local _mb1=0+1*((_mx1+3)/2)");
  check_part(f->out.bytes, "", "_mless(_mlo2,4-1*_mceil((_mrhi-_mb1)/-2))");
  CHECK(strstr(f->out.bytes, "--") == NULL);
  drop(f);
}

/* A private scalar of several dimensions comes with its iteration. */
static void make_private(ms_verdict *verdict) {
  verdict->scalars[0].role = MS_ROLE_PRIVATE;
}

static void test_tracked(void) {
  ms_space square = {.dim_count = 2,
                     .range = {{1, 4, 1}, {1, 4, 1}},
                     .source = -1,
                     .ordered = true,
                     .collapse = 1};
  fixture *f = emit_adjusted("for i, j in parallel(4, 4) do x = i end", square, MS_KERNEL_LOCALS,
                             make_private);
  CHECK(f->status == 0 && f->info.positions == 2 && f->info.result_count == 1);
  check_part(f->out.bytes, "", "if _mc1~=_mnone then _mq1,_mq1_1,_mq1_2=_mc1,_mx1,_mx2 end");
  check_part(f->out.bytes, "", "return _mq1,_mq1_1,_mq1_2 end");
  drop(f);
}

static void test_spill(void) {
  fixture *f = emit_with("for i in parallel(n) do B[i] = a + b + c + d end", rows, 2);
  CHECK(f->status == 0 && f->info.spilled_count == 2 && f->info.param_count == 4);
  check_part(f->out.bytes, "", "_mk[");
  drop(f);
}

static void test_refusals(void) {
  ms_space collapsed = rows;
  collapsed.collapse = 2;
  fixture *f = emit_with("for i in parallel(n) do B[i] = 1 end", collapsed, MS_KERNEL_LOCALS);
  CHECK(f->status == -1 && f->err.code == MS_BUG);
  drop(f);
}

static void test_digest_and_power(void) {
  char one[MS_DIGEST_SIZE + 1], two[MS_DIGEST_SIZE + 1];
  ms_digest("", 0, one);
  CHECK(strcmp(one, "6c62272e07bb014262b821756295c58d") == 0);
  ms_digest("a", 1, one);
  ms_digest("b", 1, two);
  CHECK(strcmp(one, "d228cb696f1a8caf78912b704e4a8964") == 0 && strcmp(one, two) != 0);
  CHECK(ms_strict_pow(3, 2) == 9 && ms_strict_pow(2, -1) == 0.5 &&
        ms_strict_pow(0.1, 2) == 0.1 * 0.1);
}

int main(void) {
  test_parts();
  test_lines();
  test_shape();
  test_nests();
  test_tracked();
  test_spill();
  test_refusals();
  test_digest_and_power();
  return ms_test_end();
}
