// Stands in for BANG C: the tasks of a launch one after the other, vectors number by number.
#pragma once
#include <cnrt.h>
#include <cmath>
#include <cstdint>
#include <cstring>
#define __nram__ static
#define __mlu_func__ inline
#define __mlu_global__
static unsigned taskId = 0, taskDim = 1;
template <typename Kernel>
void launched(cnrtDim3_t dim, cnrtFunctionType_t, cnrtQueue_t, Kernel kernel) {
  taskDim = dim.x * dim.y * dim.z;
  for (taskId = 0; taskId < taskDim; ++taskId) kernel();
}
enum Direction { GDRAM2NRAM, NRAM2GDRAM };
inline void __memcpy(void* to, const void* from, int64_t bytes, Direction) { std::memcpy(to, from, bytes); }
#define EACH(value) for (int i = 0; i < count; ++i) d[i] = value
inline void __bang_write_value(float* d, int count, float value) { EACH(value); }
inline void __bang_add_scalar(float* d, const float* a, float b, int count) { EACH(a[i] + b); }
inline void __bang_mul_scalar(float* d, const float* a, float b, int count) { EACH(a[i] * b); }
inline void __bang_sub_scalar(int* d, const int* a, int b, int count) { EACH(a[i] - b); }
inline void __bang_mul_scalar(int* d, const int* a, int b, int count) { EACH(a[i] * b); }
inline void __bang_add(float* d, const float* a, const float* b, int count) { EACH(a[i] + b[i]); }
inline void __bang_sub(float* d, const float* a, const float* b, int count) { EACH(a[i] - b[i]); }
inline void __bang_mul(float* d, const float* a, const float* b, int count) { EACH(a[i] * b[i]); }
inline void __bang_recip(float* d, const float* a, int count) { EACH(1.0f / a[i]); }
inline void __bang_abs(float* d, const float* a, int count) { EACH(std::fabs(a[i])); }
inline void __bang_cos(float* d, const float* a, int count) { EACH(std::cos(a[i])); }
inline void __bang_floor(float* d, const float* a, int count) { EACH(std::floor(a[i])); }
inline void __bang_log2(float* d, const float* a, int count) { EACH(std::log2(a[i])); }
inline void __bang_pow2(float* d, const float* a, int count) { EACH(std::exp2(a[i])); }
inline void __bang_sin(float* d, const float* a, int count) { EACH(std::sin(a[i])); }
inline void __bang_sqrt(float* d, const float* a, int count) { EACH(std::sqrt(a[i])); }
#define COMPARED(name, sign) \
  inline void name(float* d, const float* a, const float* b, int count) { EACH(a[i] sign b[i] ? 1.0f : 0.0f); }
COMPARED(__bang_lt, <) COMPARED(__bang_le, <=) COMPARED(__bang_gt, >) COMPARED(__bang_ge, >=)
COMPARED(__bang_eq, ==) COMPARED(__bang_ne, !=)
#undef COMPARED
inline void __bang_band(char* d, const char* a, const char* b, int count) { EACH(a[i] & b[i]); }
inline void __bang_bor(char* d, const char* a, const char* b, int count) { EACH(a[i] | b[i]); }
#undef EACH
// the same place as a number and as bits: what is read is put aside first
inline void __bang_float2int32_rn(int* d, const float* a, int count, int) {
  for (int i = 0; i < count; ++i) {
    float number;
    std::memcpy(&number, a + i, sizeof(number));
    const int whole = static_cast<int>(std::nearbyint(number));
    std::memcpy(d + i, &whole, sizeof(whole));
  }
}
