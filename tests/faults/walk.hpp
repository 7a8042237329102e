#pragma once
// Walks a fault through a whole run of the program: its n-th call of a kind fails, for one n after the other.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pipeline/program.hpp"

namespace sightline::test {

/// What came of one run with a fault.
struct FaultRun {
  long n = 0;          ///< the call that was to fail
  std::string order;   ///< SIGHTLINE_FAULT
  std::string struck;  ///< the call that failed, by its name; empty where the run made fewer
  long lines = 0;      ///< of detections
  std::string folder;  ///< of its outputs: o.mp4 and o.jsonl
  Outcome outcome;
};

/// A run of `sightline detect` on a short clip with sound, again and again.
class Walk {
 public:
  /// @param arguments  of `detect`, but for its input and outputs
  /// @param program    another one in place of `sightline`
  /// @param caches     folder of kernels that are built already
  explicit Walk(std::vector<std::string> arguments, std::string program = {}, std::string caches = {});

  /// How many calls of a kind a run makes.
  long calls(const std::string& kind) const { return calls_.at(kind); }

  /// Runs it for each of the first and last 30 calls and some between, `points` in all; for all of them where
  /// SIGHTLINE_FAULT_POINTS is `all`. Each run must end as `check_run` wants it, and as `check` does.
  /// @param onwards  all calls from the n-th on fail
  /// @param first    from this call on
  void over(const std::string& kind, bool onwards, int points,
            const std::function<void(const FaultRun&)>& check, long first = 1) const;

  /// How many calls of a kind it takes to learn what is asked for.
  long calls_of_command_line(const std::string& kind) const;

 private:
  FaultRun run(const std::string& order, const std::string& folder) const;
  void check_run(const FaultRun& run) const;
  void check_lines(const FaultRun& run) const;

  TempDir folder_;
  std::vector<std::string> arguments_;
  std::string program_;
  std::string caches_;
  std::map<std::string, long> calls_;
  std::vector<Json> lines_;  ///< of the run without a fault
};

/// The exit code is one of these.
std::function<void(const FaultRun&)> exits_with(std::vector<int> codes);

}  // namespace sightline::test
