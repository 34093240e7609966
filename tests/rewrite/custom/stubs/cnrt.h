// Stands in for Cambricon's runtime.
#pragma once
#include <cstdint>
using cnrtQueue_t = void*;
struct cnrtDim3_t { unsigned x, y, z; };
enum cnrtFunctionType_t { cnrtFuncTypeBlock };
