#include "ways/check.hpp"

#include <cmath>

#include "detectors/filterbank/kernels.hpp"

namespace sightline::ways {
namespace {
constexpr Arithmetic kArithmetics[] = {Arithmetic::floating, Arithmetic::exact};

std::size_t kind(Form form) {
  return form == Form::value ? 1 : 0;
}
double size_of(double response, Form form) {
  return form == Form::value ? response : std::fabs(response);
}
}  // namespace

Expected::Expected(const Problem& problem) : problem_(&problem) {
  for (const Arithmetic arithmetic : kArithmetics) {
    for (const Form form : {Form::magnitude, Form::value}) {
      std::vector<Best>& all = best_[static_cast<int>(arithmetic)][kind(form)];
      for (int y = 0; y < problem.size.height; ++y) {
        for (int x = 0; x < problem.size.width; ++x) {
          Best best{form == Form::value ? 0.0 : -1.0, 0};
          for (int k = 0; k < problem.dictionary.size(); ++k) {
            const double size = size_of(response(arithmetic, k, x, y), form);
            if (size > best.response) best = {size, k};
          }
          all.push_back(best);
        }
      }
    }
  }
}

double Expected::response(Arithmetic arithmetic, int k, int x, int y) const {
  double sum = 0;
  const GrayView image = problem_->image.view();
  for (int i = 0; i < filterbank::kTaps; ++i) {
    const double c = arithmetic == Arithmetic::exact
                         ? problem_->dictionary.filters()[k][i]
                         : static_cast<double>(problem_->dictionary.reference()[k][i]);
    sum += c * image.at(x + i % 3 - 1, y + i / 3 - 1);
  }
  return sum;
}

std::string Expected::fault_at(const Result& result, Form form, Arithmetic arithmetic, int x, int y,
                               int& other_indices) const {
  const bool exact = arithmetic == Arithmetic::exact;
  const double tolerance = exact ? 0 : kTolerance;
  const auto got = [&](std::ptrdiff_t at) {
    return exact ? static_cast<double>(result.integers[at]) : static_cast<double>(result.floats[at]);
  };
  const auto wrong = [](const std::string& what, double is, double wanted) {
    return what + " is " + std::to_string(is) + ", expected " + std::to_string(wanted);
  };
  const int count = problem_->dictionary.size();
  if (form == Form::every) {
    for (int k = 0; k < count; ++k) {
      const double is = got((static_cast<std::ptrdiff_t>(y) * count + k) * problem_->pitch() + x);
      const double wanted = response(arithmetic, k, x, y);
      if (!(std::fabs(is - wanted) <= tolerance)) return wrong("response " + std::to_string(k), is, wanted);
    }
    return "";
  }
  const std::ptrdiff_t at = y * problem_->pitch() + x;
  const Best& best =
      best_[static_cast<int>(arithmetic)][kind(form)][static_cast<std::size_t>(y) * problem_->size.width + x];
  // The library takes what is below kLeastResponse for a rounding error.
  const bool left_out = form == Form::value && !exact && got(at) == 0 &&
                        best.response < double{filterbank::kLeastResponse} + tolerance;
  if (!left_out && !(std::fabs(got(at) - best.response) <= tolerance))
    return wrong("the largest", got(at), best.response);
  if (form == Form::largest) return "";
  const int index = result.indices[at];
  if (index == best.index) return "";
  ++other_indices;
  const double other = index < count ? size_of(response(arithmetic, index, x, y), form) : -1;
  return exact || other < best.response - 2 * tolerance ? wrong("the index", index, best.index) : "";
}

std::string Expected::fault(const Result& result, Form form, Arithmetic arithmetic,
                            int& other_indices) const {
  other_indices = 0;
  for (int y = 0; y < problem_->size.height; ++y) {
    for (int x = 0; x < problem_->size.width; ++x) {
      const std::string found = fault_at(result, form, arithmetic, x, y, other_indices);
      if (!found.empty()) return found + " at " + std::to_string(x) + "," + std::to_string(y);
    }
  }
  return "";
}

}  // namespace sightline::ways
