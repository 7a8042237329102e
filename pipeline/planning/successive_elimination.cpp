#include "pipeline/planning/successive_elimination.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sightline::pipeline {
namespace {

constexpr double kSamePrediction = 1.01;

double square(double x) {
  return x * x;
}

// Two-sided 5% quantile of Student's t distribution.
double student(double freedom) {
  constexpr double z = 1.959964;
  const double z2 = z * z;
  return z + z * (z2 + 1) / (4 * freedom) + z * ((5 * z2 + 16) * z2 + 3) / (96 * square(freedom)) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * square(freedom) * freedom);
}

// Relative scatter of one trial, times Student's t; none before any trial was repeated.
std::optional<double> scatter_of(const std::vector<Tried>& tried) {
  double squares = 0, freedom = 0;
  for (const Tried& one : tried) {
    if (one.seen.size() < 2 || one.mean <= 0) continue;
    for (const double seen : one.seen) squares += square(seen / one.mean - 1);
    freedom += static_cast<double>(one.seen.size()) - 1;
  }
  return freedom > 0 ? std::optional(student(freedom) * std::sqrt(squares / freedom)) : std::nullopt;
}

void work_out(std::vector<Tried>& tried) {
  for (Tried& one : tried) {
    if (!one.seen.empty())
      one.mean =
          std::accumulate(one.seen.begin(), one.seen.end(), 0.0) / static_cast<double>(one.seen.size());
  }
  const double scatter = scatter_of(tried).value_or(0);
  for (Tried& one : tried) {
    if (!one.seen.empty()) one.error = scatter * one.mean / std::sqrt(static_cast<double>(one.seen.size()));
  }
}

// Candidates that do not differ significantly from the one with the smallest mean: all before any trial was
// repeated.
std::vector<std::size_t> leaders_of(const std::vector<Tried>& tried) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (!tried[i].seen.empty() && (!first || tried[i].mean < tried[*first].mean)) first = i;
  }
  std::vector<std::size_t> leaders;
  const bool is_known = scatter_of(tried).has_value();
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (tried[i].seen.empty()) continue;
    const double apart = tried[i].mean - tried[*first].mean;
    if (!is_known || apart <= std::hypot(tried[i].error, tried[*first].error)) leaders.push_back(i);
  }
  return leaders;
}

// Candidates whose mean is within a factor of the smallest.
std::vector<std::size_t> worth_taking(const std::vector<std::size_t>& tied, const std::vector<Tried>& tried,
                                      double worth) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const std::size_t i : tied) smallest = std::min(smallest, tried[i].mean);
  std::vector<std::size_t> all;
  for (const std::size_t i : tied) {
    if (tried[i].mean <= worth * smallest) all.push_back(i);
  }
  return all;
}

std::optional<std::size_t> best_of(const std::vector<std::size_t>& tied,
                                   const std::vector<RaceCandidate>& candidates) {
  if (tied.empty()) return std::nullopt;
  std::optional<double> least;
  for (const std::size_t i : tied) {
    if (const auto& predicted = candidates[i].predicted; predicted && (!least || *predicted < *least))
      least = predicted;
  }
  std::optional<std::size_t> best;
  for (const std::size_t i : tied) {
    const RaceCandidate& one = candidates[i];
    if (least && (!one.predicted || *one.predicted > kSamePrediction * *least)) continue;
    if (!best || one.processors < candidates[*best].processors) best = i;
  }
  return best;
}

}  // namespace

EliminationResult eliminate_successively(const std::vector<RaceCandidate>& candidates,
                                         const EliminationLimits& limits,
                                         const std::function<std::optional<double>(std::size_t)>& trial) {
  EliminationResult result;
  result.tried.resize(candidates.size());
  std::vector<std::size_t> remaining(candidates.size());
  std::iota(remaining.begin(), remaining.end(), std::size_t{0});
  int left = limits.trials;
  bool is_possible = true;
  for (int round = 0; is_possible && remaining.size() > (round < limits.first ? 0 : 1); ++round) {
    if (round % 2 == 1) std::ranges::reverse(remaining);
    for (const std::size_t i : remaining) {
      if (round >= limits.first && left <= 0) is_possible = false;
      const std::optional<double> seen = is_possible ? trial(i) : std::nullopt;
      if (!seen) {
        is_possible = false;
        break;
      }
      result.tried[i].seen.push_back(*seen);
      --left;
    }
    work_out(result.tried);
    if (round + 1 >= limits.first) remaining = leaders_of(result.tried);
  }
  result.tied = leaders_of(result.tried);
  result.best = best_of(worth_taking(result.tied, result.tried, limits.worth), candidates);
  return result;
}

}  // namespace sightline::pipeline
