#pragma once
/// Turns between a processor's settings while it runs: by a policy, or by hand.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "pipeline/planning/battery_reader.hpp"
#include "pipeline/planning/energy_sensor.hpp"
#include "pipeline/planning/quality_controller.hpp"
#include "pipeline/planning/quality_objective.hpp"
#include "pipeline/runtime/pipeline.hpp"

namespace sightline::pipeline {

/// The rate at which a run could search frames: it counts the time in which some frame was being searched,
/// from when it was there until its last stage was done. Where a source or the sinks are slower than that,
/// searching rests in between. Thread-safety: none.
class CapacityMeter {
 public:
  struct Seen {
    double possible = 0;      ///< frames a second that could be searched
    double delivered = 0;     ///< that were
    double resting = 0;       ///< share of the time, 0 to 1
    bool by_outputs = false;  ///< the sinks were busier than the source while it rested
  };
  /// Forgets what it has seen, and leaves out the next `frames`, which a change still shows in.
  void begin_anew(int frames);
  void add(const FrameTrace& trace);
  /// Once half a second and some frames have been seen; the next ones are counted anew.
  std::optional<Seen> take();

 private:
  int left_out_ = 0;
  std::int64_t first_ =
      0;  ///< when the frame before the counted ones had been searched; 0: there was none yet
  std::int64_t last_ = 0;                   ///< when the last one had been
  std::int64_t busy_ = 0;                   ///< nanoseconds since `first_` in which frames were searched
  std::int64_t reading_ = 0, writing_ = 0;  ///< nanoseconds that sources and sinks were busy
  int frames_ = 0;
};

struct KnobOptions {
  QualityObjective policy;
  std::shared_ptr<EnergyCounter> energy;            ///< for a budget
  BatteryReader battery;                            ///< for the battery's policy
  std::chrono::milliseconds energy_interval{2000};  ///< sensors are slow
  /// Frames a second that the source gives: more need not be held. Empty, or 0: as many as are searched.
  std::function<double()> source_rate;
};

/// Watches a run and sets the pipeline's setting. Held is a rate where the machine could search so many
/// frames a second: what a camera does not give need not be held. Nor is what a file's decoding or the
/// outputs do not allow: where searching rests for more than a quarter of the time, it is not what limits,
/// and the rate to hold is no more than the one that there is. The log says so once. A budget counts the
/// energy of all meters that may be added up (EnergyCounter), idle power included, which is why a budget of
/// watts asks for a source that leaves the processors something to rest: searched as fast as possible, every
/// setting takes about the same. See QualityController for when it turns, and BatteryController. The log says
/// what was done and why.
///
/// A TraceSink of the pipeline's runs; must outlive them. The rest from any thread.
class Knob : public TraceSink {
 public:
  /// Throws Error (usage) where a budget has no meter, and Error (device) where there is no battery to
  /// follow.
  Knob(Pipeline& pipeline, const FrameProcessor& processor, KnobOptions options);

  void begin(const TraceInfo& info) override;
  void accept(const FrameTrace& trace) override;

  /// Turns by so many settings, below 0 to more accurate ones; the policy rests from now on. What was done,
  /// in words.
  std::string turn(int by);
  /// The policy goes on, from the present setting. What was done, in words.
  std::string follow_policy();

  /// The setting of the frames that enter now, and who chose it: "25 filters, step 1.1", "by hand".
  std::string setting_text() const;
  std::string chosen_by() const;
  /// One line about the policy's success; empty without a policy, or before its first check.
  std::string summary() const;

 private:
  void judge_rate(const FrameTrace& trace);
  void judge_energy(std::int64_t now);
  void judge_battery(std::int64_t now);
  void judge(std::int64_t now, double load, const std::string& seen);
  void turn_to(std::size_t setting, const std::string& why);
  const std::string& name(std::size_t setting) const { return processor_.run_settings()[setting].name; }

  Pipeline& pipeline_;
  const FrameProcessor& processor_;
  const KnobOptions options_;

  mutable std::mutex mutex_;
  QualityController logic_;
  BatteryController battery_;
  CapacityMeter capacity_;
  std::unique_ptr<EnergySensor> energy_;
  int in_flight_ = 1;
  bool by_hand_ = false;
  bool failed_ = false;         ///< the sensor; the policy has ended
  bool said_too_much_ = false;  ///< that the fastest setting does not hold the limit
  bool said_rests_ = false;     ///< that something else than searching limits the rate
  int rested_ = 0;              ///< looks at which something else did
  std::string limited_by_;      ///< in words, at the last of these
  std::int64_t next_look_ = 0;  ///< at the battery
  int judged_ = 0;              ///< how often the policy looked
  int held_ = 0;                ///< and found the limit kept, to within five hundredths
  int turns_ = 0;
  std::string last_seen_;
};

}  // namespace sightline::pipeline
