// Stands in for BANG C: one core, and vectors computed number by number.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#define __nram__ static
#define __mlu_func__ inline
#define __mlu_global__
static const int taskId = 0, taskDim = 1;
enum Direction { GDRAM2NRAM, NRAM2GDRAM };
inline void __memcpy(void* to, const void* from, int64_t bytes, Direction) { std::memcpy(to, from, bytes); }
#define EACH(value) for (int i = 0; i < count; ++i) d[i] = value
inline void __bang_write_value(float* d, int count, float value) { EACH(value); }
inline void __bang_mul_scalar(float* d, const float* a, float b, int count) { EACH(a[i] * b); }
inline void __bang_add(float* d, const float* a, const float* b, int count) { EACH(a[i] + b[i]); }
inline void __bang_sub(float* d, const float* a, const float* b, int count) { EACH(a[i] - b[i]); }
inline void __bang_mul(float* d, const float* a, const float* b, int count) { EACH(a[i] * b[i]); }
inline void __bang_recip(float* d, const float* a, int count) { EACH(1.0f / a[i]); }
inline void __bang_abs(float* d, const float* a, int count) { EACH(std::fabs(a[i])); }
inline void __bang_pow2(float* d, const float* a, int count) { EACH(std::exp2(a[i])); }
inline void __bang_log(float* d, const float* a, int count) { EACH(std::log(a[i])); }
inline void __bang_sqrt(float* d, const float* a, int count) { EACH(std::sqrt(a[i])); }
#undef EACH
