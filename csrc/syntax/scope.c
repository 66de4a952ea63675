/* SPDX-License-Identifier: MIT
 *
 * Parser, scopes: locals, labels and jumps. See parse.h.
 *
 * A name's record says what it means now; what it meant before is kept beside each declaration and
 * restored when its block ends. So finding a name costs the same however many there are. */
#include "syntax/parse.h"

void ms_scope_begin(ms_parser *parser, ms_scope *scope, bool loop) {
  *scope = (ms_scope){.outer = parser->frame->scope,
                      .loop = loop,
                      .locals = parser->locals.count,
                      .labels = parser->labels.count,
                      .jumps = parser->jumps.count};
  parser->frame->scope = scope;
}

static void remove_locals(ms_parser *parser, size_t level) {
  while (parser->locals.count > level) {
    ms_local *local = parser->locals.item[--parser->locals.count];
    local->name->symbol = local->hidden;
  }
}

static void remove_labels(ms_parser *parser, size_t level) {
  while (parser->labels.count > level) {
    ms_label *label = parser->labels.item[--parser->labels.count];
    label->name->label = label->hidden;
  }
}

/* Whether a jump that is pending at the end of a scope ends in it: a break in its loop, a goto at
 * a label before it. */
static bool is_met(const ms_jump *jump, const ms_scope *scope) {
  if (jump->name == NULL) return scope->loop;
  return jump->name->label != NULL && jump->name->label->index >= scope->labels;
}

_Noreturn static void fail_jump(ms_parser *parser, const ms_jump *jump) {
  parser->lexer.line = jump->line;
  if (jump->name == NULL) ms_lexer_fail(&parser->lexer, 0, "no loop to break");
  ms_lexer_fail(&parser->lexer, 0, "undefined label '%s'", jump->name->text);
}

/* Drops the jumps that are met; the others now start from the outer scope. */
static void pass_jumps(ms_parser *parser, const ms_scope *scope) {
  ms_pile *jumps = &parser->jumps;
  for (size_t i = jumps->count; i > scope->jumps; i--) {
    ms_jump *jump = jumps->item[i - 1];
    if (jump != NULL && jump->name != NULL && is_met(jump, scope)) jump->name->jump = jump->older;
  }
  size_t kept = scope->jumps;
  for (size_t i = scope->jumps; i < jumps->count; i++) {
    ms_jump *jump = jumps->item[i];
    if (jump == NULL || is_met(jump, scope)) continue;
    if (scope->outer == NULL) fail_jump(parser, jump);
    jump->local = scope->locals;
    jump->index = kept;
    jumps->item[kept++] = jump;
  }
  jumps->count = kept;
}

void ms_scope_end(ms_parser *parser) {
  ms_scope *scope = parser->frame->scope;
  parser->frame->scope = scope->outer;
  remove_locals(parser, scope->locals);
  pass_jumps(parser, scope);
  remove_labels(parser, scope->labels);
}

static void gather_symbol(ms_parser *parser, ms_name *name, ms_node *declaration,
                          const ms_token *token) {
  ms_local *local = ms_parser_take(parser, 1, sizeof *local);
  local->name = name;
  local->symbol = (ms_symbol){.name = name->text,
                              .function = parser->frame->function,
                              .declaration = declaration,
                              .index = parser->tree->symbols++,
                              .line = token->line,
                              .column = token->column};
  ms_parser_push(parser, &parser->gathered, &local->symbol);
}

void ms_scope_gather(ms_parser *parser, ms_node *declaration) {
  ms_token token = parser->lexer.token;
  gather_symbol(parser, ms_parser_name(parser), declaration, &token);
}

void ms_scope_gather_self(ms_parser *parser) {
  ms_name *name = ms_name_intern(&parser->lexer.names, "self", 4);
  if (name == NULL) ms_lexer_fail_memory(&parser->lexer);
  gather_symbol(parser, name, NULL, &parser->lexer.token);
}

void ms_scope_add(ms_parser *parser, const ms_node *node) {
  for (uint32_t i = 0; i < node->symbol_count; i++) {
    ms_local *local = (ms_local *)node->symbols[i];
    ms_parser_push(parser, &parser->locals, local);
    local->hidden = local->name->symbol;
    local->name->symbol = &local->symbol;
  }
}

ms_symbol *ms_scope_find(ms_parser *parser, const ms_name *name) {
  ms_symbol *symbol = name->symbol;
  if (symbol != NULL && symbol->function != parser->frame->function) symbol->upvalue = true;
  return symbol;
}

void ms_scope_jump(ms_parser *parser, ms_name *name) {
  ms_jump *jump = ms_parser_take(parser, 1, sizeof *jump);
  *jump = (ms_jump){.name = name,
                    .index = parser->jumps.count,
                    .local = parser->locals.count,
                    .line = parser->lexer.last_line};
  ms_parser_push(parser, &parser->jumps, jump);
  if (name == NULL) return;
  jump->older = name->jump;
  name->jump = jump;
}

ms_label *ms_scope_label(ms_parser *parser, ms_name *name) {
  const ms_scope *scope = parser->frame->scope;
  if (name->label != NULL && name->label->index >= scope->labels)
    ms_lexer_fail(&parser->lexer, 0, "duplicate label '%s'", name->text);
  ms_label *label = ms_parser_take(parser, 1, sizeof *label);
  *label = (ms_label){.hidden = name->label,
                      .name = name,
                      .index = parser->labels.count,
                      .local = parser->locals.count};
  ms_parser_push(parser, &parser->labels, label);
  name->label = label;
  return label;
}

void ms_scope_meet(ms_parser *parser, const ms_label *label) {
  const ms_scope *scope = parser->frame->scope;
  const ms_jump *bad = NULL;
  ms_jump *jump = label->name->jump;
  for (; jump != NULL && jump->index >= scope->jumps; jump = jump->older) {
    if (jump->local < label->local) bad = jump;
    parser->jumps.item[jump->index] = NULL;
  }
  label->name->jump = jump;
  if (bad == NULL) return;
  const ms_local *local = parser->locals.item[bad->local];
  parser->lexer.line = bad->line;
  ms_lexer_fail(&parser->lexer, 0, "<goto %s> jumps into the scope of local '%s'", bad->name->text,
                local->symbol.name);
}
