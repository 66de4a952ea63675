local a, b = 1, nil; a, b.c["d"] = b, -a ^ 2 .. "x" == not a and #b or a ~= b
do local function f(x, ...) return f(x - 1, ...), ... end end
function m.n.o:p(q) self[q] = {q, [q] = 1, q = 2; (f())} return end
while a <= b do if a then break end repeat local c = a until c >= b end
f "s" {t} (u):v [[w]]
for k, v in pairs({}) do f(k, v) end for i = 10, 1, -1 do print(i) end
return function() end
