#include "pipeline/runs/parted_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "pipeline/runs/parted_video.hpp"
#include "pipeline/session/now.hpp"
#include "pipeline/session/run_report.hpp"

namespace sightline::pipeline {
namespace {

using Decoder = PartedVideo::Decoder;

// On an H200 with 16 cores, people in HEVC videos were found at 1,090 frames/s with four decoders of the
// device, and at 1,180 with eight. The search's own limit is 1,600.
constexpr int kDeviceDecoders = 4;
// Threads of the CPU that are left to the search; with decoders of a device, to those, too.
constexpr int kThreadsLeft = 2;
constexpr int kThreadsLeftByDevice = 6;

// Frames of a part. A device's decoder takes about 0.2 s to open, in which another one decodes 50 to 200
// frames; software takes 0.02 s. Results wait for all parts before theirs: longer parts delay more of them.
constexpr std::int64_t kLeastFrames = 60;
constexpr std::int64_t kMostFrames = 480;
constexpr std::int64_t kLeastDeviceFrames = 240;
constexpr std::int64_t kMostDeviceFrames = 2'400;
constexpr std::int64_t kRounds = 4;  // parts of each decoder, at least: the last ones end at different times

// Shares of the time that decoders spend decoding: above the first, the search waits for frames; below the
// second, frames wait for the search.
constexpr double kWantsDecoders = 0.8;
constexpr double kHasEnough = 0.4;
constexpr std::int64_t kInterval = kSecond / 10;

// The frames in front of the place where a device decodes.
class Beginning : public FrameSource {
 public:
  Beginning(FrameSource& source, const media::Reader& reader) : source_(source), reader_(reader) {}
  std::optional<Frame> read() override {
    if (!reader_.tests_device()) return std::nullopt;
    std::optional<Frame> frame = source_.read();
    if (frame) {
      reached_ = {frame->number(), frame->time()};
    } else {
      is_over_ = true;
    }
    return frame;
  }
  const PartedVideo::Place& reached() const { return reached_; }
  bool is_over() const { return is_over_; }

 private:
  FrameSource& source_;
  const media::Reader& reader_;
  PartedVideo::Place reached_;
  bool is_over_ = false;
};

// The frames behind those that were passed on, each once.
class Rest : public FrameSource {
 public:
  Rest(FrameSource& source, std::int64_t passed_on) : source_(source), passed_on_(passed_on) {}
  std::optional<Frame> read() override {
    std::optional<Frame> frame;
    do frame = source_.read();
    while (frame && frame->number() <= passed_on_);
    if (frame) passed_on_ = frame->number();
    return frame;
  }

 private:
  FrameSource& source_;
  std::int64_t passed_on_;
};

// Runs as many of a video's decoders as the search has use for.
class TeamRun {
 public:
  /// @param stream  whose name and progress the run has
  /// @param first   decoders to begin with
  /// @param most    decoders at once
  TeamRun(Pipeline& pipeline, PartedVideo& video, std::size_t first, std::size_t most, Stream stream,
          const RunOptions& options)
      : pipeline_(pipeline),
        session_(pipeline.session()),
        video_(video),
        stream_(std::move(stream)),
        options_(options),
        in_flight_(pipeline.schedule().in_flight),
        ids_(most),
        wanted_(std::clamp<std::size_t>(first, 1, most)) {}

  /// Returns the sum of all decoders' reports.
  RunReport run() {
    begin_traces();
    start_ = adjusted_ = now_ns();
    video_.keep(wanted_);
    do {
      start_decoders();
      session_.next_event(std::chrono::milliseconds(50));
      collect();
      if (now_ns() - adjusted_ >= kInterval && running_ > 0) adjust();
    } while (running_ > 0);
    set_in_flight(in_flight_);
    if (error_) std::rethrow_exception(error_);
    report_.seconds = seconds();
    report_.sources = most_;
    report_.devices = use_.times();
    return report_;
  }

 private:
  bool goes_on() const { return !error_ && !(options_.stop && options_.stop->load()) && video_.has_parts(); }
  double seconds() const { return 1e-9 * static_cast<double>(now_ns() - start_); }

  void begin_traces() {
    options_.traces.push_back(&use_);
    TraceInfo info = session_.trace_info(pipeline_.program());
    info.sources.assign(ids_.size(), stream_.name);
    for (TraceSink* const sink : options_.traces) sink->begin(info);
  }

  // An error ends the decoders that run: they refer to this object.
  void start_decoders() {
    try {
      while (running_ < wanted_ && goes_on()) start_decoder();
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  void start_decoder() {
    const auto free = std::ranges::find_if(ids_, [](const auto& id) { return !id; });
    const auto index = static_cast<std::size_t>(free - ids_.begin());
    Stream stream = video_.stream(index);
    stream.name = stream_.name;
    stream.number = static_cast<int>(index);
    stream.tiles = stream_.tiles;
    stream.stop = options_.stop;
    stream.traces = options_.traces;
    stream.on_progress = [this](const Progress&) {
      const std::lock_guard lock(mutex_);
      if (stream_.on_progress) stream_.on_progress({++frames_, seconds(), {}});
    };
    *free = session_.add(pipeline_.program(), stream);
    most_ = std::max(most_, ++running_);
    // One frame is decoded while another one is searched.
    set_in_flight(std::max(pipeline_.schedule().in_flight, 2 * static_cast<int>(running_)));
  }

  void set_in_flight(int in_flight) {
    Schedule schedule = pipeline_.schedule();
    if (std::exchange(schedule.in_flight, in_flight) != in_flight) pipeline_.set_schedule(schedule);
  }

  void collect() {
    for (std::optional<StreamId>& id : ids_) {
      if (!id || (!error_ && !session_.is_done(*id))) continue;
      try {
        report_.add(error_ ? session_.remove(*id) : session_.wait(*id));
      } catch (...) {
        if (!error_) error_ = std::current_exception();
      }
      id.reset();
      --running_;
    }
  }

  void adjust() {
    const std::int64_t now = now_ns();
    const std::int64_t decoding = video_.decoding_time();
    const double share = static_cast<double>(decoding - decoding_) /
                         (static_cast<double>(now - adjusted_) * static_cast<double>(running_));
    if (share > kWantsDecoders) {
      wanted_ = std::min(2 * running_, ids_.size());
    } else if (share < kHasEnough) {
      wanted_ = std::max<std::size_t>(running_ - 1, 1);
    }
    video_.keep(wanted_);
    adjusted_ = now;
    decoding_ = decoding;
  }

  Pipeline& pipeline_;
  Session& session_;
  PartedVideo& video_;
  const Stream stream_;
  RunOptions options_;
  const int in_flight_;                       ///< of the schedule before
  std::vector<std::optional<StreamId>> ids_;  ///< by decoder; of those that run
  std::size_t wanted_;
  std::size_t running_ = 0;
  std::size_t most_ = 0;  ///< that have run at once
  std::int64_t start_ = 0;
  std::int64_t adjusted_ = 0;
  std::int64_t decoding_ = 0;  ///< PartedVideo::decoding_time at that time
  DeviceUse use_;
  RunReport report_;
  std::exception_ptr error_;
  std::mutex mutex_;
  std::int64_t frames_ = 0;  ///< guarded by `mutex_`
};

class PartedRun {
 public:
  PartedRun(Pipeline& pipeline, const Stream& stream, const PartedInput& input, const RunOptions& options,
            std::size_t& decoders)
      : pipeline_(pipeline),
        stream_(stream),
        input_(input),
        options_(options),
        decoders_(decoders),
        frames_(frames_to_decode()) {}

  PartedReport run() {
    if (frames_ >= 2 * kLeastFrames && !input_.reader.info().is_pictures &&
        may_have_several_decoders(stream_.name, input_.reading)) {
      if (input_.reader.tests_device()) run_beginning();
      if (!is_over_ && input_.reader.decode_errors() == 0) run_parts();
    }
    if (!is_over_) {
      Rest rest(*stream_.source, reached_.number);
      run(rest);
    }
    report_.decode_errors = stream_.source->decode_errors();
    return {report_, in_parts_};
  }

 private:
  bool is_stopped() const { return options_.stop && options_.stop->load(); }

  std::int64_t frames_to_decode() const {
    const double seconds = input_.selection.end - input_.reading.start;
    const auto frames = static_cast<double>(stream_.source->frames().value_or(0));
    return input_.reading.every *
           std::llround(std::min({frames, seconds * input_.reader.info().frame_rate.value(), 1e12}));
  }

  void run_beginning() {
    Beginning beginning(*stream_.source, input_.reader);
    run(beginning);
    reached_ = beginning.reached();
    is_over_ = beginning.is_over() || is_stopped();
  }

  void run(FrameSource& source) {
    Stream stream = following(stream_);
    stream.source = &source;
    report_.add(pipeline_.run(stream, options_));
  }

  void run_parts() {
    const std::string device = input_.reader.device();
    const DecoderTeam team = choose_decoders(
        {stream_.name, input_.reading, frames_, pipeline_.threads(), input_.in_flight, input_.selection},
        device);
    if (team.decoders.empty()) return;
    PartedVideo video(stream_.name, team.parts, input_.reading, team.decoders, reached_, stream_.sinks,
                      input_.selection);
    if (video.size() < 2) return;
    const std::size_t most = std::min(team.decoders.size(), video.size());
    logger().debug("{}: up to {} decoders decode {} parts side by side{}{}", stream_.name, most, video.size(),
                   device.empty() ? "" : ", the first ones by ", device);
    go_on_at(video.continuation());  // without its decoder's memory meanwhile
    RunReport report = TeamRun(pipeline_, video, decoders_, most, following(stream_), options_).run();
    decoders_ = report.sources;
    is_over_ = video.finish() || is_stopped();
    in_parts_ = video.span();
    if (reached_.number > 0) in_parts_.first.reset();
    go_on_at(video.continuation());
    report.frames = video.counts().frames;
    report.objects = video.counts().objects;
    report.skipped = video.counts().skipped;
    report.failed = video.counts().failed;
    report.first_failure = video.counts().first_failure;
    logger().debug("{}: {} decoded side by side", stream_.name, counted(report.sources, "decoder"));
    report_.add(report);
    reached_.number = video.number();
    if (!is_over_)
      logger().debug("{}: one decoder decodes all frames behind frame {}: {}", stream_.name, video.number(),
                     video.problem());
  }

  void go_on_at(const PartedVideo::Continuation& place) {
    input_.reader.continue_at(place.number, place.start);
  }

  // A stream whose progress follows that of the frames before.
  Stream following(Stream stream) const {
    if (!stream.on_progress) return stream;
    stream.on_progress = [this](const Progress& progress) {
      stream_.on_progress({report_.frames + progress.frames, report_.seconds + progress.seconds,
                           input_.reader.info().frames});
    };
    return stream;
  }

  Pipeline& pipeline_;
  const Stream& stream_;
  const PartedInput& input_;
  const RunOptions& options_;
  std::size_t& decoders_;       // to begin with
  const std::int64_t frames_;   // frames_to_decode, by estimation
  PartedVideo::Place reached_;  // the last frame that was passed on
  bool is_over_ = false;
  RunReport report_;
  media::FrameSpan in_parts_;
};

std::vector<Decoder> team_of(const FileToDecode& file, const std::string& device) {
  const media::ReadOptions& reading = file.reading;
  std::vector<Decoder> decoders;
  // `auto` would test the device again.
  const Decoder by_device{reading.decoder == "auto" ? device : reading.decoder, reading.threads};
  if (!device.empty()) decoders.assign(kDeviceDecoders, by_device);
  const int left = device.empty() ? kThreadsLeft : kThreadsLeftByDevice;
  if ((device.empty() || reading.decoder == "auto") && file.threads >= kThreadsForSeveralDecoders)
    decoders.insert(decoders.end(), static_cast<std::size_t>(std::max(file.threads - left, 0)),
                    {"software", 1});
  if (file.in_flight > 0)
    decoders.resize(std::min(decoders.size(), static_cast<std::size_t>(file.in_flight / 2)));
  return decoders;
}

std::vector<media::VideoPart> divide(const FileToDecode& file, std::int64_t length) {
  try {
    // Numbers of frames are only needed to tell which are left out.
    const bool needs_numbers = file.reading.every > 1 || file.selection.is_wanted;
    media::VideoParts parts = media::divide_video(file.name, file.reading, length,
                                                  needs_numbers ? 0 : file.reading.start, file.selection.end);
    if (!parts.whole.empty()) logger().debug("{}: one decoder decodes the file: {}", file.name, parts.whole);
    return std::move(parts.parts);
  } catch (const Error& error) {
    logger().debug("{}: one decoder decodes the file: {}", file.name, error.what());
    return {};
  }
}

}  // namespace

DecoderTeam choose_decoders(const FileToDecode& file, const std::string& device) {
  DecoderTeam team{team_of(file, device), {}};
  if (file.frames < 2 * kLeastFrames || team.decoders.size() < 2) return {};
  const auto rounds = kRounds * static_cast<std::int64_t>(team.decoders.size());
  team.parts =
      divide(file, device.empty() ? std::clamp(file.frames / rounds, kLeastFrames, kMostFrames)
                                  : std::clamp(file.frames / rounds, kLeastDeviceFrames, kMostDeviceFrames));
  team.decoders.resize(std::min(team.decoders.size(), team.parts.size()));
  return team.decoders.size() < 2 ? DecoderTeam() : team;
}

bool may_have_several_decoders(const std::string& input, const media::ReadOptions& reading) {
  return reading.loop == 0 && media::is_regular_file(input);
}

PartedReport run_in_parts(Pipeline& pipeline, const Stream& stream, const PartedInput& input,
                          const RunOptions& options, std::size_t& decoders) {
  return PartedRun(pipeline, stream, input, options, decoders).run();
}

}  // namespace sightline::pipeline
