#include "detectors/waldboost/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"

namespace sightline::waldboost {
namespace {

constexpr int kReduction = 512;  // total reduction of all usual steps

std::vector<int> parse_numbers(const std::string& text, const std::string& where, const char* key, int lowest,
                               int highest, const char* example) {
  const auto refuse = [&](const std::string& problem) {
    throw Error(ExitCode::usage, fmt::format("{}: '{}' is \"{}\": {}", where, key, text, problem),
                fmt::format("give whole numbers from {} to {}, one per step, separated by commas: {}", lowest,
                            highest, example));
  };
  std::vector<int> numbers;
  for (const std::string& item : split(text, ',')) {
    int number = 0;
    const char* const end = item.data() + item.size();
    const auto [stop, error] = std::from_chars(item.data(), end, number);
    if (error != std::errc() || stop != end || number < lowest || number > highest)
      refuse(fmt::format("'{}' is not a whole number from {} to {}", item, lowest, highest));
    numbers.push_back(number);
  }
  if (text.ends_with(',')) refuse("a number is missing at its end");
  const int steps = static_cast<int>(numbers.size());
  if (!text.empty() && (steps < kFewestSteps || steps > kMostSteps))
    refuse(fmt::format("there are {} to {} steps", kFewestSteps, kMostSteps));
  return numbers;
}

}  // namespace

std::vector<int> usual_shares(int repeats) {
  std::vector<int> divisors(static_cast<std::size_t>(repeats) + 2, kShare);
  divisors.front() = kFirstShare;
  return divisors;
}

std::vector<int> shares_of(int first, int further) {
  std::vector<int> divisors{first};
  int reduction = first;
  do {
    divisors.push_back(std::max(std::min(further, kReduction / reduction), 2));
    reduction *= divisors.back();
  } while (reduction < kReduction);
  return divisors;
}

std::vector<ProgressiveStep> progressive_steps(const Model& model, std::span<const int> divisors) {
  constexpr int kFirst = 4, kMore = 8;  // his, for the faster of two detectors
  // The weak classifier after which a share of the windows is left.
  const auto reached = [&](double share) {
    int t = 1;
    while (t < model.size() && static_cast<double>(model.survivors[static_cast<std::size_t>(t) - 1]) > share)
      ++t;
    return t;
  };
  const bool knows = model.survivors.size() == model.features.size();
  double share = 2;
  int at = 0;
  std::vector<ProgressiveStep> steps;
  for (const int divisor : divisors) {
    share /= divisor;
    const int next = knows ? reached(share) : at + (steps.empty() ? kFirst : kMore);
    steps.push_back({divisor, std::max(next - at, 1), 0});
    at = next;
  }
  steps.back().fewest = 0;  // it brings all windows to one weak classifier
  steps.back().target = at;
  return steps;
}

std::vector<ProgressiveStep> progressive_steps(std::span<const int> divisors, std::span<const int> phases) {
  std::vector<ProgressiveStep> steps;
  for (std::size_t i = 0; i < divisors.size(); ++i) steps.push_back({divisors[i], 0, phases[i]});
  return steps;
}

std::vector<int> phases_of(std::span<const ProgressiveStep> steps) {
  std::vector<int> phases;
  int at = 0;
  for (const ProgressiveStep& step : steps) {
    at = std::max(at + step.fewest, step.target);
    phases.push_back(at);
  }
  return phases;
}

std::vector<int> parse_shares(const std::string& text, const std::string& where) {
  return parse_numbers(text, where, "shares", 2, kStepGroup, "8,4,4,4");
}

std::vector<int> parse_phases(const std::string& text, const std::string& where) {
  const std::vector<int> phases = parse_numbers(text, where, "phases", 1, kMaxWeakClassifiers, "4,12,20,28");
  if (!std::ranges::is_sorted(phases)) {
    throw Error(ExitCode::usage, fmt::format("{}: 'phases' is \"{}\", which falls", where, text),
                "they are numbers of weak classifiers, each at least the one before: 4,12,20,28");
  }
  return phases;
}

std::vector<ProgressiveStep> steps_for(const Model& model, std::span<const int> shares,
                                       std::span<const int> phases) {
  const std::vector<int> usual = usual_shares();
  const std::span<const int> divisors = shares.empty() ? usual : shares;
  if (phases.empty()) return progressive_steps(model, divisors);
  if (phases.size() != divisors.size()) {
    throw Error(ExitCode::usage,
                fmt::format("'phases' has {} steps, and 'shares' {}{}", phases.size(), divisors.size(),
                            shares.empty() ? ", unless it is given" : ""),
                "give as many numbers in both");
  }
  return progressive_steps(divisors, phases);
}

}  // namespace sightline::waldboost
