#pragma once
/// Expressions over rows of values: a Map on the CPU.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/view.hpp"
#include "network/cpu/map_program.hpp"
#include "network/expression.hpp"

namespace sightline::nn {

/// Which value of an operand belongs to value i of a row.
enum class MapAccess : std::uint8_t {
  row,       ///< value i
  channels,  ///< value i mod 16: one for each channel of a block
  single,    ///< value 0
};

/// An expression that is compiled once and run over many rows. Results have the bits of Expression::evaluate,
/// but for those of NaN. f32 and booleans are computed by vectors where the processor has fused
/// multiply-adds; all else is evaluated by tiles. Thread-safety: `run` may run on many threads.
class MapKernel {
 public:
  /// @param accesses  by operand
  MapKernel(Expression expression, std::vector<MapAccess> accesses);

  /// Bytes of scratch that `run` needs, aligned to 64 bytes.
  std::size_t scratch_bytes() const;

  /// Computes `count` values of each result. Memory has the types of the operands and results, needs no more
  /// alignment than they do, and is read and written only as far as it has values. The only result of an
  /// expression may be one of its `row` operands of the same type; else results overlap no operands.
  void run(const std::byte* const* operands, std::byte* const* results, std::size_t count,
           std::byte* scratch) const;

  /// Loops over a row's values, of a program.
  std::size_t passes() const { return steps_.size(); }

 private:
  friend class MapCompiler;

  void run_program(const std::byte* const* operands, std::byte* const* results, std::size_t count,
                   std::byte* scratch) const;
  void run_rest(std::byte* const* results, std::byte** memories, std::byte* copies, std::size_t first,
                std::size_t count) const;
  void evaluate(const std::byte* const* operands, std::byte* const* results, std::size_t count,
                std::byte* scratch) const;

  Expression expression_;
  std::vector<MapAccess> accesses_;
  bool is_vectorised_ = false;          ///< whether there is a program
  std::vector<MapStep> once_;           ///< steps on values that repeat
  std::vector<MapStep> steps_;          ///< steps on each tile
  AlignedBuffer<std::byte> constants_;  ///< a block each
  std::size_t patterns_ = 0;            ///< blocks of scratch that repeat
  std::size_t slots_ = 0;               ///< tiles of scratch, behind them
};

}  // namespace sightline::nn
