// Stands in for torch_mlu's header of the same name.
#pragma once
#include <cnrt.h>
namespace torch_mlu {
inline cnrtQueue_t getCurMLUStream() { return nullptr; }
}  // namespace torch_mlu
