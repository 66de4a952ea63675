/* SPDX-License-Identifier: MIT
 *
 * Chunks: the module's Lua files as bytecode, out of the one file that the build makes of them
 * (tools/chunks.lua). Its form, in this machine's numbers:
 *
 *   magic, uint32 count, then of each module, in the order of their names, uint32 place and size of
 *   its name, of its text and of its bytecode; then these bytes
 *
 * The file is mapped, so that of a megabyte of texts no copy is made: a module's file is read and
 * compared, byte for byte. Every place is checked before it is used; what is damaged is not there.
 */
#include <fcntl.h>
#include <lauxlib.h>
#include <limits.h>
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "binding/lua.h"

#define TYPE  "meissa.chunk_file"
#define MAGIC "meissa\nchunks 1\n"

typedef struct span {
  uint32_t place, size;
} span;

typedef struct record {
  span name, text, code;
} record;

typedef struct chunks {
  const char *bytes; /* mapped */
  size_t size;
  const record *records; /* in them */
  uint32_t count;
} chunks;

/* The bytes of a file, read-only, and how many; NULL: there are none. */
static const char *map_file(const char *path, size_t *size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  struct stat about;
  void *bytes = MAP_FAILED;
  if (fstat(file, &about) == 0 && about.st_size > 0) {
    *size = (size_t)about.st_size;
    bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  }
  close(file);
  return bytes == MAP_FAILED ? NULL : bytes;
}

/* Whether the mapped file has this form as far as its records go. */
static bool find_records(chunks *list) {
  size_t head = sizeof MAGIC - 1 + sizeof list->count;
  if (list->size < head || memcmp(list->bytes, MAGIC, sizeof MAGIC - 1) != 0) return false;
  memcpy(&list->count, list->bytes + sizeof MAGIC - 1, sizeof list->count);
  list->records = (const record *)(const void *)(list->bytes + head);
  return list->count <= (list->size - head) / sizeof(record);
}

/* The bytes of a span; NULL: it leaves the file. */
static const char *bytes_of(const chunks *list, span where) {
  bool inside = where.place <= list->size && where.size <= list->size - where.place;
  return inside ? list->bytes + where.place : NULL;
}

/* The record of a module; NULL: it has none. */
static const record *find_module(const chunks *list, const char *module, size_t length) {
  uint32_t low = 0, high = list->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    span name = list->records[middle].name;
    const char *bytes = bytes_of(list, name);
    if (bytes == NULL) return NULL;
    int order = memcmp(bytes, module, name.size < length ? name.size : length);
    if (order == 0 && name.size == length) return &list->records[middle];
    if (order < 0 || (order == 0 && name.size < length))
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

/* Whether the open file holds these bytes and no more. */
static bool holds(int file, const char *bytes, size_t size) {
  char piece[16384];
  for (size_t done = 0;;) {
    ssize_t got = read(file, piece, sizeof piece);
    if (got == 0) return done == size;
    if (got < 0 || (size_t)got > size - done || memcmp(piece, bytes + done, (size_t)got) != 0)
      return false;
    done += (size_t)got;
  }
}

/* Writes into `path` what the first of `*templates` is for a module, each "?" in it being the name
 * with "/" for ".", and goes on behind it; false: there is none, or it is too long. */
static bool next_path(const char **templates, const char *module, char path[PATH_MAX]) {
  const char *at = *templates + strspn(*templates, ";");
  size_t size = 0;
  if (*at == '\0') return false;
  for (; *at != '\0' && *at != ';'; at++) {
    const char *part = *at == '?' ? module : at;
    size_t length = *at == '?' ? strlen(module) : 1;
    if (length >= PATH_MAX - size) return false;
    for (size_t k = 0; k < length; k++) path[size++] = *at == '?' && part[k] == '.' ? '/' : part[k];
  }
  path[size] = '\0';
  *templates = at;
  return true;
}

/* Opens the file that package.searchpath would find, in one go; -1: there is none. */
static int open_module(const char *templates, const char *module, char path[PATH_MAX]) {
  while (next_path(&templates, module, path)) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) return file;
  }
  return -1;
}

/* A dump of a chunk, by another name, as lua_load asks for it: piece by piece. Only the header
 * holds the name: "\27LJ", version, flags, then its length as unsigned LEB128, and the name itself
 * (LuaJIT 2.1, lj_bcdump.h). */
typedef struct renamed {
  struct {
    const char *bytes;
    size_t size;
  } pieces[4];
  uint32_t next;
  char length[5];
} renamed;

#define HEADER 5 /* bytes before the name's length */

static const char *next_piece(lua_State *L, void *context, size_t *size) {
  (void)L;
  renamed *dump = context;
  if (dump->next == 4) return NULL;
  *size = dump->pieces[dump->next].size;
  return dump->pieces[dump->next++].bytes;
}

static size_t put_uleb(char out[5], uint32_t number) {
  size_t size = 0;
  for (; number >= 128; number >>= 7) out[size++] = (char)(number % 128 + 128);
  out[size++] = (char)number;
  return size;
}

/* Loads a dump whose name is shorter than 128 bytes by the name "@path"; lua_load's status. */
static int load_renamed(lua_State *L, const char *code, uint32_t size, const char *path) {
  const char *name = lua_pushfstring(L, "@%s", path);
  uint32_t length = (uint32_t)strlen(name), old = size > HEADER ? (unsigned char)code[HEADER] : 128;
  if (old >= 128 || size - HEADER - 1 < old) return LUA_ERRSYNTAX;
  renamed dump = {.next = 0};
  dump.pieces[0].bytes = code;
  dump.pieces[0].size = HEADER;
  dump.pieces[1].bytes = dump.length;
  dump.pieces[1].size = put_uleb(dump.length, length);
  dump.pieces[2].bytes = name;
  dump.pieces[2].size = length;
  dump.pieces[3].bytes = code + HEADER + 1 + old;
  dump.pieces[3].size = size - HEADER - 1 - old;
  return lua_load(L, next_piece, &dump, name);
}

/* What is loaded stays. Lets the collector, which would go through it several times, begin when so
 * much more is in use, unless the program has stopped it; its pause stays what it is. */
static void put_off_collection(lua_State *L, size_t bytes) {
  if (!lua_gc(L, LUA_GCISRUNNING, 0)) return;
  size_t used = (size_t)lua_gc(L, LUA_GCCOUNT, 0) + 1, more = bytes / 1024;
  int pause = lua_gc(L, LUA_GCSETPAUSE, (int)(100 + more * 100 / used));
  lua_gc(L, LUA_GCRESTART, -1);
  lua_gc(L, LUA_GCSETPAUSE, pause);
}

/* core.chunks(path) -> the file of chunks, or nil where there is none of this form. */
static int chunks_open(lua_State *L) {
  chunks found = {0};
  found.bytes = map_file(luaL_checkstring(L, 1), &found.size);
  if (found.bytes == NULL) return 0;
  chunks *list = lua_newuserdata(L, sizeof *list);
  *list = found;
  luaL_getmetatable(L, TYPE);
  lua_setmetatable(L, -2); /* from here on the mapping is the userdata's */
  if (!find_records(list)) return 0;
  put_off_collection(L, list->size); /* bytecode takes twice as much in a state, texts none */
  return 1;
}

/* chunks:load(module, templates) -> the module's function, by the name of its file, or nil if that
 * holds another text than the chunk was made of. The file is that of package.searchpath. */
static int chunks_load(lua_State *L) {
  const chunks *list = luaL_checkudata(L, 1, TYPE);
  size_t length;
  const char *module = luaL_checklstring(L, 2, &length), *templates = luaL_checkstring(L, 3);
  const record *found = find_module(list, module, length);
  if (found == NULL) return 0;
  const char *text = bytes_of(list, found->text), *code = bytes_of(list, found->code);
  char path[PATH_MAX];
  int file = text == NULL || code == NULL ? -1 : open_module(templates, module, path);
  if (file < 0) return 0;
  bool same = holds(file, text, found->text.size);
  close(file);
  return same && load_renamed(L, code, found->code.size, path) == 0 ? 1 : 0;
}

static int chunks_close(lua_State *L) {
  chunks *list = luaL_checkudata(L, 1, TYPE);
  if (list->bytes != NULL) munmap((void *)(uintptr_t)list->bytes, list->size);
  *list = (chunks){0};
  return 0;
}

void ms_lua_open_chunks(lua_State *L) {
  luaL_newmetatable(L, TYPE);
  lua_pushcfunction(L, chunks_close);
  lua_setfield(L, -2, "__gc");
  lua_newtable(L);
  lua_pushcfunction(L, chunks_load);
  lua_setfield(L, -2, "load");
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_pushcfunction(L, chunks_open);
  lua_setfield(L, -2, "chunks");
}
