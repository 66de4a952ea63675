/* SPDX-License-Identifier: MIT
 *
 * What strategies are like: see strategy_traits.h. */
#include "depend/strategy_traits.h"

#include <stddef.h>
#include <string.h>

static const ms_strategy_traits traits[MS_STRATEGIES] = {
    [MS_INDEPENDENT] = {.name = "independent",
                        .noun = "independent",
                        .words = "independent",
                        .least_axes = 1,
                        .most_axes = INT32_MAX,
                        .any_axis = true},
    [MS_PARTITION] = {.name = "partition",
                      .noun = "partition",
                      .words = "partition by $dims",
                      .least_axes = 1,
                      .most_axes = INT32_MAX,
                      .chains = 1,
                      .one_way = true},
    [MS_SKEW] = {.name = "skew",
                 .noun = "skew",
                 .words = "skew by $row",
                 .least_axes = 1,
                 .most_axes = 1,
                 .axes_words = "a skewed loop is cut along one axis"},
    [MS_ROTATE] = {.name = "rotate",
                   .noun = "rotation",
                   .words = "rotate",
                   .least_axes = 2,
                   .most_axes = 4,
                   .axes_words = "two to four axes can be rotated",
                   .rotated = true,
                   .chains = MS_CHAINS_ALL,
                   .unordered = true},
    [MS_WAVEFRONT] = {.name = "wavefront",
                      .noun = "wavefront",
                      .words = "wavefront over $dims",
                      .least_axes = 2,
                      .most_axes = 2,
                      .axes_words = "a wavefront has two axes",
                      .turned = true,
                      .chains = MS_CHAINS_ALL,
                      .one_way = true},
    [MS_HYPERPLANE] = {.name = "hyperplane",
                       .noun = "hyperplane",
                       .words = "hyperplane, $outer in sequence, $last together",
                       .least_axes = 1,
                       .most_axes = 1,
                       .axes_words = "a hyperplane sweep has sequential axes and a parallel one",
                       .sweeps = true},
    [MS_ROUNDS] = {.name = "rounds",
                   .noun = "rounds",
                   .words = "rounds $outer, ranges of $last",
                   .least_axes = 1,
                   .most_axes = 1,
                   .axes_words = "rounds are cut along one axis",
                   .sweeps = true},
    [MS_LEVELS] = {.name = "levels",
                   .noun = "sweep over levels",
                   .words = "levels, one after the other",
                   .least_axes = 1,
                   .most_axes = 1,
                   .axes_words = "levels are cut along one axis",
                   .sweeps = true},
    [MS_SERIALLY] = {.name = "serial",
                     .noun = "serial",
                     .words = "serial",
                     .least_axes = 1,
                     .most_axes = INT32_MAX,
                     .any_axis = true,
                     .alone = true,
                     .chains = MS_CHAINS_ALL},
};

const ms_strategy_traits *ms_strategy_traits_of(int strategy) {
  return strategy >= 0 && strategy < MS_STRATEGIES ? &traits[strategy] : NULL;
}

bool ms_strategy_waits(int strategy) {
  const ms_strategy_traits *of = &traits[strategy];
  return !of->alone && (of->sweeps || of->chains > 1);
}

ms_strategy ms_strategy_find(const char *name) {
  int strategy = 0;
  while (strategy < MS_STRATEGIES && strcmp(traits[strategy].name, name) != 0) strategy++;
  return (ms_strategy)strategy;
}

const char *ms_strategy_name(ms_strategy strategy) {
  return traits[strategy].name;
}
