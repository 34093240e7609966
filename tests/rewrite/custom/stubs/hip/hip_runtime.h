// Stands in for HIP's runtime.
#pragma once
#include "../threads.h"
using hipStream_t = void*;
using hipError_t = int;
constexpr hipError_t hipSuccess = 0;
inline hipError_t hipGetLastError() { return hipSuccess; }
inline const char* hipGetErrorString(hipError_t) { return "failed"; }
