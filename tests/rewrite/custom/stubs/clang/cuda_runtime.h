// Stands in for what clang needs of CUDA to check its syntax: attributes, what a launch becomes, and
// the functions of numbers on the device, which are others than those of the host.
#pragma once
#include <stddef.h>
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
struct dim3 { unsigned x, y, z; __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
typedef struct CUstream_st* cudaStream_t;
enum cudaError { cudaSuccess };
typedef cudaError cudaError_t;
extern "C" cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
extern "C" cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t);
struct Builtin { unsigned x, y, z; };
extern const __device__ Builtin blockIdx, blockDim, threadIdx, gridDim;
__device__ void __syncthreads();
#define EACH(name)              \
  __device__ float name(float); \
  __device__ double name(double);
EACH(exp) EACH(log) EACH(sqrt) EACH(fabs) EACH(floor) EACH(rint) EACH(erf)
#undef EACH
