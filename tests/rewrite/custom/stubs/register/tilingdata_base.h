// Stands in for CANN's header of the same name: tiling data with a setter for each field.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#define BEGIN_TILING_DATA_DEF(name) struct name { void SaveToBuffer(void*, size_t) {} size_t GetDataSize() const { return 0; }
#define TILING_DATA_FIELD_DEF(type, field) type field{}; void set_##field(type value) { field = value; }
#define TILING_DATA_FIELD_DEF_ARR(type, length, field) type field[length]{}; void set_##field(const type* values) { std::memcpy(field, values, sizeof(field)); }
#define END_TILING_DATA_DEF }
#define REGISTER_TILING_DATA_CLASS(op, name)
