#pragma once
/// Addresses of a stored tensor's elements, without a table of all of them.

#include <cstdint>
#include <vector>

#include "network/plan/storage.hpp"

namespace sightline::nn {

/// Finds where elements lie by their row-major numbers. Thread-safety: immutable.
class ElementAddresses {
 public:
  /// Throws Problem where addresses exceed 32 bits.
  ElementAddresses(const Storage& storage, const Layout& layout, const Shape& shape);

  /// Plain tensors have their elements where their numbers say: any of them may stand for a point.
  bool is_plain() const { return storage_.is_plain; }
  /// Of blocks.
  struct Place {
    std::int64_t point = 0, channel = 0;
  };
  Place place(std::int64_t element) const;
  std::int64_t address(std::int64_t element) const;

  /// Elements that lie one step apart.
  struct Row {
    std::int64_t count = 1, step = 0;
    bool is_in_channel = true;  ///< whether all have the first one's channel
  };
  /// The row that begins with `element`, of elements whose numbers are `step` apart: at most `count`.
  Row row(std::int64_t element, std::int64_t step, std::int64_t count) const;

 private:
  /// Part of an element's number.
  struct Digit {
    std::int64_t size, below;     ///< values, and the number's step from one to the next
    std::int64_t point, channel;  ///< steps of the place
  };

  Storage storage_;
  std::vector<Digit> digits_;  ///< outermost first
};

}  // namespace sightline::nn
