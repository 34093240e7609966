// The blocks of a launch one after the other, and the threads of a block in turns, each as far as the
// next place where all of them wait.
#pragma once
#include <ucontext.h>
#include <cstdint>
#include <functional>
#include <vector>
struct Place { unsigned x; };
inline Place blockIdx{0}, threadIdx{0}, blockDim{1}, gridDim{1};
namespace stub {
struct Thread {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(1 << 16);
  bool done;
};
inline std::vector<Thread> threads;
static ucontext_t turns;
inline std::function<void()> kernel;
inline void run() {
  kernel();
  threads[threadIdx.x].done = true;
}
inline void begin(Thread& thread) {
  thread.done = false;
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.data();
  thread.context.uc_stack.ss_size = thread.stack.size();
  thread.context.uc_link = &turns;
  makecontext(&thread.context, run, 0);
}
}  // namespace stub
inline void __syncthreads() { swapcontext(&stub::threads[threadIdx.x].context, &stub::turns); }
template <typename Kernel>
void launched(unsigned blocks, unsigned count, int, void*, Kernel kernel) {
  gridDim.x = blocks, blockDim.x = count;
  stub::kernel = kernel;
  if (stub::threads.size() < count) stub::threads.resize(count);
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    for (unsigned i = 0; i < count; ++i) stub::begin(stub::threads[i]);
    for (bool left = true; left;) {
      left = false;
      for (threadIdx.x = 0; threadIdx.x < count; ++threadIdx.x) {
        if (stub::threads[threadIdx.x].done) continue;
        swapcontext(&stub::turns, &stub::threads[threadIdx.x].context);
        left = true;
      }
    }
  }
}
