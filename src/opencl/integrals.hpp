#pragma once
/// Integral images of a pyramid's levels on an OpenCL device: kernels/image/integral.cl. Results equal
/// image/integral.hpp bit for bit.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "image/integral_sheet.hpp"
#include "opencl/program.hpp"
#include "opencl/pyramids.hpp"
#include "opencl/work_list.hpp"

namespace sightline::opencl {

/// Kernels for the integrals of a sheet. Thread-safety: immutable once built.
class IntegralProgram {
 public:
  IntegralProgram() = default;
  /// Throws DeviceError. `cache` may be null.
  IntegralProgram(const Context& context, SheetContents contents, ProgramCache* cache);

 private:
  friend class Integrals;
  Program program_;
  bool tilted_ = false;
  int upright_planes_ = 1;
  int row_items_ = 1;  ///< work-items that make a row
};

/// The kernels, work lists and scratch memory of one frame in flight; see pyramids.hpp for the order of
/// calls, errors and thread safety.
class Integrals {
 public:
  Integrals() = default;
  /// @param program  must outlive the object
  explicit Integrals(const IntegralProgram& program);

  /// The levels as plan_sheet has placed them; the contents are those of the program.
  void plan(Queue& queue, const IntegralSheet& sheet, std::span<const SheetLevel> levels);
  /// @param rows  image rows of each level; computes rows `begin` (zero) to `end` of their integrals
  void plan_rows(Queue& queue, std::span<const ImageRows> rows);
  /// Memory that `enqueue` works with, where it is not there yet: a plane, for tilted sums.
  void make_scratch(const Context& context);

  void enqueue(Queue& queue, const Buffer& images, const Buffer& integrals, const Launched& launched);

 private:
  const IntegralProgram* program_ = nullptr;
  cl_int stride_ = 0;  ///< stride of the sheet, elements
  cl_int plane_ = 0;   ///< elements
  std::vector<Size> sizes_;
  Buffer levels_, anti_;
  WorkList row_tiles_, column_tiles_, anti_tiles_, diagonal_tiles_;
  Kernel row_sums_, column_sums_, anti_diagonals_, diagonals_;
};

}  // namespace sightline::opencl
