/* SPDX-License-Identifier: MIT
 *
 * Lexer, strings: long brackets and quoted strings with LuaJIT's escapes. See lex.h. */
#include "syntax/lex.h"

#include "base/digit.h"

/* More "=" than this in one bracket are not counted on; LuaJIT's bound. */
#define MOST_EQUALS 0x20000000

/* The value of a hexadecimal digit, -1 for anything else. */
static int hex_value(int c) {
  if (ms_is_digit(c)) return c - '0';
  int lower = c | 0x20;
  return c > 0 && lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Makes the buffer, without `margin` bytes at both ends, the token's value. */
static void take_value(ms_lexer *lexer, ms_token *token, size_t margin) {
  token->kind = MS_TOKEN_STRING;
  token->length = lexer->buffer.length - 2 * margin;
  token->text = ms_arena_copy(lexer->tree->arena, lexer->buffer.bytes + margin, token->length);
  if (token->text == NULL) ms_lexer_fail_memory(lexer);
}

int ms_lexer_level(ms_lexer *lexer) {
  int bracket = lexer->current, count = 0;
  ms_lexer_keep(lexer);
  while (lexer->current == '=' && count < MOST_EQUALS) {
    ms_lexer_keep(lexer);
    count++;
  }
  return lexer->current == bracket ? count : -1 - count;
}

void ms_lexer_long(ms_lexer *lexer, ms_token *token, int level) {
  ms_lexer_keep(lexer);
  if (ms_lexer_at_newline(lexer)) ms_lexer_newline(lexer);
  for (;;) {
    if (lexer->current < 0) {
      ms_lexer_fail(lexer, MS_TOKEN_EOF,
                    token != NULL ? "unfinished long string" : "unfinished long comment");
    } else if (lexer->current == ']') {
      if (ms_lexer_level(lexer) != level) continue;
      ms_lexer_keep(lexer);
      break;
    } else if (ms_lexer_at_newline(lexer)) {
      ms_lexer_save(lexer, '\n');
      ms_lexer_newline(lexer);
      if (token == NULL) lexer->buffer.length = 0;
    } else {
      ms_lexer_keep(lexer);
    }
  }
  if (token != NULL) take_value(lexer, token, (size_t)level + 2);
}

_Noreturn static void fail_escape(ms_lexer *lexer) {
  ms_lexer_fail(lexer, MS_TOKEN_STRING, "invalid escape sequence");
}

/* \xXX, standing on the x. */
static void read_hex(ms_lexer *lexer) {
  int value = 0;
  for (int i = 0; i < 2; i++) {
    ms_lexer_step(lexer);
    int digit = hex_value(lexer->current);
    if (digit < 0) fail_escape(lexer);
    value = value * 16 + digit;
  }
  ms_lexer_save(lexer, value);
  ms_lexer_step(lexer);
}

static void save_utf8(ms_lexer *lexer, int code) {
  if (code < 0x80) {
    ms_lexer_save(lexer, code);
    return;
  }
  if (code < 0x800) {
    ms_lexer_save(lexer, 0xC0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      ms_lexer_save(lexer, 0xE0 | (code >> 12));
    } else {
      ms_lexer_save(lexer, 0xF0 | (code >> 18));
      ms_lexer_save(lexer, 0x80 | ((code >> 12) & 0x3F));
    }
    ms_lexer_save(lexer, 0x80 | ((code >> 6) & 0x3F));
  }
  ms_lexer_save(lexer, 0x80 | (code & 0x3F));
}

/* \u{XXX}, standing on the u: any code point but the surrogates. */
static void read_unicode(ms_lexer *lexer) {
  int code = 0;
  ms_lexer_step(lexer);
  if (lexer->current != '{') fail_escape(lexer);
  ms_lexer_step(lexer);
  do {
    int digit = hex_value(lexer->current);
    if (digit < 0) fail_escape(lexer);
    code = code * 16 + digit;
    if (code >= 0x110000) fail_escape(lexer);
    ms_lexer_step(lexer);
  } while (lexer->current != '}');
  if (code >= 0xD800 && code < 0xE000) fail_escape(lexer);
  save_utf8(lexer, code);
  ms_lexer_step(lexer);
}

/* \ddd, standing on the first digit; up to three. */
static void read_decimal(ms_lexer *lexer) {
  int value = 0;
  for (int i = 0; i < 3 && ms_is_digit(lexer->current); i++) {
    value = value * 10 + (lexer->current - '0');
    if (value > 255) fail_escape(lexer);
    ms_lexer_step(lexer);
  }
  ms_lexer_save(lexer, value);
}

/* \z, standing on the z. */
static void skip_white(ms_lexer *lexer) {
  ms_lexer_step(lexer);
  while (lexer->current == ' ' || (lexer->current >= '\t' && lexer->current <= '\r')) {
    if (ms_lexer_at_newline(lexer))
      ms_lexer_newline(lexer);
    else
      ms_lexer_step(lexer);
  }
}

/* The value of an escape of one letter, -1 for others. */
static int letter_value(int c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\\':
    case '"':
    case '\'':
      return c;
    default:
      return -1;
  }
}

/* Standing behind the backslash. At the end of the text the caller reports. */
static void read_escape(ms_lexer *lexer) {
  int c = lexer->current, value = letter_value(c);
  if (value >= 0) {
    ms_lexer_save(lexer, value);
    ms_lexer_step(lexer);
  } else if (c == 'x') {
    read_hex(lexer);
  } else if (c == 'u') {
    read_unicode(lexer);
  } else if (c == 'z') {
    skip_white(lexer);
  } else if (ms_is_digit(c)) {
    read_decimal(lexer);
  } else if (ms_lexer_at_newline(lexer)) {
    ms_lexer_save(lexer, '\n');
    ms_lexer_newline(lexer);
  } else if (c >= 0) {
    fail_escape(lexer);
  }
}

void ms_lexer_quoted(ms_lexer *lexer, ms_token *token) {
  int quote = lexer->current;
  ms_lexer_keep(lexer);
  while (lexer->current != quote) {
    if (lexer->current < 0) {
      ms_lexer_fail(lexer, MS_TOKEN_EOF, "unfinished string");
    } else if (ms_lexer_at_newline(lexer)) {
      ms_lexer_fail(lexer, MS_TOKEN_STRING, "unfinished string");
    } else if (lexer->current == '\\') {
      ms_lexer_step(lexer);
      read_escape(lexer);
    } else {
      ms_lexer_keep(lexer);
    }
  }
  ms_lexer_keep(lexer);
  take_value(lexer, token, 1);
}
