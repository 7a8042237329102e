// Steps of a map's program, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/map_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "network/cpu/functions_simd.hpp"
#include "network/cpu/map_program.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

// Other targets evaluate expressions by their definition.
#if HWY_NATIVE_FMA

constexpr int kBlocksTogether = kVectors == 1 ? 4 : 2;

// @param step  bytes from block to block; 0: the block repeats
struct StepArgument {
  const std::byte* values;
  std::ptrdiff_t step;
};
using RunStep = void (*)(const StepArgument* from, std::byte* to, std::size_t blocks);

// --- operations that function_list.inc has not

namespace map_functions {
using namespace functions;  // NOLINT: these are formulas

template <int N>
HWY_INLINE Reals<N> copy(Reals<N> x) {
  return x;
}
template <int N>
HWY_INLINE Masks<N> equal_masks(Masks<N> a, Masks<N> b) {
  return bit_not(bit_xor(a, b));
}
template <int N>
HWY_INLINE Masks<N> less_masks(Masks<N> a, Masks<N> b) {
  return bit_and(bit_not(a), b);
}
template <int N>
HWY_INLINE Masks<N> less_or_equal_masks(Masks<N> a, Masks<N> b) {
  return bit_or(bit_not(a), b);
}
template <int N>
HWY_INLINE Reals<N> select_real(Masks<N> condition, Reals<N> a, Reals<N> b) {
  return select(condition, a, b);
}
template <int N>
HWY_INLINE Masks<N> select_mask(Masks<N> condition, Masks<N> a, Masks<N> b) {
  return bit_or(bit_and(condition, a), bit_and(bit_not(condition), b));
}
template <int N>
HWY_INLINE Masks<N> to_boolean(Reals<N> x) {
  return bit_not(equal(x, constants<N>(0.0F)));
}
template <int N>
HWY_INLINE Reals<N> to_real(Masks<N> x) {
  return select(x, constants<N>(1.0F), constants<N>(0.0F));
}

template <int N>
HWY_INLINE Reals<N> silu(Reals<N> x) {
  return multiply(x, logistic(x));
}
template <int N>
HWY_INLINE Reals<N> add_relu(Reals<N> a, Reals<N> b) {
  return relu(add(a, b));
}
template <int N>
HWY_INLINE Reals<N> subtract_multiply(Reals<N> a, Reals<N> b, Reals<N> c) {
  return multiply(subtract(a, b), c);
}
template <int N>
HWY_INLINE Reals<N> multiply_sum(Reals<N> a, Reals<N> b, Reals<N> c) {
  return add(multiply(a, b), c);
}
template <int N>
HWY_INLINE Reals<N> square(Reals<N> x) {
  return multiply(x, x);
}
template <int N>
HWY_INLINE Reals<N> cube(Reals<N> x) {
  return multiply(multiply(x, x), x);
}

template <int N>
HWY_INLINE Reals<N> clipped_sum(Reals<N> x) {
  return clip(add(x, constants<N>(3.0F)), constants<N>(0.0F), constants<N>(6.0F));
}
template <int N>
HWY_INLINE Reals<N> hard_swish_divided(Reals<N> x) {
  return divide(multiply(x, clipped_sum(x)), constants<N>(6.0F));
}
template <int N>
HWY_INLINE Reals<N> hard_swish_inner(Reals<N> x) {
  return multiply(x, divide(clipped_sum(x), constants<N>(6.0F)));
}
template <int N>
HWY_INLINE Reals<N> hard_swish_scaled(Reals<N> x) {
  return multiply(x, multiply(clipped_sum(x), constants<N>(1.0F / 6)));
}

}  // namespace map_functions

// --- loops

template <typename X, int N>
HWY_INLINE X load(const StepArgument& from) {
  const auto vector = [&](int n) HWY_ATTR {
    const std::byte* const block = from.values + n / kVectors * from.step;
    return hn::LoadU(Floats(), reinterpret_cast<const float*>(block) + n % kVectors * kLanes);
  };
  if constexpr (std::is_same_v<X, Masks<N>>) {
    return each<Masks, N>([&](int n) HWY_ATTR { return hn::MaskFromVec(vector(n)); });
  } else {
    return each<Reals, N>(vector);
  }
}

template <int N>
HWY_INLINE void store(Reals<N> y, std::byte* to) {
#pragma GCC unroll 8
  for (int n = 0; n < N; ++n) hn::StoreU(y.v[n], Floats(), reinterpret_cast<float*>(to) + n * kLanes);
}
template <int N>
HWY_INLINE void store(Masks<N> y, std::byte* to) {
  store(each<Reals, N>([&](int n) HWY_ATTR { return hn::VecFromMask(Floats(), y.v[n]); }), to);
}

// The operation on `blocks` blocks, moved on.
template <typename Operation, int blocks, template <int> class... X>
HWY_INLINE void run_together(StepArgument (&from)[sizeof...(X)], std::byte* to) {
  constexpr int N = blocks * kVectors;
  [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR {
    store(Operation::of(load<X<N>, N>(from[i])...), to);
  }
  (std::index_sequence_for<X<N>...>());
  for (StepArgument& one : from) one.values += blocks * one.step;
}

template <typename Operation, template <int> class... X>
void run_step(const StepArgument* arguments, std::byte* to, std::size_t blocks) {
  constexpr std::size_t kBytes = kMapBlock * sizeof(float);
  StepArgument from[sizeof...(X)];
  std::copy_n(arguments, sizeof...(X), from);
  for (; blocks >= kBlocksTogether; blocks -= kBlocksTogether, to += kBlocksTogether * kBytes)
    run_together<Operation, kBlocksTogether, X...>(from, to);
  for (; blocks > 0; --blocks, to += kBytes) run_together<Operation, 1, X...>(from, to);
}

template <typename Operation, template <int> class X, std::size_t arguments>
constexpr RunStep step_of() {
  if constexpr (arguments == 1) return &run_step<Operation, X>;
  if constexpr (arguments == 2) return &run_step<Operation, X, X>;
  if constexpr (arguments == 3) return &run_step<Operation, X, X, X>;
}

// --- steps that are no operation of vectors

void spread_number(const StepArgument* from, std::byte* to, std::size_t /*blocks*/) {
  std::fill_n(reinterpret_cast<float*>(to), kMapBlock, *reinterpret_cast<const float*>(from->values));
}

constexpr std::uint32_t mask_of(std::byte boolean) {
  return boolean == std::byte{0} ? 0U : ~0U;
}
void spread_boolean(const StepArgument* from, std::byte* to, std::size_t /*blocks*/) {
  std::fill_n(reinterpret_cast<std::uint32_t*>(to), kMapBlock, mask_of(*from->values));
}
void load_boolean(const StepArgument* from, std::byte* to, std::size_t blocks) {
  auto* const masks = reinterpret_cast<std::uint32_t*>(to);
  for (std::size_t i = 0; i < blocks * kMapBlock; ++i) masks[i] = mask_of(from->values[i]);
}
void store_boolean(const StepArgument* from, std::byte* to, std::size_t blocks) {
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto* const masks = reinterpret_cast<const std::uint32_t*>(from->values + b * from->step);
    for (std::size_t i = 0; i < kMapBlock; ++i) to[b * kMapBlock + i] = static_cast<std::byte>(masks[i] & 1U);
  }
}

// --- all steps, by MapOperation

namespace operations {
#define OPERATION(space, name)          \
  struct name {                         \
    template <typename... X>            \
    static HWY_INLINE auto of(X... x) { \
      return space::name(x...);         \
    }                                   \
  };
#define OPERATION_number(name) OPERATION(functions, name)
#define OPERATION_real(name) OPERATION(functions, name)
#define OPERATION_bits(name) OPERATION(functions, name)
#define OPERATION_comparison(name) OPERATION(functions, name)
#define OPERATION_integer(name)
#define FUNCTION(name, arguments, domain) OPERATION_##domain(name)
#include "network/function_list.inc"
#undef FUNCTION
OPERATION(map_functions, copy)
OPERATION(map_functions, equal_masks)
OPERATION(map_functions, less_masks)
OPERATION(map_functions, less_or_equal_masks)
OPERATION(map_functions, select_real)
OPERATION(map_functions, select_mask)
OPERATION(map_functions, to_boolean)
OPERATION(map_functions, to_real)
OPERATION(map_functions, silu)
OPERATION(map_functions, add_relu)
OPERATION(map_functions, subtract_multiply)
OPERATION(map_functions, multiply_sum)
OPERATION(map_functions, square)
OPERATION(map_functions, cube)
OPERATION(map_functions, hard_swish_divided)
OPERATION(map_functions, hard_swish_inner)
OPERATION(map_functions, hard_swish_scaled)
}  // namespace operations

#define STEP_number(name, arguments) step_of<operations::name, Reals, arguments>()
#define STEP_real(name, arguments) step_of<operations::name, Reals, arguments>()
#define STEP_comparison(name, arguments) step_of<operations::name, Reals, arguments>()
#define STEP_bits(name, arguments) step_of<operations::name, Masks, arguments>()
#define STEP_integer(name, arguments) nullptr
#define FUNCTION(name, arguments, domain) STEP_##domain(name, arguments),
constexpr RunStep kRunSteps[] = {
#include "network/function_list.inc"
    STEP_real(copy, 1),
    &spread_number,
    &load_boolean,
    &spread_boolean,
    &store_boolean,
    STEP_bits(equal_masks, 2),
    STEP_bits(less_masks, 2),
    STEP_bits(less_or_equal_masks, 2),
    &run_step<operations::select_real, Masks, Reals, Reals>,
    STEP_bits(select_mask, 3),
    STEP_real(to_boolean, 1),
    STEP_bits(to_real, 1),
    STEP_real(silu, 1),
    STEP_real(add_relu, 2),
    STEP_real(subtract_multiply, 3),
    STEP_real(multiply_sum, 3),
    STEP_real(square, 1),
    STEP_real(cube, 1),
    STEP_real(hard_swish_divided, 1),
    STEP_real(hard_swish_inner, 1),
    STEP_real(hard_swish_scaled, 1),
};
#undef FUNCTION

void run_steps(std::span<const MapStep> steps, std::byte* const* memories, std::size_t first,
               std::size_t blocks) {
  const auto address = [&](const MapValue& value) {
    return memories[value.memory] + value.offset + first * value.bytes;
  };
  for (const MapStep& step : steps) {
    StepArgument from[3];
    for (std::size_t i = 0; i < 3; ++i) from[i] = {address(step.arguments[i]), step.arguments[i].step};
    kRunSteps[static_cast<std::size_t>(step.operation)](from, address(step.result), blocks);
  }
}

#else

void run_steps(std::span<const MapStep> /*steps*/, std::byte* const* /*memories*/, std::size_t /*first*/,
               std::size_t /*blocks*/) {}

#endif

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(run_steps);

void run_map_steps(std::span<const MapStep> steps, std::byte* const* memories, std::size_t first,
                   std::size_t blocks) {
  HWY_DYNAMIC_DISPATCH(run_steps)(steps, memories, first, blocks);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
