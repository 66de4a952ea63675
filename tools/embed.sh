#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Prints C headers as the elements of a char array, without the lines that include each other, and
# with a form feed between two of them.
#
#   tools/embed.sh FILE...    in the order in which they need each other
set -eu

first=$1
shift
{
  cat "$first"
  for each; do
    printf '\f'
    cat "$each"
  done
} | sed '/^#include "/d' | od -An -v -tu1 | sed 's/ *\([0-9][0-9]*\)/\1,/g'
