// Stands in for CANN's header of the same name: what an operator's definition calls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
namespace ge {
using graphStatus = int;
constexpr graphStatus GRAPH_SUCCESS = 0;
enum DataType { DT_FLOAT, DT_INT64 };
enum Format { FORMAT_ND };
}  // namespace ge
namespace gert {
struct Shape { int64_t GetShapeSize() const { return 0; } size_t GetDimNum() const { return 0; } int64_t GetDim(size_t) const { return 0; } };
struct StorageShape { const Shape& GetStorageShape() const { static Shape shape; return shape; } };
struct ListInt { size_t GetSize() const { return 0; } const int64_t* GetData() const { return nullptr; } };
struct Attrs { const int64_t* GetInt(size_t) const { return nullptr; } const float* GetFloat(size_t) const { return nullptr; } const bool* GetBool(size_t) const { return nullptr; } const ListInt* GetListInt(size_t) const { return nullptr; } };
struct Raw { void* GetData() { return nullptr; } size_t GetCapacity() { return 0; } void SetDataSize(size_t) {} };
struct TilingContext {
  const StorageShape* GetInputShape(size_t) { return nullptr; }
  const StorageShape* GetOutputShape(size_t) { return nullptr; }
  const Attrs* GetAttrs() { return nullptr; }
  void* GetPlatformInfo() { return nullptr; }
  void SetBlockDim(uint32_t) {}
  Raw* GetRawTilingData() { return nullptr; }
  size_t* GetWorkspaceSizes(size_t) { return nullptr; }
};
}  // namespace gert
namespace ops {
enum Presence { REQUIRED, OPTIONAL };
struct Part {
  Part& ParamType(Presence) { return *this; }
  Part& AttrType(Presence) { return *this; }
  Part& DataType(std::initializer_list<ge::DataType>) { return *this; }
  Part& Format(std::initializer_list<ge::Format>) { return *this; }
  Part& Int() { return *this; }
  Part& Float() { return *this; }
  Part& Bool() { return *this; }
  Part& ListInt() { return *this; }
  Part& SetTiling(ge::graphStatus (*)(gert::TilingContext*)) { return *this; }
  Part& AddConfig(const char*) { return *this; }
};
struct OpDef {
  explicit OpDef(const char*) {}
  Part& Input(const char*) { return part_; }
  Part& Output(const char*) { return part_; }
  Part& Attr(const char*) { return part_; }
  Part& AICore() { return part_; }
  Part part_;
};
}  // namespace ops
#define OP_ADD(name) static name registered_##name(#name)
