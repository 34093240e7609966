// Stands in for MUSA's runtime.
#pragma once
#include "threads.h"
using musaStream_t = void*;
using musaError_t = int;
constexpr musaError_t musaSuccess = 0;
inline musaError_t musaGetLastError() { return musaSuccess; }
inline const char* musaGetErrorString(musaError_t) { return "failed"; }
