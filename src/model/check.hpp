#pragma once
/// Checks of a model's values, the same for reading and writing.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "image/view.hpp"
#include "model/header.hpp"

namespace sightline {

/// Checks that throw at the first wrong value: Error (model) with the file's path when reading,
/// std::invalid_argument when writing.
class ModelCheck {
 public:
  /// For a model that is written.
  ModelCheck() = default;
  /// For a model that is read; refers to the header.
  explicit ModelCheck(const ModelHeader& header) : header_(&header) {}

  [[noreturn]] void fail(const Message& problem, const Message& remedy = {}) const;

  /// The value lies in [smallest, largest]. The message is `what`, followed by the value.
  void range(const char* what, double value, double smallest, double largest) const;
  void integer(const char* what, std::int64_t value, std::int64_t smallest, std::int64_t largest) const;
  /// There are 1 to `most` of them.
  /// @param things  plural: "stages"
  void count(const char* things, std::int64_t count, std::int64_t most) const;
  /// The label is not empty and has at most `longest` bytes.
  void label(const std::string& label, std::size_t longest) const;
  /// Each side is from `smallest` to `largest` pixels.
  void window(Size window, int smallest, int largest) const;
  /// The shares lie between 0 and 1, and none is larger than the one before.
  /// @param first  number of the first share in the array `name`, for the message
  void falling_shares(const char* name, std::span<const float> shares, std::size_t first = 0) const;

  /// Result of `make`. If it throws Error, the check fails with that message.
  template <typename Make>
  auto result_of(const Make& make) const {
    try {
      return make();
    } catch (const Error& error) {
      fail(error.message());
    }
  }

 private:
  const ModelHeader* header_ = nullptr;
};

/// The text 'window' of a header ("24x24"), with sides from `smallest` to `largest`. Throws Error (model).
Size read_window(const ModelHeader& header, int smallest, int largest);

}  // namespace sightline
