// Stands in for CUDA's runtime: one thread that does everything.
#pragma once
#include <math.h>
#include <cstdint>
#define __device__
#define __global__
struct Place { unsigned x; };
static const Place blockIdx{0}, threadIdx{0}, blockDim{1}, gridDim{1};
using cudaStream_t = void*;
using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "failed"; }
