#include "pipeline/runs/parted_video.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace sightline::pipeline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kWithinRounding = 0.4e-6;  // seconds, less than what a Reader allows for
// Frames of a part. To open a decoder takes about 0.2 s, in which another one decodes 150 to 200 frames.
// Results wait for all parts before theirs: longer parts would delay more of them.
constexpr std::int64_t kLeastFrames = 240;
constexpr std::int64_t kMostFrames = 2'400;

}  // namespace

struct PartedVideo::Part {
  double start = 0;         ///< ReadOptions::start
  double end = kInfinity;   ///< time at which the next part begins; infinite for the last
  std::int64_t before = 0;  ///< number of the last frame of the part before; estimated, but for the first

  // Guarded by the mutex.
  std::optional<media::FrameEdge> first = {};  ///< its first frame
  std::optional<media::FrameEdge> next = {};   ///< the frame behind its last one
  std::optional<std::int64_t> frames = {};     ///< known when all are read
  std::int64_t searched = 0;                   ///< of these
  std::vector<FrameResult> results = {};
};

// One decoder: reads a part after the other, each the first that nobody reads.
class PartedVideo::Source : public FrameSource {
 public:
  explicit Source(PartedVideo& video) : video_(video) {}

  std::optional<Frame> read() override {
    try {
      while (reader_ || begin_part()) {
        const std::optional<Frame> frame = reader_->read();
        if (reader_->decode_errors() > 0) throw std::runtime_error(reader_->last_decode_error());
        if (!frame || frame->time() >= part().end - kWithinRounding) {
          end_part(frame);
          continue;
        }
        if (!takes(*frame)) break;
        const std::int64_t number = part().before + frames_;
        if ((number - 1) % video_.options_.every != 0) continue;
        ++searched_;
        return frame->renumbered(number);
      }
    } catch (const std::exception& error) {  // one decoder will meet it again
      const std::lock_guard lock(video_.mutex_);
      video_.give_up(index_, error.what());
    }
    reader_.reset();
    return std::nullopt;
  }

 private:
  Part& part() { return video_.parts_[index_]; }

  bool begin_part() {
    {
      const std::lock_guard lock(video_.mutex_);
      if (video_.next_ >= video_.limit_) return false;
      index_ = video_.next_++;
    }
    frames_ = searched_ = 0;
    media::ReadOptions options = video_.options_;
    options.every = 1;  // which frames are searched depends on the parts before
    options.start = part().start;
    options.duration.reset();
    if (std::isinf(part().end) && video_.options_.duration)
      options.duration = video_.options_.start + *video_.options_.duration - options.start;
    reader_ = std::make_unique<media::Reader>(video_.file_, options);
    return true;
  }

  // Whether the part is still to be read.
  bool takes(const Frame& frame) {
    std::optional<media::FrameEdge> first;
    if (frames_++ == 0) first = media::edge_of(frame);
    const std::lock_guard lock(video_.mutex_);
    if (first) part().first = first;
    return index_ < video_.limit_;
  }

  void end_part(const std::optional<Frame>& next) {
    if (!next && std::isfinite(part().end))
      throw std::runtime_error("a part ends before the next one begins");
    std::optional<media::FrameEdge> edge;
    if (next) edge = media::edge_of(*next);
    reader_.reset();  // before another is opened: two decoders would need twice the memory
    const std::lock_guard lock(video_.mutex_);
    if (frames_ == 0) part().first = edge;
    part().next = edge;
    part().frames = frames_;
    part().searched = searched_;
  }

  PartedVideo& video_;
  std::unique_ptr<media::Reader> reader_;
  std::size_t index_ = 0;  ///< of the part
  std::int64_t frames_ = 0;
  std::int64_t searched_ = 0;
};

PartedVideo::PartedVideo(std::string file, const std::vector<media::VideoPart>& parts,
                         const media::ReadOptions& options, const Place& reached, std::vector<Sink*> sinks)
    : file_(std::move(file)), options_(options), sinks_(std::move(sinks)), number_(reached.number) {
  const double start = reached.number > 0 ? reached.time + 1e-6 : options.start;
  const double until = options.duration ? options.start + *options.duration - 1e-6 : kInfinity;
  parts_.push_back({.start = start, .before = reached.number});
  double begin = start;
  std::int64_t in_front = 0;  // of a part in the file
  std::int64_t left_out = 0;  // in front of the options' start
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const media::VideoPart& part = parts[i];
    const double end = parts[i + 1].begin;
    if (part.begin <= options.start && options.start < end) {
      const double share = (options.start - part.begin) / (end - part.begin);
      left_out = in_front + std::llround(std::ceil(share * static_cast<double>(part.frames) - 1e-6));
    }
    in_front += part.frames;
    if (end <= begin + kWithinRounding || end >= until) continue;
    parts_.back().end = begin = end;
    parts_.push_back({.start = end + kWithinRounding / 4, .before = in_front - left_out});
  }
  limit_ = parts_.size();
}

PartedVideo::~PartedVideo() = default;

std::size_t PartedVideo::size() const {
  return parts_.size();
}

std::vector<Stream> PartedVideo::streams(std::size_t decoders) {
  std::vector<Stream> streams(decoders);
  for (Stream& stream : streams) {
    stream.source = sources_.emplace_back(std::make_unique<Source>(*this)).get();
    stream.name = file_;
    stream.sinks = {this};
  }
  return streams;
}

void PartedVideo::accept(const Frame&, const FrameResult& result) {
  {
    const std::lock_guard lock(mutex_);
    std::size_t part = head_;
    while (result.time >= parts_[part].end - kWithinRounding) ++part;
    parts_[part].results.push_back(result);
  }
  pass_on();
}

// Passes on all parts that are complete. What others complete meanwhile, the next call passes on.
void PartedVideo::pass_on() {
  const std::unique_lock delivering(delivery_, std::try_to_lock);
  if (!delivering) return;
  for (;;) {
    std::vector<FrameResult> results;
    {
      const std::lock_guard lock(mutex_);
      if (!is_complete()) return;
      results = std::move(parts_[head_].results);
    }
    deliver(results);  // without the mutex, so that decoders go on
    const std::lock_guard lock(mutex_);
    number_ += *parts_[head_++].frames;
  }
}

// Whether the first part that is not passed on can be. Gives it up if it does not meet the next one. Called
// with the mutex held.
bool PartedVideo::is_complete() {
  if (head_ >= limit_) return false;
  const Part& part = parts_[head_];
  if (!part.frames || std::ssize(part.results) < part.searched) return false;
  if (head_ + 1 == parts_.size()) return true;
  const Part& next = parts_[head_ + 1];
  if (!next.first) return false;
  if (part.next != next.first) {
    give_up(head_, "a part does not end where the next one begins");
    return false;
  }
  if (options_.every > 1 && number_ + *part.frames != next.before)
    give_up(head_ + 1, "the frames of a part are not as many as expected");
  return true;
}

// Called with the mutex held.
void PartedVideo::give_up(std::size_t part, const std::string& problem) {
  if (part >= limit_) return;
  limit_ = part;
  problem_ = problem;
}

void PartedVideo::deliver(std::vector<FrameResult>& results) {
  const std::int64_t behind = number_ - parts_[head_].before;
  for (FrameResult& result : results) {
    result.frame += behind;
    ++counts_.frames;
    counts_.objects += result.count();
    counts_.skipped += result.status == FrameStatus::skipped;
    counts_.failed += result.status == FrameStatus::failed;
    const Frame frame(nullptr, result.frame, result.time);
    for (Sink* const sink : sinks_) sink->accept(frame, result);
  }
}

bool PartedVideo::finish(bool was_stopped) {
  pass_on();
  if (was_stopped && head_ < parts_.size()) deliver(parts_[head_].results);
  return head_ == parts_.size();
}

namespace {

// The frames in front of the place where a device decodes.
class Beginning : public FrameSource {
 public:
  Beginning(FrameSource& source, const media::Reader& reader) : source_(source), reader_(reader) {}
  std::optional<Frame> read() override {
    if (!reader_.device().empty()) return std::nullopt;
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

// The frames behind those that were passed on.
class Rest : public FrameSource {
 public:
  Rest(FrameSource& source, std::int64_t passed_on) : source_(source), passed_on_(passed_on) {}
  std::optional<Frame> read() override {
    for (;;) {
      std::optional<Frame> frame = source_.read();
      if (!frame || frame->number() > passed_on_) return frame;
    }
  }

 private:
  FrameSource& source_;
  const std::int64_t passed_on_;
};

class PartedRun {
 public:
  PartedRun(Pipeline& pipeline, const Stream& stream, const PartedInput& input, const RunOptions& options)
      : pipeline_(pipeline),
        stream_(stream),
        input_(input),
        options_(options),
        frames_(input.reader.info().frames.value_or(0) * input.reading.every) {}

  RunReport run() {
    if (input_.decoders > 1 && frames_ >= 2 * kLeastFrames) {
      if (input_.reader.device().empty()) run_beginning();
      if (!is_over_ && input_.reader.decode_errors() == 0) run_parts();
    }
    if (!is_over_) {
      Rest rest(*stream_.source, reached_.number);
      run(rest);
    }
    report_.decode_errors = stream_.source->decode_errors();
    return report_;
  }

 private:
  bool is_stopped() const { return options_.stop && options_.stop->load(); }

  void run_beginning() {
    Beginning beginning(*stream_.source, input_.reader);
    run(beginning);
    reached_ = beginning.reached();
    is_over_ = beginning.is_over() || is_stopped();
  }

  void run(FrameSource& source) {
    Stream stream = stream_;
    stream.source = &source;
    stream.on_progress = [this](const Progress& progress) { show(progress); };
    report_.add(pipeline_.run(stream, options_));
  }

  void run_parts() {
    media::ReadOptions reading = input_.reading;
    if (reading.decoder == "auto") reading.decoder = input_.reader.device();  // which has been tested
    PartedVideo video(input_.file, divide(), reading, reached_, stream_.sinks);
    const int decoders = std::min(input_.decoders, static_cast<int>(video.size()));
    if (decoders < 2) return;
    logger().debug("{}: {} decoders of {} decode {} parts side by side", stream_.name, decoders,
                   input_.reader.device(), video.size());
    add(run_streams(video.streams(static_cast<std::size_t>(decoders))), video);
    reached_.number = video.number();
    if (!is_over_)
      logger().debug("{}: one decoder decodes all frames behind frame {}: {}", stream_.name, video.number(),
                     video.problem());
  }

  std::vector<media::VideoPart> divide() const {
    const std::int64_t rounds = frames_ / (input_.decoders * kMostFrames) + 1;
    const std::int64_t length = std::max(frames_ / (input_.decoders * rounds), kLeastFrames);
    try {
      const media::VideoParts parts = media::divide_video(input_.file, input_.reading, length);
      if (!parts.whole.empty())
        logger().debug("{}: one decoder decodes the file: {}", stream_.name, parts.whole);
      return parts.parts;
    } catch (const Error& error) {
      logger().debug("{}: one decoder decodes the file: {}", stream_.name, error.what());
      return {};
    }
  }

  std::vector<RunReport> run_streams(std::vector<Stream> streams) {
    std::mutex mutex;
    std::int64_t frames = 0;
    for (Stream& stream : streams) {
      stream.name = stream_.name;
      stream.on_progress = [&](const Progress& progress) {
        const std::lock_guard lock(mutex);
        show({++frames, progress.seconds, {}});
      };
    }
    const Schedule before = pipeline_.schedule();
    Schedule more = before;
    more.in_flight = std::max(before.in_flight, 2 * static_cast<int>(streams.size()));
    pipeline_.set_schedule(more);
    std::vector<RunReport> reports = pipeline_.run(streams, options_);
    if (pipeline_.schedule() == more) pipeline_.set_schedule(before);
    return reports;
  }

  void add(const std::vector<RunReport>& reports, PartedVideo& video) {
    RunReport all;
    double longest = 0;
    for (const RunReport& report : reports) {
      all.add(report);
      longest = std::max(longest, report.seconds);
    }
    is_over_ = video.finish(is_stopped()) || is_stopped();
    all.seconds = longest;
    all.sources = reports.size();
    all.frames = video.counts().frames;
    all.objects = video.counts().objects;
    all.skipped = video.counts().skipped;
    all.failed = video.counts().failed;
    report_.add(all);
  }

  void show(const Progress& progress) const {
    if (stream_.on_progress)
      stream_.on_progress({report_.frames + progress.frames, report_.seconds + progress.seconds,
                           input_.reader.info().frames});
  }

  Pipeline& pipeline_;
  const Stream& stream_;
  const PartedInput& input_;
  const RunOptions& options_;
  const std::int64_t frames_;   // to be decoded, by estimation
  PartedVideo::Place reached_;  // the last frame that was passed on
  bool is_over_ = false;
  RunReport report_;
};

}  // namespace

RunReport run_in_parts(Pipeline& pipeline, const Stream& stream, const PartedInput& input,
                       const RunOptions& options) {
  return PartedRun(pipeline, stream, input, options).run();
}

}  // namespace sightline::pipeline
