#pragma once
// Sweeps a fault through a whole run of the program: its n-th call of a kind fails, for one n after the
// other.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/program.hpp"

namespace sightline::test {

/// What came of one run with a fault.
struct FaultRun {
  long n = 0;          ///< the call that was to fail
  std::string order;   ///< SIGHTLINE_FAULT
  std::string struck;  ///< the call that failed, by its name; empty where the run made fewer
  long lines = 0;      ///< of detections
  std::string folder;  ///< of its outputs
  Outcome outcome;
};

/// A run of the program, again and again.
class Sweep {
 public:
  /// What the program is given, for outputs in a folder.
  using Arguments = std::function<Words(const std::string& folder)>;
  /// @param program  another one in place of `sightline`
  /// @param caches   folder of kernels that are built already
  /// @param counts   runs in which calls are counted, since their number depends on how threads meet: the
  ///                 fewest count. One if tests are not thorough, or where each run takes long.
  explicit Sweep(Arguments arguments, std::string program = {}, std::string caches = {}, int counts = 3);
  virtual ~Sweep() = default;

  /// How many calls of a kind a run makes.
  long calls(const std::string& kind) const;
  /// Where runs would disturb each other.
  void one_at_a_time() { threads_ = 1; }
  /// Where the run without a fault has left its outputs.
  std::string whole() const { return folder_ / "whole"; }

  /// Runs it for each of the first and last 30 calls and some between, `points` in all, or a sixth of them
  /// where tests are not thorough; for all of them where SIGHTLINE_FAULT_POINTS is `all`. Each run must end
  /// as `check_run` wants it, and as `check` does.
  /// @param onwards  all calls from the n-th on fail
  /// @param first    from this call on
  /// @param last     up to this one; 0: all
  void over(const std::string& kind, bool onwards, int points,
            const std::function<void(const FaultRun&)>& check, long first = 1, long last = 0) const;

  /// How many calls of a kind it takes to learn what is asked for.
  long calls_of_command_line(const std::string& kind) const;

  /// One run; no fault where there is no order.
  FaultRun run(const std::string& order, const std::string& folder) const;

 protected:
  /// What holds for every run, whatever failed.
  virtual void check_run(const FaultRun& run) const;

 private:
  TempDir folder_;
  Arguments arguments_;
  std::string program_;
  std::string caches_;
  std::map<std::string, long> calls_;
  unsigned threads_ = std::max(std::thread::hardware_concurrency(), 1u);
};

/// A run of `sightline detect` on a short clip with sound, to o.mp4 and o.jsonl.
class DetectSweep : public Sweep {
 public:
  /// @param arguments  of `detect`, but for its input and outputs; asked for before each run
  explicit DetectSweep(const std::function<Words()>& arguments, std::string program = {},
                       std::string caches = {}, int counts = 3);
  explicit DetectSweep(const Words& arguments, std::string program = {}, std::string caches = {})
      : DetectSweep([arguments] { return arguments; }, std::move(program), std::move(caches)) {}

 protected:
  void check_run(const FaultRun& run) const override;

 private:
  void check_lines(const FaultRun& run) const;

  std::vector<Json> lines_;  ///< of the run without a fault
};

/// The exit code is one of these.
std::function<void(const FaultRun&)> exits_with(std::vector<int> codes);

}  // namespace sightline::test
