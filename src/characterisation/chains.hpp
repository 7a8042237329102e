#pragma once
/// Chains of dependent operations in plain code, the same as in kernels/characterisation/arithmetic.cl:
/// reference for devices' results, and the CPU's benchmark.

#include <cstdint>
#include <type_traits>
#include <utility>

namespace sightline::characterisation {

/// Operations a turn.
inline constexpr int kChainTurn = 128;

template <typename T, typename Step>
struct Chain {
  const char* id;      ///< "int.add"
  const char* kernel;  ///< "uint_add"
  const char* title;   ///< "addition of integers"
  T x;                 ///< initial value
  T b;
  Step step;  ///< step(x, b): two operations
};
// Clang 14, which builds the fuzzers, does not deduce it from the aggregate.
template <typename T, typename Step>
Chain(const char*, const char*, const char*, T, T, Step) -> Chain<T, Step>;

/// Optimisation barrier: the compiler must assume that the value may have changed.
template <typename T>
inline void keep(T& value) {
#if defined(__x86_64__) || defined(__i386__)
  if constexpr (std::is_floating_point_v<T>) {
    asm volatile("" : "+x"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
#elif defined(__aarch64__)
  if constexpr (std::is_floating_point_v<T>) {
    asm volatile("" : "+w"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
#else
  asm volatile("" : "+m"(value));
#endif
}

namespace chains {
inline constexpr std::uint32_t kOdd = 2654435761U, kOther = 2246822519U;
inline constexpr float kNearOne = 1.00000012F;  // so that many products stay in range
}  // namespace chains

/// Calls `work` with each of the eight.
template <typename Work>
void for_each_chain(const Work& work) {
  using namespace chains;
  using W = std::uint32_t;
  work(Chain{"int.add", "uint_add", "addition of integers", kOdd, kOther,
             [](W& x, W& b) { keep(x), x += b, keep(b), b += x; }});
  work(Chain{"int.subtract", "uint_subtract", "subtraction of integers", kOdd, kOther,
             [](W& x, W& b) { keep(x), x -= b, keep(b), b -= x; }});
  work(Chain{"int.multiply", "uint_multiply", "multiplication of integers", kOdd, kOther,
             [](W& x, W& b) { keep(x), x *= b, keep(b), b *= x; }});
  work(Chain{"int.divide", "int_divide", "division of integers", std::int32_t{1000}, std::int32_t{1} << 30,
             [](std::int32_t& x, std::int32_t& b) { keep(x), x = b / x, keep(x), x = b / x; }});
  work(Chain{"float.add", "float_add", "addition of floats", 1.5F, 0.001F,
             [](float& x, float& b) { keep(x), x = x + b, keep(x), x = x + b; }});
  work(Chain{"float.subtract", "float_subtract", "subtraction of floats", 1.5F, 0.001F,
             [](float& x, float& b) { keep(x), x = x - b, keep(x), x = x - b; }});
  work(Chain{"float.multiply", "float_multiply", "multiplication of floats", 1.5F, kNearOne,
             [](float& x, float& b) { keep(x), x = x * b, keep(x), x = x * b; }});
  work(Chain{"float.divide", "float_divide", "division of floats", 1.5F, 7.25F,
             [](float& x, float& b) { keep(x), x = b / x, keep(x), x = b / x; }});
}

/// Both values after `turns` turns.
template <typename T, typename Step>
std::pair<T, T> run_chain(const Chain<T, Step>& chain, int turns) {
  T x = chain.x, b = chain.b;
  for (int turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 64
    for (int i = 0; i < kChainTurn / 2; ++i) chain.step(x, b);
  }
  return {x, b};
}

}  // namespace sightline::characterisation
