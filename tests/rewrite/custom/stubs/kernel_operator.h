// Stands in for Ascend C's kernel side: one core, and tiles computed number by number. A mask has a
// bit for each number, queues and buffers are of the size that they were given; a queue that is given
// more than it holds, or asked for what nobody put in, and a copy of no whole blocks, end the program.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <cstdlib>
#include <vector>
#define __aicore__
#define __global__
#define __gm__
using GM_ADDR = uint8_t*;
// `TILING` is the struct of the tiling data, from the header of the host's side.
#define GET_TILING_DATA(name, from) const TILING& name = *reinterpret_cast<TILING*>(from)
namespace AscendC {
enum class TPosition { VECIN, VECOUT, VECCALC };
enum class CMPMODE { LT, LE, GT, GE, EQ, NE };
enum class SELMODE { VSEL_TENSOR_TENSOR_MODE };
static int64_t block = 0, blocks = 1;  // inline, all libraries in a process would share them
inline int64_t GetBlockIdx() { return block; }
inline int64_t GetBlockNum() { return blocks; }
inline void require(bool held) { if (!held) std::abort(); }
template <typename T> struct LocalTensor {
  T* data = nullptr;
  LocalTensor operator[](uint64_t offset) const { return {data + offset}; }
  void SetValue(uint32_t place, T value) { data[place] = value; }
};
template <typename T> struct GlobalTensor {
  T* data = nullptr;
  void SetGlobalBuffer(T* at) { data = at; }
  GlobalTensor operator[](uint64_t offset) const { return {data + offset}; }
  T GetValue(uint64_t place) const { return data[place]; }
};
struct Room { std::vector<uint8_t> bytes; uint32_t each = 0; };
template <TPosition> struct TBuf : Room {
  template <typename T> LocalTensor<T> Get() { return {reinterpret_cast<T*>(bytes.data())}; }
};
template <int DEPTH> struct Queue : Room {
  template <typename T> LocalTensor<T> AllocTensor() {
    require(given - freed < DEPTH);
    return at<T>(given++);
  }
  template <typename T> void EnQue(const LocalTensor<T>&) { require(put < given), ++put; }
  template <typename T> LocalTensor<T> DeQue() { require(taken < put); return at<T>(taken++); }
  template <typename T> void FreeTensor(const LocalTensor<T>&) { require(freed < taken), ++freed; }
  template <typename T> LocalTensor<T> at(int place) {
    return {reinterpret_cast<T*>(bytes.data() + place % DEPTH * each)};
  }
  int given = 0, put = 0, taken = 0, freed = 0;
};
template <TPosition, int DEPTH> struct TQue : Queue<DEPTH> {};
template <TPosition, TPosition, int DEPTH> struct TQueBind : Queue<DEPTH> {};
enum class HardEvent { S_MTE3, MTE3_S, MTE3_MTE2 };
template <HardEvent> void SetFlag(int) {}
template <HardEvent> void WaitFlag(int) {}
struct TPipe {
  void InitBuffer(Room& room, int count, uint32_t bytes) { room.bytes.resize(count * (room.each = bytes)); }
  void InitBuffer(Room& room, uint32_t bytes) { room.bytes.resize(bytes); }
  int FetchEventID(HardEvent) { return 0; }
};
using F = LocalTensor<float>;
inline void DataCopy(F to, GlobalTensor<float> from, int n) { require(n % 8 == 0), std::memcpy(to.data, from.data, n * 4); }
inline void DataCopy(GlobalTensor<float> to, F from, int n) { require(n % 8 == 0), std::memcpy(to.data, from.data, n * 4); }
#define EACH(value) { for (int i = 0; i < n; ++i) d.data[i] = value; }
inline void Duplicate(F d, float value, int n) EACH(value)
inline void Adds(F d, F a, float b, int n) EACH(a.data[i] + b)
inline void Muls(F d, F a, float b, int n) EACH(a.data[i] * b)
inline void Axpy(F d, F a, float b, int n) EACH(d.data[i] + a.data[i] * b)
inline void Add(F d, F a, F b, int n) EACH(a.data[i] + b.data[i])
inline void Sub(F d, F a, F b, int n) EACH(a.data[i] - b.data[i])
inline void Mul(F d, F a, F b, int n) EACH(a.data[i] * b.data[i])
inline void Div(F d, F a, F b, int n) EACH(a.data[i] / b.data[i])
inline void Fmod(F d, F a, F b, int n) EACH(std::fmod(a.data[i], b.data[i]))
inline void Power(F d, F a, F b, int n) EACH(std::pow(a.data[i], b.data[i]))
#define UNARY(name, function) inline void name(F d, F a, int n) EACH(std::function(a.data[i]))
UNARY(Abs, fabs) UNARY(Acos, acos) UNARY(Acosh, acosh) UNARY(Asin, asin) UNARY(Asinh, asinh)
UNARY(Atan, atan) UNARY(Atanh, atanh) UNARY(Ceil, ceil) UNARY(Cos, cos) UNARY(Cosh, cosh)
UNARY(Erf, erf) UNARY(Erfc, erfc) UNARY(Exp, exp) UNARY(Floor, floor) UNARY(Lgamma, lgamma)
UNARY(Ln, log) UNARY(Sin, sin) UNARY(Sinh, sinh) UNARY(Sqrt, sqrt)
UNARY(Tan, tan) UNARY(Tanh, tanh) UNARY(Trunc, trunc)
inline bool compared(float a, float b, CMPMODE mode) {
  return mode == CMPMODE::LT ? a < b : mode == CMPMODE::LE ? a <= b : mode == CMPMODE::GT ? a > b
       : mode == CMPMODE::GE ? a >= b : mode == CMPMODE::EQ ? a == b : a != b;
}
inline void Compare(LocalTensor<uint8_t> d, F a, F b, CMPMODE mode, int n) {
  if (n % 64 != 0) std::abort();  // whole blocks of 256 bytes
  for (int i = 0; i < n; ++i) {
    const uint8_t bit = 1 << i % 8;
    d.data[i / 8] = compared(a.data[i], b.data[i], mode) ? d.data[i / 8] | bit : d.data[i / 8] & ~bit;
  }
}
inline void Select(F d, LocalTensor<uint8_t> mask, F x, F y, SELMODE, int n) EACH(
    mask.data[i / 8] >> i % 8 & 1 ? x.data[i] : y.data[i])
#undef UNARY
#undef EACH
}  // namespace AscendC
static AscendC::TPipe* GetTPipePtr() {
  static AscendC::TPipe pipe;
  return &pipe;
}
