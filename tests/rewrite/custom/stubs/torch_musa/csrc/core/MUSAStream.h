// Stands in for torch_musa's header of the same name.
#pragma once
namespace c10::musa {
struct MUSAStream { void* stream() const { return nullptr; } };
inline MUSAStream getCurrentMUSAStream() { return {}; }
}  // namespace c10::musa
