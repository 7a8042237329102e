#include "pipeline/runs/parted_video.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "pipeline/session/now.hpp"
#include "pipeline/session/sinks.hpp"

namespace sightline::pipeline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kWithinRounding = 0.4e-6;  // seconds, less than what a Reader allows for

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
  std::int64_t passed_on = 0;                  ///< of these
  std::vector<FrameResult> results = {};
};

class PartedVideo::Source : public FrameSource {
 public:
  Source(PartedVideo& video, Decoder decoder) : video_(video), decoder_(std::move(decoder)) {}

  std::optional<Frame> read() override {
    const std::int64_t since = now_ns();
    since_ = since;
    std::optional<Frame> frame = next_frame();
    since_ = kNever;
    time_ += now_ns() - since;
    return frame;
  }

  std::int64_t decoding_time() const {
    const std::int64_t since = since_;
    return time_ + (since == kNever ? 0 : now_ns() - since);
  }

 private:
  static constexpr std::int64_t kNever = 0;

  std::optional<Frame> next_frame() {
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
        if (!video_.is_wanted(number)) continue;
        ++searched_;
        return frame->renumbered(number);
      }
    } catch (const std::exception& error) {  // one decoder will meet it again
      const std::lock_guard lock(video_.mutex_);
      video_.give_up(index_, error.what());
    }
    reader_.reset();
    const std::lock_guard lock(video_.mutex_);
    --video_.running_;
    return std::nullopt;
  }

  Part& part() { return video_.parts_[index_]; }

  bool begin_part() {
    {
      const std::lock_guard lock(video_.mutex_);
      if (video_.next_ >= video_.limit_ || video_.running_ > video_.most_running_) return false;
      index_ = video_.next_++;
    }
    frames_ = searched_ = 0;
    media::ReadOptions options = video_.options_;
    options.decoder = decoder_.name;
    options.threads = decoder_.threads;
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
  const Decoder decoder_;
  std::unique_ptr<media::Reader> reader_;
  std::size_t index_ = 0;  ///< of the part
  std::int64_t frames_ = 0;
  std::int64_t searched_ = 0;
  std::atomic<std::int64_t> time_ = 0;        ///< of calls of `read`, nanoseconds
  std::atomic<std::int64_t> since_ = kNever;  ///< start of the present one
};

PartedVideo::PartedVideo(std::string file, const std::vector<media::VideoPart>& parts,
                         const media::ReadOptions& options, const std::vector<Decoder>& decoders,
                         const Place& reached, std::vector<Sink*> sinks, VideoSelection selection)
    : file_(std::move(file)),
      options_(options),
      selection_(std::move(selection)),
      sinks_(std::move(sinks)),
      most_running_(decoders.size()),
      number_(reached.number),
      behind_(reached.number) {
  for (const Decoder& decoder : decoders) sources_.push_back(std::make_unique<Source>(*this, decoder));
  const double start = reached.number > 0 ? reached.time + 1e-6 : options.start;
  const double until =
      std::min(selection_.end, options.duration ? options.start + *options.duration : kInfinity) - 1e-6;
  parts_.push_back({.start = start, .before = reached.number});
  continuation_ = {reached.number, start};
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
  parts_.back().end = selection_.end;
  limit_ = parts_.size();
}

PartedVideo::~PartedVideo() = default;

std::size_t PartedVideo::size() const {
  return parts_.size();
}

Stream PartedVideo::stream(std::size_t decoder) {
  Stream stream;
  stream.source = sources_.at(decoder).get();
  stream.name = file_;
  stream.sinks = {this};
  const std::lock_guard lock(mutex_);
  ++running_;
  return stream;
}

bool PartedVideo::has_parts() {
  const std::lock_guard lock(mutex_);
  return next_ < limit_;
}

std::int64_t PartedVideo::decoding_time() const {
  std::int64_t time = 0;
  for (const std::unique_ptr<Source>& source : sources_) time += source->decoding_time();
  return time;
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

// Passes on the results of the first part that is not complete, and those of later ones once it is. What
// others bring meanwhile, the next call passes on.
void PartedVideo::pass_on() {
  const std::unique_lock delivering(delivery_, std::try_to_lock);
  if (!delivering) return;
  for (;;) {
    std::vector<FrameResult> results;
    bool goes_on = false;
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
      Part& part = parts_[head_];
      results = std::exchange(part.results, {});
      part.passed_on += std::ssize(results);
      for (FrameResult& result : results) result.frame += behind_ - part.before;
      if (!results.empty()) number_ = results.back().frame;
      goes_on = advance();
    }
    deliver(results);  // without the mutex, so that decoders go on
    if (!goes_on) return;
  }
}

// Goes on to the next part if the first one is complete; ends the parts where these two do not meet. Called
// with the mutex held.
bool PartedVideo::advance() {
  if (head_ >= limit_) return false;
  const Part& part = parts_[head_];
  if (!part.frames || part.passed_on < part.searched) return false;
  if (head_ + 1 < parts_.size()) {
    const Part& next = parts_[head_ + 1];
    if (!next.first) return false;
    if (part.next != next.first) {
      give_up(head_ + 1, "a part does not end where the next one begins");
    } else if (leaves_out_frames() && behind_ + *part.frames != next.before) {
      give_up(head_ + 1, "the frames of a part are not as many as expected");
    }
  }
  continuation_ = {behind_, part.start};
  number_ = behind_ += *part.frames;
  is_over_ = ++head_ == limit_;
  return true;
}

// Called with the mutex held.
void PartedVideo::give_up(std::size_t part, const std::string& problem) {
  if (part >= limit_) return;
  limit_ = part;
  problem_ = problem;
}

bool PartedVideo::is_wanted(std::int64_t number) const {
  return (number - 1) % options_.every == 0 && (!selection_.is_wanted || selection_.is_wanted(number));
}

void PartedVideo::deliver(const std::vector<FrameResult>& results) {
  for (const FrameResult& result : results) {
    ++counts_.frames;
    counts_.objects += result.count();
    counts_.skipped += result.status == FrameStatus::skipped;
    if (result.status == FrameStatus::failed && counts_.failed++ == 0) counts_.first_failure = result.message;
  }
  pipeline::pass_on(results, sinks_);
}

media::FrameSpan PartedVideo::span() {
  const std::lock_guard lock(mutex_);
  if (is_over_ && problem_.empty()) return {number_, parts_.front().first, parts_.back().next};
  const bool has_first = continuation_.number > parts_.front().before;
  return {continuation_.number, has_first ? parts_.front().first : std::nullopt, std::nullopt};
}

bool PartedVideo::finish() {
  pass_on();
  return is_over_ && problem_.empty();
}

}  // namespace sightline::pipeline
