#include "pipeline/planning/knob.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "pipeline/runtime/now.hpp"

namespace sightline::pipeline {
namespace {

constexpr std::int64_t kShortest = kSecond / 2;  // of what a rate is judged by
constexpr int kFewestFrames = 8;                 // likewise
constexpr int kFewestSlowFrames = 2;             // where so many take four times as long
constexpr std::int64_t kBatteryPause = 10 * kSecond;
constexpr double kHeld = 1.05;  // a load that counts as held

constexpr double kRests = 0.25;  // share of the time from which on searching is not what limits

// When a frame could be searched, until when it was, and what else was done for it.
struct Searched {
  explicit Searched(const FrameTrace& trace) : begin(trace.admitted), end(trace.delivered) {
    std::int64_t done = 0;
    for (const Span& span : trace.spans) {
      switch (span.activity) {
        case Activity::decode:
          begin = span.end;
          reading += span.end - span.start;
          break;
        case Activity::output:
          writing += span.end - span.start;
          break;
        case Activity::wait:
          break;
        default:
          done = std::max(done, span.end);
      }
    }
    // A captured frame waited with its source until it entered.
    if (trace.entered != 0) begin = trace.entered;
    if (done != 0) end = done;
  }
  std::int64_t begin, end;
  std::int64_t reading = 0, writing = 0;
};

std::size_t count_of(const FrameProcessor& processor) {
  return std::max<std::size_t>(processor.run_settings().size(), 1);
}

}  // namespace

void CapacityMeter::begin_anew(int frames) {
  *this = {};
  left_out_ = frames;
}

void CapacityMeter::add(const FrameTrace& trace) {
  if (left_out_ > 0) {
    --left_out_;
    return;
  }
  const Searched searched(trace);
  if (first_ == 0) {
    first_ = last_ = searched.end;
    return;
  }
  busy_ += std::max<std::int64_t>(0, searched.end - std::max(searched.begin, last_));
  last_ = std::max(last_, searched.end);
  reading_ += searched.reading;
  writing_ += searched.writing;
  ++frames_;
}

std::optional<CapacityMeter::Seen> CapacityMeter::take() {
  const std::int64_t seen = last_ - first_;
  if (seen < kShortest || busy_ <= 0) return std::nullopt;
  if (frames_ < (seen < 4 * kShortest ? kFewestFrames : kFewestSlowFrames)) return std::nullopt;
  const Seen result{1e9 * frames_ / static_cast<double>(busy_), 1e9 * frames_ / static_cast<double>(seen),
                    1 - static_cast<double>(busy_) / static_cast<double>(seen), writing_ > reading_};
  first_ = last_;
  busy_ = reading_ = writing_ = 0;
  frames_ = 0;
  return result;
}

Knob::Knob(Pipeline& pipeline, const FrameProcessor& processor, KnobOptions options)
    : pipeline_(pipeline),
      processor_(processor),
      options_(std::move(options)),
      logic_(count_of(processor), pipeline.setting()),
      battery_(count_of(processor), pipeline.setting()) {
  using enum QualityObjective::Kind;
  const QualityObjective::Kind kind = options_.policy.kind;
  if (kind == power || kind == energy) {
    energy_ = std::make_unique<EnergySensor>(options_.energy, options_.energy_interval);
    spdlog::info("setting: {}, measured by {}", describe(options_.policy), energy_->name());
  }
  if (kind == battery && !(options_.battery && options_.battery())) {
    throw Error(ExitCode::device, "there is no battery", "use --hold or --budget instead of --battery");
  }
}

void Knob::begin(const TraceInfo& info) {
  const std::lock_guard lock(mutex_);
  in_flight_ = std::max(info.slots, 1);
  capacity_.begin_anew(in_flight_);
  if (energy_) energy_->begin_anew();
}

void Knob::accept(const FrameTrace& trace) {
  using enum QualityObjective::Kind;
  const std::lock_guard lock(mutex_);
  if (energy_) energy_->count_frame();
  if (by_hand_ || failed_ || trace.status != FrameStatus::ok) return;
  try {
    switch (options_.policy.kind) {
      case none:
        break;
      case hold:
        judge_rate(trace);
        break;
      case power:
      case energy:
        judge_energy(trace.delivered);
        break;
      case battery:
        judge_battery(trace.delivered);
        break;
    }
  } catch (const std::exception& e) {
    failed_ = true;
    spdlog::warn("setting: {}; the setting remains {}", e.what(), name(pipeline_.setting()));
  }
}

void Knob::judge_rate(const FrameTrace& trace) {
  if (static_cast<std::size_t>(trace.setting) != pipeline_.setting()) return;
  capacity_.add(trace);
  const std::optional<CapacityMeter::Seen> seen = capacity_.take();
  if (!seen) return;
  double wanted = options_.policy.limit;
  if (const double given = options_.source_rate ? options_.source_rate() : 0; given > 0)
    wanted = std::min(wanted, given);
  if (seen->resting > kRests && seen->delivered < wanted) {
    wanted = seen->delivered;
    ++rested_;
    limited_by_ =
        fmt::format("{} {:.1f} frames/s", seen->by_outputs ? "the outputs accept" : "the source delivers",
                    seen->delivered);
    if (!said_rests_ && !options_.source_rate) {
      said_rests_ = true;
      spdlog::info(
          "setting: {}, and the detector is idle {:.0f}% of the time; a faster setting would not raise the "
          "rate",
          limited_by_, 100 * seen->resting);
    }
  }
  judge(trace.delivered, wanted / seen->possible,
        fmt::format("{:.1f} frames/s are possible", seen->possible));
}

void Knob::judge_energy(std::int64_t now) {
  if (const std::string failure = energy_->failure(); !failure.empty())
    throw Error(ExitCode::failed, failure);
  const auto reading = energy_->take();
  if (!reading || reading->seconds <= 0) return;
  const bool a_frame = options_.policy.kind == QualityObjective::Kind::energy;
  if (a_frame && reading->frames == 0) return;
  const double used = reading->joules / (a_frame ? static_cast<double>(reading->frames) : reading->seconds);
  judge(now, used / options_.policy.limit, fmt::format("{:.3g} {}", used, a_frame ? "J per frame" : "W"));
}

void Knob::judge_battery(std::int64_t now) {
  if (now < next_look_) return;
  next_look_ = now + kBatteryPause;
  const std::optional<BatteryLevel> level = options_.battery();
  if (!level) throw Error(ExitCode::failed, "the battery is gone");
  const std::size_t setting = battery_.observe(level->level, level->charging);
  last_seen_ = fmt::format("the battery is at {:.0f}%{}", 100 * level->level,
                           level->charging ? " and is not discharging" : "");
  if (setting != pipeline_.setting()) turn_to(setting, last_seen_);
}

void Knob::judge(std::int64_t now, double load, const std::string& seen) {
  ++judged_;
  held_ += load <= kHeld;
  last_seen_ = seen;
  if (const auto setting = logic_.observe(1e-9 * static_cast<double>(now), load)) {
    turn_to(*setting, seen);
  } else if (load > kHeld && logic_.setting() + 1 == count_of(processor_) && !said_too_much_) {
    said_too_much_ = true;
    spdlog::warn("setting: the fastest setting does not keep '{}': {}", describe(options_.policy), seen);
  }
}

void Knob::turn_to(std::size_t setting, const std::string& why) {
  spdlog::info("setting: {}; now {} ({})", why, name(setting), describe(options_.policy));
  pipeline_.set_setting(setting);
  ++turns_;
  capacity_.begin_anew(in_flight_);
  if (energy_) energy_->begin_anew();
}

std::string Knob::turn(int by) {
  const std::lock_guard lock(mutex_);
  const std::size_t count = count_of(processor_);
  if (count < 2) return "there is only one setting";
  const auto now = static_cast<std::ptrdiff_t>(pipeline_.setting());
  const std::ptrdiff_t to = std::clamp<std::ptrdiff_t>(now + by, 0, static_cast<std::ptrdiff_t>(count) - 1);
  by_hand_ = true;
  if (to == now)
    return fmt::format("{}: the {} setting", name(static_cast<std::size_t>(now)),
                       by > 0 ? "fastest" : "most accurate");
  pipeline_.set_setting(static_cast<std::size_t>(to));
  ++turns_;
  return fmt::format("setting: {} ({} of {})", name(static_cast<std::size_t>(to)), to + 1, count);
}

std::string Knob::follow_policy() {
  const std::lock_guard lock(mutex_);
  if (options_.policy.kind == QualityObjective::Kind::none)
    return "no policy: see --hold, --budget and --battery";
  if (failed_) return "the policy has ended: its sensor failed";
  by_hand_ = false;
  logic_.start_at(pipeline_.setting());
  capacity_.begin_anew(in_flight_);
  if (energy_) energy_->begin_anew();
  next_look_ = 0;
  return "setting: " + describe(options_.policy);
}

std::string Knob::setting_text() const {
  return processor_.run_settings().empty() ? std::string() : name(pipeline_.setting());
}

std::string Knob::chosen_by() const {
  const std::lock_guard lock(mutex_);
  if (by_hand_) return "by hand";
  if (options_.policy.kind == QualityObjective::Kind::none) return "as configured";
  return failed_ ? "policy ended" : describe(options_.policy);
}

std::string Knob::summary() const {
  const std::lock_guard lock(mutex_);
  if (options_.policy.kind == QualityObjective::Kind::none || last_seen_.empty()) return "";
  const std::string policy = describe(options_.policy);
  if (judged_ == 0)
    return fmt::format("{}: {} of the setting; {}\n", policy, counted(turns_, "change"), last_seen_);
  const std::string limited =
      rested_ > 0 && !options_.source_rate
          ? fmt::format("; in {}, the search had time left, and {}", counted(rested_, "check"), limited_by_)
          : "";
  return fmt::format("{}: kept within 5% at {} of {}, with {} of the setting{}; last check: {}\n", policy,
                     held_, counted(judged_, "check"), counted(turns_, "change"), limited, last_seen_);
}

}  // namespace sightline::pipeline
