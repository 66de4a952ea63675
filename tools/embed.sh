#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Prints C headers as the elements of a char array, with an empty line behind each: without the
# lines that include each other, those that guard against it, and the system's headers again.
#
#   tools/embed.sh FILE...    in the order in which they need each other
set -eu

for each; do
  sed -e '/^#include "/d' -e '/^#ifndef MS_[A-Z_]*_H$/,/^#define MS_[A-Z_]*_H$/d' \
    -e '${/^#endif$/d}' "$each"
  echo
done | awk '!/^#include/ || !seen[$0]++' | od -An -v -tu1 | sed 's/ *\([0-9][0-9]*\)/\1,/g'
