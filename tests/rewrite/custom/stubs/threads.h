// Stands in for what CUDA, HIP and MUSA share.
#pragma once
#include <math.h>
#include "turns.h"
#define __device__
#define __global__
#define __shared__ static
