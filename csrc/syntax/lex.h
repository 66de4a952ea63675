/* SPDX-License-Identifier: MIT
 *
 * Lexer: the bytes of a Lua text as tokens, exactly as LuaJIT cuts them.
 *
 * The parser owns the lexer and its buffer. Errors unwind: ms_lexer_fail jumps to `escape`, which
 * the owner has set; everything taken meanwhile belongs to the arena or to the lexer. */
#ifndef MS_SYNTAX_LEX_H
#define MS_SYNTAX_LEX_H

#include <setjmp.h>

#include "base/text.h"
#include "syntax/name.h"
#include "syntax/tree.h"

/* Reserved words and tokens of several characters; a token of one character is that character. */
#define MS_RESERVED_WORDS(X) \
  X(AND, "and")              \
  X(BREAK, "break")          \
  X(DO, "do")                \
  X(ELSE, "else")            \
  X(ELSEIF, "elseif")        \
  X(END, "end")              \
  X(FALSE, "false")          \
  X(FOR, "for")              \
  X(FUNCTION, "function")    \
  X(GOTO, "goto")            \
  X(IF, "if")                \
  X(IN, "in")                \
  X(LOCAL, "local")          \
  X(NIL, "nil")              \
  X(NOT, "not")              \
  X(OR, "or")                \
  X(REPEAT, "repeat")        \
  X(RETURN, "return")        \
  X(THEN, "then")            \
  X(TRUE, "true")            \
  X(UNTIL, "until")          \
  X(WHILE, "while")

#define MS_LONG_TOKENS(X) \
  X(CONCAT, "..")         \
  X(DOTS, "...")          \
  X(EQ, "==")             \
  X(GE, ">=")             \
  X(LE, "<=")             \
  X(NE, "~=")             \
  X(COLONS, "::")         \
  X(NUMBER, "<number>")   \
  X(NAME, "<name>")       \
  X(STRING, "<string>")   \
  X(EOF, "<eof>")

enum {
  MS_TOKEN_FIRST = 256,
#define MS_TOKEN_NAME(name, text) MS_TOKEN_##name,
  MS_RESERVED_WORDS(MS_TOKEN_NAME) MS_LONG_TOKENS(MS_TOKEN_NAME)
#undef MS_TOKEN_NAME
};

typedef struct ms_token {
  int kind;
  uint32_t line, column; /* where it starts */
  size_t begin, end;
  ms_name *name;    /* NAME and reserved words */
  const char *text; /* STRING: its value, in the arena */
  size_t length;
  double number; /* NUMBER */
  bool boxed;
} ms_token;

typedef struct ms_lexer {
  ms_tree *tree;
  ms_name_table names;
  ms_error *err;
  jmp_buf escape;
  size_t at;         /* offset of `current` */
  int current;       /* the byte to look at, -1 at the end */
  size_t line_start; /* offset of the current line */
  /* The lines as LuaJIT counts them: of the last character read, and that value when the current
   * token was asked for. A token that was looked at ahead has already moved `line`. */
  uint32_t line, last_line;
  ms_token token, ahead;
  bool has_ahead;
  size_t last_end; /* where the token before the current one ends */
  ms_text buffer;  /* the last token as an error message shows it */
} ms_lexer;

/* Starts on the text of `tree`: skips a byte order mark and a first line that begins with "#", as
 * loadstring does, refuses bytecode, knows the reserved words. Reads no token yet. */
void ms_lexer_begin(ms_lexer *lexer, ms_tree *tree, ms_error *err);

/* Frees what is not in the arena. */
void ms_lexer_end(ms_lexer *lexer);

/* Reads the next token into `token`. */
void ms_lexer_next(ms_lexer *lexer);

/* Reads one token further into `ahead`, unless that is done, and returns its kind. */
int ms_lexer_look_ahead(ms_lexer *lexer);

/* Reports a syntax error at `lexer->line` ("... near 'token'" unless token is 0) and unwinds. */
_Noreturn void ms_lexer_fail(ms_lexer *lexer, int token, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports that memory is out and unwinds. */
_Noreturn void ms_lexer_fail_memory(ms_lexer *lexer);

/* How a message spells a token; `room` is for tokens of one character. */
const char *ms_token_text(int token, char room[16]);

/* What lex.c and lex_string.c share. ms_lexer_step goes one byte on; ms_lexer_save adds a byte to
 * the buffer, ms_lexer_keep adds the current one and goes on. */
void ms_lexer_step(ms_lexer *lexer);
void ms_lexer_save(ms_lexer *lexer, int byte);
void ms_lexer_keep(ms_lexer *lexer);

/* Whether the current byte ends a line; and going over it, CR LF and LF CR being one. */
bool ms_lexer_at_newline(const ms_lexer *lexer);
void ms_lexer_newline(ms_lexer *lexer);

/* Reads "[==" or "]==": the count of "=", or -1 - count if no second bracket follows. */
int ms_lexer_level(ms_lexer *lexer);

/* Reads the rest of a long bracket from its second "[" on: a string, or a comment (token NULL). */
void ms_lexer_long(ms_lexer *lexer, ms_token *token, int level);

/* Reads a quoted string. */
void ms_lexer_quoted(ms_lexer *lexer, ms_token *token);

#endif
