/* SPDX-License-Identifier: MIT
 *
 * What messages show of a file's bytes. */
#include "base/shown.h"

#include <string.h>

#include "base/test.h"

typedef struct sample {
  const char *text, *shown;
} sample;

static const sample samples[] = {
    {"", ""},
    {"plain text, 12.5", "plain text, 12.5"},
    {"Zo\xC3\xAB \xE2\x82\xAC \xF0\x9F\x98\x80", "Zo\xC3\xAB \xE2\x82\xAC \xF0\x9F\x98\x80"},
    {"a\tb\r", "a\\x09b\\x0D"},
    {"\x1B[31m", "\\x1B[31m"},
    {"\x7F", "\\x7F"},
    {"C:\\x", "C:\\\\x"},
    {"\xC2\x9B"
     "1m",
     "\\xC2\\x9B"
     "1m"}, /* a C1 control */
    {"\xFF\xFE"
     "1",
     "\\xFF\\xFE"
     "1"},                                        /* no UTF-8 */
    {"\xC0\xAF", "\\xC0\\xAF"},                   /* overlong */
    {"\xE0\x80\xAF", "\\xE0\\x80\\xAF"},          /* overlong */
    {"\xED\xA0\x80", "\\xED\\xA0\\x80"},          /* a surrogate */
    {"\xF5\x80\x80\x80", "\\xF5\\x80\\x80\\x80"}, /* beyond Unicode */
    {"\xE2\x82", "\\xE2\\x82"},                   /* cut short */
    {"1234567890123456789012345678901234567890", "1234567890123456789012345678901234567890"},
    {"12345678901234567890123456789012345678901", "1234567890123456789012345678901234567890..."},
};

int main(void) {
  char buffer[MS_SHOWN_SIZE];
  for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
    const char *text = samples[i].text;
    CHECK(strcmp(ms_shown(text, strlen(text), buffer, sizeof buffer), samples[i].shown) == 0);
  }
  CHECK(strcmp(ms_shown("a\0b", 3, buffer, sizeof buffer), "a\\x00b") == 0);
  /* Whatever the room, the result is terminated and inside it. */
  char garbage[64];
  memset(garbage, 0x80, sizeof garbage);
  for (size_t size = 4; size <= MS_SHOWN_SIZE; size++) {
    memset(buffer, 'z', sizeof buffer);
    ms_shown(garbage, sizeof garbage, buffer, size);
    CHECK(memchr(buffer, '\0', size) != NULL);
    CHECK(strstr(buffer, "...") != NULL);
  }
  return ms_test_end();
}
