// Rows of grouped convolutions, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/grouped_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "network/cpu/epilogue_simd.hpp"
#include "network/cpu/grouped.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

using Places = hn::RebindToSigned<Floats>;
using Place = hn::VFromD<Places>;

constexpr int kGroupedPixels = kVectors == 1 ? 14 : 6;

// The channel of the first input of each output of a vector. It rises from lane to lane.
struct FirstInputs {
  HWY_ALIGN std::int32_t channel[kLanes];

  FirstInputs(const GroupedRow& row, int first_output) {
    const int last = row.groups * row.group_outputs - 1;
    for (int lane = 0; lane < kLanes; ++lane)
      channel[lane] = std::min(first_output + lane, last) / row.group_outputs * row.group_inputs;
  }
};

// `kLanes` channels side by side, of which channel / kLanes is `line`.
HWY_INLINE const float* line_of(const float* const* blocks, int line) {
  return blocks[line / kVectors] + line % kVectors * kLanes;
}

// A run of a group's inputs that the lanes of a vector find in the same lines.
struct InputRun {
  const float* const* blocks;   // of a kernel row
  int line, lines;              // the first one and their number
  Place channels;               // of the lanes for the run's first input
  int count;                    // inputs
  std::ptrdiff_t offset, step;  // floats: of the first pixel, from pixel to pixel
  const float* weights;
};

// Adds the products of P pixels with a run of inputs, one after the other. Lines: 1, 2; 0: as the run says.
template <int P, int Lines, int Step>
HWY_INLINE void add_products(const InputRun& run, Vector (&sums)[P]) {
  const Floats d;
  const Places places;
  const std::ptrdiff_t step = Step > 0 ? Step : run.step;
  const float* const lines[] = {line_of(run.blocks, run.line) + run.offset,
                                line_of(run.blocks, run.line + (Lines == 2 ? 1 : 0)) + run.offset};
  const float* weights = run.weights;
  Place channels = run.channels;
  for (int c = 0; c < run.count; ++c, weights += kBlock, channels = hn::Add(channels, hn::Set(places, 1))) {
    const auto indices = hn::IndicesFromVec(d, hn::And(channels, hn::Set(places, kLanes - 1)));
    const auto load = [&](const float* from)
                          HWY_ATTR { return hn::TableLookupLanes(hn::LoadU(d, from), indices); };
    const auto is_from = [&](int line) HWY_ATTR {
      return hn::RebindMask(d, hn::Gt(channels, hn::Set(places, line * kLanes - 1)));
    };
    // With AVX-512, loads that the compiler takes out of the loop would leave no registers for sums.
    const float* const first = kVectors == 1 ? one_register(lines[0]) : lines[0];
    const float* const second = kVectors == 1 ? one_register(lines[1]) : lines[1];
    const Vector weight = hn::LoadU(d, weights);
    if constexpr (Lines == 1) {
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) sums[p] = hn::MulAdd(load(first + p * step), weight, sums[p]);
    } else if constexpr (Lines == 2) {
      const auto is_second = is_from(run.line + 1);
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p)
        sums[p] = hn::MulAdd(hn::IfThenElse(is_second, load(second + p * step), load(first + p * step)),
                             weight, sums[p]);
    } else {
      Vector x[P];
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) x[p] = load(first + p * step);
      for (int line = run.line + 1; line < run.line + run.lines;
           ++line) {  // takes the lanes of later lines, too
        const float* const from = line_of(run.blocks, line) + run.offset;
        const auto is_here = is_from(line);
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) x[p] = hn::IfThenElse(is_here, load(from + p * step), x[p]);
      }
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) sums[p] = hn::MulAdd(x[p], weight, sums[p]);
    }
  }
}

// P pixels of a vector of outputs, from `first` on.
template <int P, int Step>
void grouped_tile(const GroupedRow& row, const FirstInputs& inputs, int block, int lane, int first) {
  const Floats d;
  const int low = inputs.channel[0], high = inputs.channel[kLanes - 1];
  const int blocks = (row.groups * row.group_inputs + 15) / 16;
  Vector sums[P];
  const Vector bias = row.bias ? hn::LoadU(d, row.bias + block * kBlock + lane) : hn::Zero(d);
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p) sums[p] = bias;
  InputRun run;
  run.step = Step > 0 ? Step : row.pixel_step;
  run.weights = row.weights + lane +
                block * kBlock * std::ptrdiff_t{row.kernel_rows} * row.kernel_columns * row.group_inputs;
  for (int ky = 0; ky < row.kernel_rows; ++ky) {
    run.blocks = row.rows + ky * blocks;
    for (int kx = 0; kx < row.kernel_columns; ++kx) {
      run.offset = kx * row.column_step + first * run.step;
      for (int c = 0; c < row.group_inputs; c += run.count, run.weights += run.count * kBlock) {
        run.line = (low + c) / kLanes;
        const int last = (high + c) / kLanes;
        run.lines = last - run.line + 1;
        run.count = std::min(
            {row.group_inputs - c, (run.line + 1) * kLanes - low - c, (last + 1) * kLanes - high - c});
        run.channels = hn::Add(hn::Load(Places(), inputs.channel), hn::Set(Places(), c));
        if (run.lines == 1)
          add_products<P, 1, Step>(run, sums);
        else if (run.lines == 2)
          add_products<P, 2, Step>(run, sums);
        else
          add_products<P, 0, Step>(run, sums);
      }
    }
  }
  float* const out = row.out[block] + first * kBlock + lane;
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p) hn::StoreU(sums[p], d, out + p * kBlock);
}

using GroupedTile = void (*)(const GroupedRow&, const FirstInputs&, int, int, int);
template <int Step, std::size_t... P>
constexpr std::array<GroupedTile, sizeof...(P)> grouped_tiles_of(std::index_sequence<P...>) {
  return {&grouped_tile<static_cast<int>(P) + 1, Step>...};
}

template <int Step>
void grouped_step(const GroupedRow& row) {
  static constexpr auto kTiles = grouped_tiles_of<Step>(std::make_index_sequence<kGroupedPixels>());
  for (int output = 0; output < row.groups * row.group_outputs; output += kLanes) {
    const FirstInputs inputs(row, output);
    cut_into_tiles(row.width, kGroupedPixels, [&](int size, int first, int count) {
      for (const int end = first + count * size; first < end; first += size)
        kTiles[static_cast<std::size_t>(size - 1)](row, inputs, output / 16, output % 16, first);
    });
  }
}

void grouped(const GroupedRow& row) {
  row.pixel_step == kBlock ? grouped_step<16>(row) : grouped_step<0>(row);
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(grouped);

void grouped_row(const GroupedRow& row) {
  HWY_DYNAMIC_DISPATCH(grouped)(row);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
