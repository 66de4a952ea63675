-- SPDX-License-Identifier: MIT
-- The mutants that `make mutants` tries fit the sources, and every rule has some.
local child = require "spec.support.child"
local rules = require "spec.mutants.rules"

-- What Meissa promises, by what must not break: each has mutants, or specs with some of their own.
local PROMISED = {
  -- what is captured is what the program sees
  "one variable is one variable under all its names",
  "libraries that the program has changed are the program's",
  "views are parts of their base",
  "what a body requires is judged as what it captures",
  "after a loop that failed models of replicas begin anew, and the program's own stays",
  "what a function of replicas returns is nobody else's, and can be written",
  "replicas merge arrays of one type",
  -- what comes in, and what goes out
  "bits from outside are numbers, strings and tables",
  "tensors have an array's elements, sizes and type",
  "reductions go along the dimension that they are given; arguments mean something",
  "a first line of names over a column of integers is asked about",
  "of several errors the first in the loop's order is raised",
  -- the process
  "LuaJIT compiles plain loops over arrays",
  "parts of rows and matrices are rows to machine code",
  "tables get what is assigned to their elements",
  "bytecode is used where its text is that of the file",
  "the collector begins behind what is loaded",
  "modules that are loaded late are those that would have been loaded at first",
  "C names in declarations are Meissa's own",
  "descriptors and threads are asked for before ZeroMQ is",
  "where memory is shared, nothing of ZeroMQ is loaded or made",
  "foreign text takes time in proportion to its length; what was raised arrives",
  "what is remembered of texts takes 32 MB at most",
  "Ctrl-C is heard whenever it comes, and leaves nothing half done",
  "freed memory is kept for the next arrays, up to a limit, and is zero for them",
  "a function is proved by what its bytecode means",
  "no loop of Meissa is LuaJIT's own instruction for pairs",
  "blocks hand over in any order of arrival, and nobody waits for ever",
  "each block is done once, or none is, whoever dies and whatever comes first",
  "a loop in the body of one that runs in this process is plain",
  "a buffer is proposed for what is only added to",
  "where no row sweeps two iterations at once, the loop is proved serial",
  "a variable of an unordered loop may be read once it has another value",
  "an analysis ends after a bounded number of steps",
  -- guards
  "affine conditions narrow what is below them",
  "remainders and quotients are variables with their bounds",
  "a and b", "a or b", "not a", "else", "elseif", "goto", "return of a function",
  "locals hold what each path gave them",
  "piecewise subscripts",
  "captured booleans decide when the loop is planned",
  -- bounds, and what bodies are made of
  "loops may go from math.max to math.min",
  "conditions on an index bound it in what they choose",
  "booleans are bits where what is evaluated for nothing stops nowhere",
  "elements are written in any case where the same ones are compared",
  "functions that travel have the one `^` of all engines",
  "methods of own objects are those of their classes, unless they may be others",
  "functions have a copy for each set of tables and arrays that they are called with",
  "methods that change matrices are machine code, row by row",
  "what lists of plain values hold is no table",
  "kernels are linked with libm where they call it, and only there",
  "elements that take one of two values are chosen without a branch",
  "a choice between two small whole numbers is computed",
  "a local's integer is computed once, and a choice between integers is one",
  "rounded numbers are subscripts by their integers alone",
  "sums of small integers are computed in 32 bits",
  "negative ends of ranges count from the end",
  "locals that inner loops count are induction variables",
  "packed triangles are arrays of two dimensions",
  "functions that a body makes and only calls are walked where they are called",
  "all calls of functions that call themselves are known from one walk",
  "methods of elements of captured lists are those that all elements have",
  "rows that names hold are what they were when they were evaluated",
  "lists of lists of numbers that are all equally deep are read as they are",
  "a serial loop of which no text is kept is the loop as written",
  "a table as a subscript is a range",
  "both engines leave a key that may be a table to the arrays' own face",
  "rows that lists and functions have are those of their arrays",
  "a loop that takes the values of sparse entries writes no other iteration's",
  "objects that a body makes keep what their methods store into them, and nothing else",
  "large captures and long bodies are analysed, up to limits that are named",
  "of two iterations that collide the later one has the greater level",
  "inspection sees all that iterations touch",
  "a user's word lifts what is possible, and nothing else",
  "fixes are code that is valid where the loop stands",
  -- rounds
  "a round reads what the round before has made, and elements that it does not write stay",
  "a block waits for all who make what it may read",
  "stale reads are within the window, and one's own range is always of the round before",
  "what would be read after it was written, or written beside its range, is refused",
  "a loop of rounds that fails leaves all arrays as they were",
  "rounds in the driver's process have the bits of workers, and end where a block stops",
  "what a job works on is there once, and has another version when what travels changes",
  -- what is written once
  "the table of methods says what they do",
  "the table of strategies says what they are like",
  "sorting keeps the order of equal elements, and a nan is greater than all",
  "functions of arrays are those of bodies",
  "products have the bits of dot, or of a loop over entries",
  "what is drawn ahead is what would be drawn",
  "tables that lead nowhere are known by a look at each entry, or their encoding",
  "bodies that draw as often in each iteration draw what others do",
  "machine code prepares draws where its text draws",
  "sums to which a body adds whole numbers alone are integers",
  "kernels have what they need of the prelude",
  "kernels are quick for the extents of now, others where these are met",
  "normal numbers are quantiles",
  "libraries of workers compute with one thread, unless the user says otherwise",
  -- reductions
  "what is combined in one way everywhere is a reduction",
  "ties are broken by an index",
  "a captured table that is sent once is sent again when anything in it has changed",
  "a list of strings is known as long as it is one, with the same strings",
  "what blocks count together is what each has counted, in an order of its own",
  "a finished block is run again only where it leaves nothing but its report",
  "loops of the module's own name the user's call that leads to them",
  "a full disk keeps no loop from machine code",
  "a range is walked from its first value on, wherever that is",
  "what a rule of merging raises has the place of the loop",
  "garbage is collected while nobody asks, and who asks does not wait",
  "sums by key have keys that no function of the body changes meanwhile",
  "a set is of one constant",
  "what stands outside of a loop returns as itself, and functions of the body do not",
  "sums by key add up in the order of the blocks",
  "the second of two branches gets what the first does not take",
  "what is asked for nil is never false",
  "blocks of reductions are merged as the loop combines",
  "a loop of several stages is one transaction, merging included",
  "what is pending is merged in the plan's order, and further stages see it",
  "a region is float by the elements that it touches itself",
  "in a float region what must be exact is, and what is carried is double",
  "what no float can hold makes a region double",
  "fast mode has the same bits without workers",
  "fast mode is proposed where it takes less time",
  "inner loops are taken together only where no tail changes what they read, nor may stop",
  "sums in vectors have their own terms, in their own order",
  "sums over entries in parts have each term once",
  "what blocks store into a large buffer is marked, or all of the buffer is looked at",
  "a report stays as it was given",
  "a plan is found again by all that it was made of", "ranges weigh what they hold",
  "blocks of a sweep wait for what distances lead to",
  "arrays that are written go where their ranges go",
  "what a loop has captured is described once, how it moves by each plan",
  "the ranges of an axis differ by one value at most, longer ones first",
  "what two recordings of a loop leave is compared by what it holds",
  -- small loops
  "a walk has the plan's order and the blocks' bounds",
  "workers keep what they have made of captured values as long as these are the same",
  "a small loop runs wholly or not at all, with the bits of workers",
  "threads share blocks that wait for none, and are over when the loop is",
  "what blocks leave is combined in C as it is one by one",
  "a loop that is not so short runs where it was faster",
  "a small loop whose numbers grow may have become a long one",
  "what on_round answers governs from its own round on, and is told",
  "a launch sees whatever has changed",
  "an array takes the place of another one that is like it and shares no memory",
  "what captured functions and tables reach is what it was",
  "what is remembered of an execution is used for the same captures only",
  "a verdict holds for numbers on the line along which it was proved, and no others",
  "a loop without a log reads nothing of what it writes, and cannot fail",
  "loops with buffers have fewer blocks by the size of what is merged",
  "functions that call themselves do in C what they do in Lua",
  "functions that call themselves stop where Lua's do, and fall off no stack",
  "a block's list is what its iterations may write",
  "what a block may leave as it is comes to it before, and goes back with its list",
  "blocks hand over what others have from them, and return what they wrote last",
  "who hears of values puts them where their block has them on its list",
  "of marks what was touched is taken, all of it",
  "what a list has is logged before its block, and put back where it was",
  -- rounds
  "a block reads what was written in the round before, and writes what is no longer read",
  "what waits, and for whom, is the setting's",
  "a wait names whom to wake, and lists leave out nobody",
  "settings that contradict themselves are refused",
  "a history is accepted when all rules hold, and refused when one does not",
  "the unmanned driver records what it runs",
  "rounds that were short once more return to the driver's process",
  "schedules of rotations, wavefronts and phases wait for what the gate says",
  "NOTIFY-ACK with one slot is data-centric rounds with a range for each edge",
  "no more is kept than rounds can tell apart, and nobody changes it meanwhile",
  "a check shows a block what it is said to read, and compares all that it may write",
  "rounds go on before a test is asked, where nobody sees it, and none of them counts",
  "a stop test is told what its own round has formed",
  "first values of rounds are told by the order of blocks, where these follow the loop's",
  "a replay reads what was recorded, and injected lags are what was asked for",
  "loops in bodies are told of in the user's words",
  -- replicas
  "averaging over a topology keeps the mean, as fast as its gap says",
  "a filter sends what its rule says, and forgets nothing that it does not count",
  "options of an exchange count from the round on that they are given in",
  "each replica does its share, pass by pass, in as many rounds as all",
  "an exchange merges what all have posted, by sender, and bits depend on nothing else",
  "models are there as long as the program has their handle",
  "a model is its replica's, and is given what the replica begins with",
  "random numbers of models are each replica's, and go on with its rounds",
  "controllers follow what they measure, and say why",
  "without a barrier each replica hears what it may hear, once, and loses nothing",
  "what a merge damps is damped once a round, in its replica's own rows",
  "a function as merge is called where replicas are, as it is at the last cut",
  "a loop over replicas is one transaction, and writes nothing that replicas share",
  "functions of replicas meet in one call, see nothing of each other, and are missed",
  "tensors travel, and replicas have their own, of them and of generators",
  "workers carry replicas with the same bits, and all begin again where one dies",
  "workers sum between them what replicas have, and agree on what they do",
  "a sum that does not fit is the driver's to tell of, with all as it was",
  "lags of an exchange are of the round that begins, and topologies are what they say",
  "functions that replicas give to an exchange are one, and arrays of options are equal",
  "of who hears whom that is kept which somebody needs",
  "shards are of what all replicas see, and operations give what fits",
  "workers meet in the midst of their blocks, and nobody waits for one that has left",
  "what replicas cannot do is refused",
  "what arrays of replicas have in common they have wherever replicas are",
  "replicas have sparse arrays as dense ones, and write none that they share",
  "results of replicas are the same wherever these run, and so is what cannot be one",
  "replicas work on the rows that they post",
  "keys are visited in one order by all replicas, wherever these are",
  "what is known of an exchanged array goes with its memory",
  "what is given to replicas, or raised by them, arrives or is refused",
  "an exchange in a function of replicas is one of loops, with all that these may say",
  "a list of arrays is exchanged as one, and each gets what is its own",
  "a replica goes on without those that are late, as far as it may, and loses nothing",
  "what replicas have heard without meeting is recorded, and can be heard again",
  "an operation makes of values between workers what the driver would make of them",
  "filters where all hear all go on from what is merged, without a barrier",
  "a model's parameters are its own memory, and options mean something",
  "what on_round sets is data wherever the body uses it",
  "whether all hear all is a matter of edges, and reports and notices tell what follows",
  "merges of changes follow those of values, and go on from what replicas hold",
  "a replica's messages of a round share the quota",
  "loops of rounds and replicas in a body have what the body's names hold",
  "what controllers choose goes with private state, and is told as what it leaves",
  "private state has any type, models any memory, and each name of sync is one for all",
  "machine code goes through the lists of replicas in their order",
}

local function finders_of(rule, mutant) return mutant.finders or rule.finders end

describe("mutants", function()
  it("belong to rules, each of which has two or more, or specs that have", function()
    local seen = {}
    for _, rule in ipairs(rules.list) do
      assert.is_nil(seen[rule.rule], rule.rule)
      seen[rule.rule] = true
      local some = rule.within or rule.mutants
      assert.is_true(#some >= (rule.within and 1 or 2), rule.rule)
      for _, path in ipairs(rule.within or {}) do assert.is_string(child.read(path), path) end
    end
    assert.is_true(#rules.list > 20)
  end)

  it("are there for all that is promised", function()
    local named = {}
    for _, rule in ipairs(rules.list) do named[rule.rule] = true end
    for _, promise in ipairs(PROMISED) do
      assert.is_true(named[promise], promise)
      named[promise] = nil
    end
    assert.is_nil(next(named), next(named))
  end)

  it("change what is there, once", function()
    for _, rule in ipairs(rules.list) do
      for _, mutant in ipairs(rule.mutants or {}) do
        local text = child.read(mutant.file)
        assert.are_not.equal(text, rules.apply(mutant, text), mutant.name)
      end
    end
  end)

  it("have specs that are to find them", function()
    for _, rule in ipairs(rules.list) do
      for _, mutant in ipairs(rule.mutants or {}) do
        local finders = finders_of(rule, mutant)
        assert.is_true(#finders > 0, mutant.name)
        for _, finder in ipairs(finders) do
          local text = child.read(finder.spec)
          assert.is_true(not finder.draws or text:find(finder.draws, 1, true) ~= nil, finder.spec)
          assert.is_true(not finder.draws or finder.most <= 20000, mutant.name)
        end
      end
    end
  end)

  it("are refused where the text is not there, or more than once", function()
    local mutant = {name = "x", file = "y", old = "a", new = "b"}
    assert.equal("cbd", rules.apply(mutant, "cad"))
    assert.is_false(pcall(rules.apply, mutant, "caad"))
    assert.is_false(pcall(rules.apply, mutant, "d"))
  end)
end)
