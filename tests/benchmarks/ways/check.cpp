#include "ways/check.hpp"

#include <cmath>

#include "base/parallel.hpp"
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
      all.resize(static_cast<std::size_t>(problem.size.width) * problem.size.height);
      parallel_for_isolated(problem.size.height, [&](int y) {
        for (int x = 0; x < problem.size.width; ++x) {
          Best best{form == Form::value ? 0.0 : -1.0, 0};
          for (int k = 0; k < problem.dictionary.size(); ++k) {
            const double size = size_of(response(arithmetic, k, x, y), form);
            if (size > best.response) best = {size, k};
          }
          all[static_cast<std::size_t>(y) * problem.size.width + x] = best;
        }
      });
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

double Expected::sum(Arithmetic arithmetic, int x, int y) const {
  double sum = 0;
  for (int k = 0; k < problem_->dictionary.size(); ++k) sum += response(arithmetic, k, x, y);
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
  if (form == Form::sum) {
    const double wanted = sum(arithmetic, x, y);
    // The errors of `count` responses, and of as many additions of sums of 765 * `count` at most.
    const bool close = std::fabs(got(at) - wanted) <= count * tolerance * (1 + count / 17.0);
    return close ? "" : wrong("the sum", got(at), wanted);
  }
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
  struct Row {
    std::string fault;
    int other_indices = 0;
  };
  std::vector<Row> rows(static_cast<std::size_t>(problem_->size.height));
  parallel_for_isolated(problem_->size.height, [&](int y) {
    Row& row = rows[static_cast<std::size_t>(y)];
    for (int x = 0; x < problem_->size.width && row.fault.empty(); ++x) {
      const std::string found = fault_at(result, form, arithmetic, x, y, row.other_indices);
      if (!found.empty()) row.fault = found + " at " + std::to_string(x) + "," + std::to_string(y);
    }
  });
  other_indices = 0;
  for (const Row& row : rows) {
    if (!row.fault.empty()) return row.fault;
    other_indices += row.other_indices;
  }
  return "";
}

}  // namespace sightline::ways
