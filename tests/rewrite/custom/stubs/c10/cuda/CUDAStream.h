// Stands in for torch's header of the same name, which a torch without CUDA cannot include.
#pragma once
namespace c10::cuda {
struct CUDAStream { void* stream() const { return nullptr; } };
inline CUDAStream getCurrentCUDAStream() { return {}; }
}  // namespace c10::cuda
