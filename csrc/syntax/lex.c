/* SPDX-License-Identifier: MIT
 *
 * Lexer: see lex.h. Brackets and quotes are in lex_string.c. */
#include "syntax/lex.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/digit.h"
#include "syntax/numeral.h"

/* Bytes from 0x80 on belong to identifiers, so UTF-8 does. */
static bool is_identifier(int c) {
  return ms_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c >= 0x80;
}

const char *ms_token_text(int token, char room[16]) {
  switch (token) {
#define TOKEN_CASE(name, text) \
  case MS_TOKEN_##name:        \
    return text;
    MS_RESERVED_WORDS(TOKEN_CASE)
    MS_LONG_TOKENS(TOKEN_CASE)
#undef TOKEN_CASE
    default:
      snprintf(room, 16, token < ' ' || token == 0x7F ? "char(%d)" : "%c", token);
      return room;
  }
}

void ms_lexer_fail(ms_lexer *lexer, int token, const char *format, ...) {
  char message[MS_ERROR_MESSAGE_SIZE], room[16], place[MS_ERROR_FILE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (token == 0) {
    ms_error_set(lexer->err, MS_SRC, "%s", message);
  } else {
    bool shown = token == MS_TOKEN_NAME || token == MS_TOKEN_STRING || token == MS_TOKEN_NUMBER;
    const char *near = shown ? lexer->buffer.bytes : ms_token_text(token, room);
    ms_error_set(lexer->err, MS_SRC, "%s near '%s'", message, near != NULL ? near : "");
  }
  ms_tree_place(lexer->tree, place, sizeof place);
  ms_error_place(lexer->err, place, lexer->line > INT_MAX ? INT_MAX : (int)lexer->line);
  longjmp(lexer->escape, 1);
}

void ms_lexer_fail_memory(ms_lexer *lexer) {
  ms_lexer_fail(lexer, 0, "not enough memory to parse %zu bytes of Lua", lexer->tree->length);
}

void ms_lexer_step(ms_lexer *lexer) {
  if (lexer->at < lexer->tree->length) lexer->at++;
  lexer->current =
      lexer->at < lexer->tree->length ? (unsigned char)lexer->tree->text[lexer->at] : -1;
}

void ms_lexer_save(ms_lexer *lexer, int byte) {
  char one = (char)byte;
  ms_text_append(&lexer->buffer, &one, 1);
  if (lexer->buffer.failed) ms_lexer_fail_memory(lexer);
}

void ms_lexer_keep(ms_lexer *lexer) {
  ms_lexer_save(lexer, lexer->current);
  ms_lexer_step(lexer);
}

bool ms_lexer_at_newline(const ms_lexer *lexer) {
  return lexer->current == '\n' || lexer->current == '\r';
}

void ms_lexer_newline(ms_lexer *lexer) {
  int first = lexer->current;
  ms_lexer_step(lexer);
  if (ms_lexer_at_newline(lexer) && lexer->current != first) ms_lexer_step(lexer);
  lexer->line++;
  lexer->line_start = lexer->at;
}

void ms_lexer_begin(ms_lexer *lexer, ms_tree *tree, ms_error *err) {
  static const struct {
    const char *text;
    int token;
  } words[] = {
#define WORD_ROW(name, text) {text, MS_TOKEN_##name},
      MS_RESERVED_WORDS(WORD_ROW)
#undef WORD_ROW
  };
  lexer->tree = tree;
  lexer->err = err;
  lexer->names.arena = tree->arena;
  lexer->line = lexer->last_line = 1;
  lexer->current = tree->length > 0 ? (unsigned char)tree->text[0] : -1;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    ms_name *name = ms_name_intern(&lexer->names, words[i].text, strlen(words[i].text));
    if (name == NULL) ms_lexer_fail_memory(lexer);
    name->token = words[i].token;
  }
  if (tree->length >= 3 && memcmp(tree->text, "\xEF\xBB\xBF", 3) == 0) {
    for (int i = 0; i < 3; i++) ms_lexer_step(lexer);
    lexer->line_start = 3;
  }
  if (lexer->current == '#') {
    while (!ms_lexer_at_newline(lexer) && lexer->current >= 0) ms_lexer_step(lexer);
    if (lexer->current >= 0) ms_lexer_newline(lexer);
  }
  if (lexer->current == '\x1B') ms_lexer_fail(lexer, 0, "this is bytecode, not Lua text");
}

void ms_lexer_end(ms_lexer *lexer) {
  ms_text_free(&lexer->buffer);
}

/* Reads what looks like a number: also signs behind an exponent's letter, and all letters. */
static void read_number(ms_lexer *lexer, ms_token *token) {
  int before = lexer->current, letter = 'e';
  if (before == '0') {
    ms_lexer_keep(lexer);
    if ((lexer->current | 0x20) == 'x') letter = 'p';
  }
  while (is_identifier(lexer->current) || lexer->current == '.' ||
         ((lexer->current == '-' || lexer->current == '+') && (before | 0x20) == letter)) {
    before = lexer->current;
    ms_lexer_keep(lexer);
  }
  ms_numeral kind = ms_numeral_read(lexer->buffer.bytes, &token->number);
  if (kind == MS_NUMERAL_MEMORY) ms_lexer_fail_memory(lexer);
  if (kind == MS_NUMERAL_BAD) ms_lexer_fail(lexer, MS_TOKEN_NUMBER, "malformed number");
  token->kind = MS_TOKEN_NUMBER;
  token->boxed = kind == MS_NUMERAL_BOXED;
}

static void read_word(ms_lexer *lexer, ms_token *token) {
  size_t begin = lexer->at;
  while (is_identifier(lexer->current)) ms_lexer_step(lexer);
  const char *text = lexer->tree->text + begin;
  ms_text_append(&lexer->buffer, text, lexer->at - begin);
  token->name = ms_name_intern(&lexer->names, text, lexer->at - begin);
  if (token->name == NULL || lexer->buffer.failed) ms_lexer_fail_memory(lexer);
  token->kind = token->name->token != 0 ? token->name->token : MS_TOKEN_NAME;
}

/* Skips a comment whose "--" has been read. */
static void skip_comment(ms_lexer *lexer) {
  if (lexer->current == '[') {
    int level = ms_lexer_level(lexer);
    lexer->buffer.length = 0;
    if (level >= 0) {
      ms_lexer_long(lexer, NULL, level);
      return;
    }
  }
  while (!ms_lexer_at_newline(lexer) && lexer->current >= 0) ms_lexer_step(lexer);
}

/* Skips white space and comments; returns false if it stopped behind a lone "-". */
static bool skip_space(ms_lexer *lexer) {
  for (;;) {
    switch (lexer->current) {
      case '\n':
      case '\r':
        ms_lexer_newline(lexer);
        break;
      case ' ':
      case '\t':
      case '\v':
      case '\f':
        ms_lexer_step(lexer);
        break;
      case '-':
        ms_lexer_step(lexer);
        if (lexer->current != '-') return false;
        ms_lexer_step(lexer);
        skip_comment(lexer);
        lexer->buffer.length = 0;
        break;
      default:
        return true;
    }
  }
}

/* Reads `second` behind the current byte as part of the token `both`, if it is there. */
static int pair(ms_lexer *lexer, int second, int both) {
  int first = lexer->current;
  ms_lexer_step(lexer);
  if (lexer->current != second) return first;
  ms_lexer_step(lexer);
  return both;
}

static void read_dots(ms_lexer *lexer, ms_token *token) {
  ms_lexer_keep(lexer);
  if (lexer->current == '.') {
    token->kind = pair(lexer, '.', MS_TOKEN_DOTS);
    if (token->kind == '.') token->kind = MS_TOKEN_CONCAT;
  } else if (ms_is_digit(lexer->current)) {
    read_number(lexer, token);
  } else {
    token->kind = '.';
  }
}

static void read_bracket(ms_lexer *lexer, ms_token *token) {
  int level = ms_lexer_level(lexer);
  if (level < -1) ms_lexer_fail(lexer, MS_TOKEN_STRING, "invalid long string delimiter");
  token->kind = '[';
  if (level >= 0) ms_lexer_long(lexer, token, level);
}

static void read_symbol(ms_lexer *lexer, ms_token *token) {
  switch (lexer->current) {
    case '[':
      read_bracket(lexer, token);
      break;
    case '"':
    case '\'':
      ms_lexer_quoted(lexer, token);
      break;
    case '.':
      read_dots(lexer, token);
      break;
    case '=':
      token->kind = pair(lexer, '=', MS_TOKEN_EQ);
      break;
    case '<':
      token->kind = pair(lexer, '=', MS_TOKEN_LE);
      break;
    case '>':
      token->kind = pair(lexer, '=', MS_TOKEN_GE);
      break;
    case '~':
      token->kind = pair(lexer, '=', MS_TOKEN_NE);
      break;
    case ':':
      token->kind = pair(lexer, ':', MS_TOKEN_COLONS);
      break;
    case -1:
      token->kind = MS_TOKEN_EOF;
      break;
    default:
      token->kind = lexer->current;
      ms_lexer_step(lexer);
  }
}

static void scan(ms_lexer *lexer, ms_token *token) {
  lexer->buffer.length = 0;
  bool minus = !skip_space(lexer);
  *token = (ms_token){.line = lexer->line, .begin = lexer->at - (minus ? 1 : 0)};
  token->column = (uint32_t)(token->begin - lexer->line_start) + 1;
  if (minus) {
    token->kind = '-';
  } else if (ms_is_digit(lexer->current)) {
    read_number(lexer, token);
  } else if (is_identifier(lexer->current)) {
    read_word(lexer, token);
  } else {
    read_symbol(lexer, token);
  }
  token->end = lexer->at;
}

void ms_lexer_next(ms_lexer *lexer) {
  lexer->last_end = lexer->token.end;
  lexer->last_line = lexer->line;
  if (lexer->has_ahead) {
    lexer->token = lexer->ahead;
    lexer->has_ahead = false;
  } else {
    scan(lexer, &lexer->token);
  }
}

int ms_lexer_look_ahead(ms_lexer *lexer) {
  if (!lexer->has_ahead) scan(lexer, &lexer->ahead);
  lexer->has_ahead = true;
  return lexer->ahead.kind;
}
