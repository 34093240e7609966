// Stands in for CANN's header of the same name.
#pragma once
#include <cstdint>
namespace platform_ascendc {
struct PlatformAscendC { explicit PlatformAscendC(void*) {} uint32_t GetCoreNumAiv() const { return 1; } };
}  // namespace platform_ascendc
