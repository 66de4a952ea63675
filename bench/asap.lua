-- SPDX-License-Identifier: MIT
--- Who hears whom, and who waits for whom: SGD on replicas (Kadav and Kruus, "ASAP: Asynchronous
-- Approximate Data-Parallel Computation", sections 3 and 6, figures 2 and 5 to 10).
--
-- A row is a setting after all passes, with the best of the step sizes that all have tried: the
-- loss of the merged model, of the worst and the mean replica before a merge, what was sent in all
-- rounds without the final merge, and what it took until the merged model's loss was within
-- --target of that of one serial pass after the other. "serial" is plain SGD by a loop in this
-- process, "one replica" the same on a worker: held to the same bits. Curves, loss against rounds,
-- samples, bytes and time, are in the objects that --json prints, and in the figures. Parts:
--   topologies   all topologies and ways of waiting on one problem
--   averaging    how much nearer an exchange takes replicas, beside the second singular value
--   figure5 figure6 figure7 figure10   SVMs, on as many replicas as the paper has
--   figure8      which part of merges had how many messages of the round before, from histories
--   figure9      a convolutional network that exchanges in three ways
--   network      a multilayer network over topologies
--   factors      matrix factorization whose columns are replicated
--   lags         rounds to the target by the age of what is heard, and the largest step by theory
--   timeouts     messages that are late; a time-out that follows what is usual, and a fixed one
--   luajit bench/asap.lua [--only figure5,figure7] [--data a9a.gz] [--quick] [--json] [--png FILE]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/?.lua;" .. directory ..
  "../examples/support/?.lua;" .. package.path
local argparse = require "argparse"
local curves = require "curves"
local meissa = require "meissa"
local run = require "run"

local parser = argparse("asap.lua", "SGD on replicas, by topologies and ways of waiting.")
parser:option("--merge-by", "Only run 8 replicas that wait in this way."):hidden(true)
parser:option("--naps", "Sleep so many microseconds a round."):hidden(true):convert(tonumber)
parser:option("--time-out", "Only run what is late, with this time-out."):hidden(true)
  :convert(tonumber)
local PARTS = {"topologies", "averaging", "figure5", "figure6", "figure7", "figure8", "figure9",
               "figure10", "network", "factors", "lags", "timeouts"}
parser:option("--only", "Only these parts, with commas between.")
local options = curves.linear("8", "0.0001", "the losses")
options[#options + 1] = {"pictures", "How many pictures the network learns.", "1200",
                         quick = "200"}
local complete = curves.options(parser, options)
local asked = complete(parser:parse())
asked.directory, asked.nodes, asked.script = directory, 8, arg[0]
local wanted = curves.parts(parser, asked.only, PARTS)

-- What children of this bench run, whose histories are looked at.
local reduces = require "asap_reduces"
if asked.merge_by then return reduces.child(asked) end
local late = require "asap_late"
if asked.time_out then return late.child(asked) end

meissa.init {workers = asked.workers, quiet = true}
local figures = require "asap_figures"
local report = run.report({json = asked.json, quiet = true}, {})
local run_part = {
  topologies = figures.topologies, averaging = figures.averaging, figure5 = figures.figure5,
  figure6 = figures.figure6, figure7 = figures.figure7, figure8 = reduces.run,
  figure9 = figures.figure9, figure10 = figures.figure10, network = figures.network,
  factors = figures.factors, lags = late.lags, timeouts = late.timeouts,
}
for _, part in ipairs(PARTS) do
  if wanted[part] then run_part[part](asked, report) end
end
