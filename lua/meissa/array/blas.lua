-- SPDX-License-Identifier: MIT
--
-- Products by OpenBLAS, for callers that permit its order of addition. The library is loaded when
-- it is first asked for; where it is missing, or an operand is not what it takes, the functions
-- give false and have done nothing. How many threads it uses is the program's affair, which may
-- use the same library (Torch, LAPACK): nothing here changes that. Workers start with one.
-- @module meissa.array.blas

local ffi = require "ffi"
local cdef = require("meissa.base.c_core").cdef
local lib = require("meissa.array.c_api").lib
local interrupt = require "meissa.base.interrupt"

local M = {}

-- Smaller products are not worth a call.
local FEW = 4096

local ROW_MAJOR, PLAIN, TURNED = 101, 111, 112

local function load_library()
  cdef("blas", [[
  int meissa_openblas_get_num_threads(void) __asm__("openblas_get_num_threads");
  void meissa_cblas_dgemv(int order, int turn, int m, int n, double alpha, const double *a,
                          int lda, const double *x, int incx, double beta, double *y, int incy)
                          __asm__("cblas_dgemv");
  void meissa_cblas_sgemv(int order, int turn, int m, int n, float alpha, const float *a, int lda,
                          const float *x, int incx, float beta, float *y, int incy)
                          __asm__("cblas_sgemv");
  void meissa_cblas_dger(int order, int m, int n, double alpha, const double *x, int incx,
                         const double *y, int incy, double *a, int lda) __asm__("cblas_dger");
  void meissa_cblas_sger(int order, int m, int n, float alpha, const float *x, int incx,
                         const float *y, int incy, float *a, int lda) __asm__("cblas_sger");
  void meissa_cblas_dgemm(int order, int turn_a, int turn_b, int m, int n, int k, double alpha,
                          const double *a, int lda, const double *b, int ldb, double beta,
                          double *c, int ldc) __asm__("cblas_dgemm");
  void meissa_cblas_sgemm(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                          const float *a, int lda, const float *b, int ldb, float beta, float *c,
                          int ldc) __asm__("cblas_sgemm");
  ]])
  for _, name in ipairs { "libopenblas.so.0", "openblas" } do
    local ok, blas = interrupt.pcall(ffi.load, name)
    if ok and pcall(function() return blas.meissa_openblas_get_num_threads end) then return blas end
  end
  return false
end

local loaded

--- OpenBLAS, or false.
function M.library()
  if loaded == nil then loaded = load_library() end
  return loaded
end

-- A matrix as OpenBLAS takes it: whether turned, and the distance of its rows; nil if neither its
-- rows nor its columns lie side by side.
local function matrix(handle)
  local raw = handle.array
  if raw.sparse ~= 0 or raw.dim_count ~= 2 then return nil end
  local rows, columns = tonumber(raw.strides[0]), tonumber(raw.strides[1])
  if columns == 1 and rows >= math.max(1, tonumber(raw.dims[1])) then return PLAIN, rows end
  if rows == 1 and columns >= math.max(1, tonumber(raw.dims[0])) then return TURNED, columns end
end

local function vector(handle)
  local raw = handle.array
  if raw.sparse ~= 0 or raw.dim_count ~= 1 then return nil end
  local stride = tonumber(raw.strides[0])
  return stride >= 1 and stride or nil
end

-- The library and the letter of the type if all three arrays are of one floating type, share no
-- memory, and may be used; the product has `count` multiplications.
local function suits(result, left, right, count)
  local number = result.array.type
  if number > 1 or left.array.type ~= number or right.array.type ~= number then return nil end
  if count < FEW or result.array.writable == 0 then return nil end
  local store = result.array.store
  if store ~= nil and (left.array.store == store or right.array.store == store) then return nil end
  local blas = M.library()
  return blas and (number == 1 and "d" or "s"), blas
end

local function extent(handle, d)
  return tonumber(handle.array.dims[d])
end

--- y = beta y + alpha A x; false if it was not done.
function M.gemv(y, beta, alpha, A, x)
  local turn, distance = matrix(A)
  local x_stride, y_stride = vector(x), vector(y)
  if not turn or not x_stride or not y_stride then return false end
  local m, n = extent(A, 0), extent(A, 1)
  if n ~= extent(x, 0) or m ~= extent(y, 0) then return false end
  local letter, blas = suits(y, A, x, m * n)
  if not letter then return false end
  if turn == TURNED then m, n = n, m end
  blas["meissa_cblas_" .. letter .. "gemv"](ROW_MAJOR, turn, m, n, alpha, A.elements, distance,
    x.elements, x_stride, beta, y.elements, y_stride)
  lib.ms_array_overwritten(y.array)
  return true
end

--- A = beta A + alpha x y'; false if it was not done.
function M.ger(A, beta, alpha, x, y)
  local turn, distance = matrix(A)
  local x_stride, y_stride = vector(x), vector(y)
  if turn ~= PLAIN or not x_stride or not y_stride or beta ~= 1 then return false end
  local m, n = extent(A, 0), extent(A, 1)
  if m ~= extent(x, 0) or n ~= extent(y, 0) then return false end
  local letter, blas = suits(A, x, y, m * n)
  if not letter then return false end
  blas["meissa_cblas_" .. letter .. "ger"](ROW_MAJOR, m, n, alpha, x.elements, x_stride,
    y.elements, y_stride, A.elements, distance)
  return true
end

--- C = beta C + alpha A B; false if it was not done.
function M.gemm(C, beta, alpha, A, B)
  local turn_a, distance_a = matrix(A)
  local turn_b, distance_b = matrix(B)
  local turn_c, distance_c = matrix(C)
  if not turn_a or not turn_b or turn_c ~= PLAIN then return false end
  local m, n, k = extent(C, 0), extent(C, 1), extent(A, 1)
  if m ~= extent(A, 0) or n ~= extent(B, 1) or k ~= extent(B, 0) then return false end
  local letter, blas = suits(C, A, B, m * n * k)
  if not letter then return false end
  blas["meissa_cblas_" .. letter .. "gemm"](ROW_MAJOR, turn_a, turn_b, m, n, k, alpha,
    A.elements, distance_a, B.elements, distance_b, beta, C.elements, distance_c)
  lib.ms_array_overwritten(C.array)
  return true
end

return M
