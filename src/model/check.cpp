#include "model/check.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/text.hpp"

namespace sightline {
namespace {

std::string window_remedy(int smallest, int largest) {
  return "each side must be a whole number from " + std::to_string(smallest) + " to " +
         std::to_string(largest);
}

}  // namespace

void ModelCheck::fail(const Message& problem, const Message& remedy) const {
  if (header_) header_->fail(problem, remedy);
  throw std::invalid_argument(Error(ExitCode::model, problem, remedy).what());
}

void ModelCheck::range(const char* what, double value, double smallest, double largest) const {
  if (value >= smallest && value <= largest) return;
  fail(what + shortest(value), "it must be a number from " + shortest(smallest) + " to " + shortest(largest));
}

void ModelCheck::integer(const char* what, std::int64_t value, std::int64_t smallest,
                         std::int64_t largest) const {
  if (value >= smallest && value <= largest) return;
  fail(what + std::to_string(value),
       "it must be " + std::to_string(smallest) + " to " + std::to_string(largest));
}

void ModelCheck::count(const char* things, std::int64_t count, std::int64_t most) const {
  if (count >= 1 && count <= most) return;
  fail("there are " + std::to_string(count) + " " + things, "a model has 1 to " + std::to_string(most));
}

void ModelCheck::label(const std::string& label, std::size_t longest) const {
  if (label.empty() || label.size() > longest)
    fail("'label' must have 1 to " + std::to_string(longest) + " characters");
}

void ModelCheck::window(Size window, int smallest, int largest) const {
  for (const int side : {window.width, window.height}) {
    if (side < smallest || side > largest) {
      fail("'window' is " + std::to_string(window.width) + "x" + std::to_string(window.height),
           window_remedy(smallest, largest));
    }
  }
}

void ModelCheck::falling_shares(const char* name, std::span<const float> shares, std::size_t first) const {
  float before = 1;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (!(shares[i] >= 0 && shares[i] <= before)) {
      fail("'" + std::string(name) + "' holds " + std::to_string(shares[i]) + " at " +
               std::to_string(first + i),
           "shares lie between 0 and 1, and none is larger than the one before");
    }
    before = shares[i];
  }
}

Size read_window(const ModelHeader& header, int smallest, int largest) {
  const std::vector<double> sides = header.numbers("window", 2, 'x');
  for (const double side : sides) {
    if (side < smallest || side > largest || side != std::floor(side))
      header.fail("'window' is '" + header.text("window") + "'", window_remedy(smallest, largest));
  }
  return {static_cast<int>(sides[0]), static_cast<int>(sides[1])};
}

}  // namespace sightline
