// Stands in for what CUDA, HIP and MUSA share: the threads of a launch, one after the other.
#pragma once
#include <math.h>
#include <cstdint>
#define __device__
#define __global__
struct Place { unsigned x; };
inline Place blockIdx{0}, threadIdx{0}, blockDim{1}, gridDim{1};
template <typename Kernel>
void launched(unsigned blocks, unsigned threads, int, void*, Kernel kernel) {
  gridDim.x = blocks, blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) kernel();
  }
}
