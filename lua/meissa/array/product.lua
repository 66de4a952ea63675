-- SPDX-License-Identifier: MIT
--
-- Products of matrices and vectors: gemv, ger, gemm. Methods of the result, which they return.
--
-- Without numbers the result is set, as Torch's mv, ger and mm do; two numbers are those of its
-- addmv, addr and addmm: the result is the first times what was there plus the second times the
-- product.
-- @module meissa.array.product

local c_api = require "meissa.array.c_api"
local blas = require "meissa.array.blas"
local element = require "meissa.array.element"
local errors = require "meissa.base.errors"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"

local ffi = require "ffi"
local lib = c_api.lib
local methods, to_handle = subscript.methods, subscript.to_handle
local scale_t = ffi.typeof("ms_scale")

-- Whether the options ask for the fast way.
local function wants_fast(where, opts)
  if opts == nil then return false end
  opts = errors.check_options(where, opts, { "numeric" })
  if opts.numeric ~= nil and opts.numeric ~= "fast" and opts.numeric ~= "strict" then
    errors.raise("OPT", '%s: numeric is "strict" or "fast", not %s', where, tostring(opts.numeric))
  end
  return opts.numeric == "fast"
end

local function operand(where, value)
  if not element.kind(value) then
    errors.raise("ARR", "%s: expected an array, not a %s", where, type(value))
  end
  return to_handle(value)
end

-- Takes the call apart: [beta, alpha,] one, other[, opts].
local function product(where, call, fast)
  return function(self, a, b, c, d, e)
    local beta, alpha, one, other, opts = 0, 1, a, b, c
    if type(a) == "number" then
      if type(b) ~= "number" then
        errors.raise("OPT", "%s takes two numbers or none: result = first * result + second * "
          .. "product", where)
      end
      beta, alpha, one, other, opts = a, b, c, d, e
    end
    local result = to_handle(self, beta == 0)
    valid.check_writable(result.array)
    local left, right = operand(where, one), operand(where, other)
    if not (wants_fast(where, opts) and fast(result, beta, alpha, left, right)) then
      c_api.call(call, result.array, scale_t(beta, alpha), left.array, right.array)
    end
    return self
  end
end

--- y:gemv(A, x): y = A x; y:gemv(beta, alpha, A, x): y = beta y + alpha A x. Every element has the
-- bits of `dot`; a last argument {numeric = "fast"} permits OpenBLAS where it is there.
-- @usage y:gemv(A, x)
methods.gemv = product("gemv", lib.ms_product_gemv, blas.gemv)

--- A:ger(x, y): A = x y'; A:ger(beta, alpha, x, y): A = beta A + alpha x y'.
-- @usage A:ger(1, 1, x, y)   -- adds x y'
methods.ger = product("ger", lib.ms_product_ger, blas.ger)

--- C:gemm(A, B): C = A B; C:gemm(beta, alpha, A, B): C = beta C + alpha A B.
-- @usage C:gemm(A, B:transpose())
methods.gemm = product("gemm", lib.ms_product_gemm, blas.gemm)
