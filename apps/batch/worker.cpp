#include "apps/batch/worker.hpp"

#include <spdlog/spdlog.h>

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "apps/batch/choices.hpp"
#include "apps/batch/part_file.hpp"
#include "apps/batch/texture_part.hpp"
#include "apps/cli/stop.hpp"
#include "apps/texture/texture_run.hpp"
#include "base/error.hpp"
#include "media/folder.hpp"
#include "pipeline/runs/input_decoding.hpp"
#include "pipeline/runs/parted_run.hpp"
#include "pipeline/session/now.hpp"
#include "pipeline/session/sources.hpp"

namespace sightline::apps::batch {
namespace {

namespace fs = std::filesystem;

constexpr double kPictureRate = 25;         // frames/s that a Reader gives pictures of a folder
constexpr double kWithinRounding = 0.4e-6;  // seconds, less than what a Reader allows for

void refuse_changed(const std::string& name) {
  throw Error(ExitCode::input, "'" + name + "' has changed since the plan was made",
              "plan again in another folder");
}

// The frames of a part, numbered from 1.
class PartSource : public FrameSource {
 public:
  // @param end    time at which the part ends, in seconds
  // @param count  maximum number of frames
  PartSource(media::Reader& reader, double end, std::int64_t count, bool is_video)
      : reader_(reader), end_(end), count_(count), is_video_(is_video) {}

  std::optional<Frame> read() override {
    if (ended_) return std::nullopt;
    std::optional<Frame> frame = reader_.read();
    if (!frame) {
      ended_ = true;
    } else if (frame->time() >= end_ - kWithinRounding || frame->number() > count_) {
      ended_ = true;
      span_.frames = frame->number() - 1;
      if (is_video_) span_.next = media::edge_of(*frame);
      return std::nullopt;
    } else {
      if (!span_.first && is_video_) span_.first = media::edge_of(*frame);
      span_.frames = frame->number();
    }
    return frame;
  }
  std::int64_t decode_errors() const override { return reader_.decode_errors(); }
  std::optional<std::int64_t> frames() const override {
    const std::int64_t all = reader_.info().frames.value_or(count_);
    return std::min(all, count_);
  }
  const media::FrameSpan& span() const { return span_; }

 private:
  media::Reader& reader_;
  const double end_;
  const std::int64_t count_;
  const bool is_video_;
  bool ended_ = false;
  media::FrameSpan span_;
};

class PartSink : public pipeline::Sink {
 public:
  explicit PartSink(PartWriter& writer) : writer_(writer) {}
  void accept(const Frame&, const FrameResult& result) override {
    bytes_.put(std::uint8_t{1});
    put_result(bytes_, result);
    writer_.add(bytes_.take());
  }
  void finish(const media::FrameSpan& span) {
    bytes_.put(std::uint8_t{0});
    put_span(bytes_, span);
    writer_.add(bytes_.take());
  }

 private:
  PartWriter& writer_;
  ByteWriter bytes_;
};

// While it lives, files that are made can be read by nobody who cannot read those that they are made from.
class OutputMask {
 public:
  OutputMask(std::vector<fs::path> inputs, const std::set<fs::path>& more) {
    inputs.insert(inputs.end(), more.begin(), more.end());
    before_ = ::umask(0777);
    ::umask(before_ | mask_for(inputs));
  }
  ~OutputMask() { ::umask(before_); }
  OutputMask(const OutputMask&) = delete;
  OutputMask& operator=(const OutputMask&) = delete;

 private:
  mode_t before_;
};

class ObjectWorker : public Worker {
 public:
  ObjectWorker(const Job& job, ObjectChoice choice)
      : job_(job),
        choice_(std::move(choice)),
        stop_(stop_requested()),
        engine_(choice_.detector.make()),
        pipeline_(make_pipeline(engine_, engine_.quality)) {
    if (model_fingerprint(engine_) != job.plan().model) {
      throw Error(ExitCode::model, "the job was planned with another model, configuration or gallery",
                  "restore the files that it was planned with, or plan again in another folder");
    }
    for (const fs::path& file : engine_.files) job.readers().require(file);
    describe_engine(engine_, pipeline_.pipeline());
    choice_.reading.stop = &stop_;
    choice_.reading.deliver_damaged = choice_.reading.keep_going = true;
    choice_.reading.threads = engine_.threads;
    choice_.reading.keep_colour = reads_colour(engine_.detector());
  }

  // A decode error may come from a damaged file, but also from a lack of memory or a network failure. Only an
  // error that happens twice counts as damage.
  void run(const Job::Place& place) override {
    if (!compute(place, false)) compute(place, true);
  }

 private:
  // Returns whether the part is published: not after a decode error, unless `takes_damage`.
  bool compute(const Job::Place& place, bool takes_damage) {
    const Input& input = job_.input(place);
    const Part& part = job_.part(place);
    check_stamp(input, part, place);
    const OutputMask mask(files_of(place), engine_.files);
    PartWriter writer(job_, place);
    media::ReadOptions reading = choice_.reading;
    const double begin = input.is_pictures ? part.begin / kPictureRate : part.begin;
    if (begin > 0) reading.start = begin + kWithinRounding / 4;
    media::Reader reader(input.name, reading);
    const bool is_last = std::isinf(job_.end(place));
    PartSource frames(reader, input.is_pictures ? job_.end(place) / kPictureRate : job_.end(place),
                      input.is_pictures && !is_last ? part.frames : std::numeric_limits<std::int64_t>::max(),
                      !input.is_pictures);
    pipeline::PeekedSource source(frames, engine_.is_auto() ? pipeline::kPlanFrames : 0);
    PartSink sink(writer);
    pipeline::RunOptions options;
    options.stop = &stop_;
    if (!input.is_pictures)
      pipeline_.set_decoding(pipeline::decoding_of({input.name,
                                                    reading,
                                                    reader.info(),
                                                    pipeline_.pipeline().threads(),
                                                    engine_.schedule.in_flight,
                                                    {job_.end(place), {}}}));
    pipeline_.plan_if_worthwhile(source, pipeline::kFramesWorthPlanning, stop_);
    const auto [report, in_parts] =
        pipeline::run_in_parts(pipeline_.pipeline(), {&source, input.name, {&sink}, {}},
                               {reading, reader, engine_.schedule.in_flight, {job_.end(place), {}}},
                               pipeline_.watched(options), decoders_);
    throw_if_stopped();
    media::FrameSpan span = frames.span();
    span.frames = std::max(span.frames, in_parts.frames);
    if (in_parts.first) span.first = in_parts.first;
    if (in_parts.next) span.next = in_parts.next;
    if (part.begin > 0 && !input.is_pictures &&
        (!span.first || std::abs(span.first->time - part.begin) > kWithinRounding)) {
      throw Error(ExitCode::input, job_.describe(place) + ": the key frame of the plan is not found",
                  "the file is damaged; plan again with --whole");
    }
    check_stamp(input, part, place);  // it has not been changed meanwhile
    if (reader.decode_errors() > 0 && !takes_damage) return false;
    sink.finish(span);
    writer.finish({{"seconds", report.seconds},
                   {"frames", report.frames},
                   {"errors", reader.decode_errors()},
                   {"last_error", reader.last_decode_error()}});
    return true;
  }

  // Files of an input that are read for a part.
  std::vector<fs::path> files_of(const Job::Place& place) const {
    const Input& input = job_.input(place);
    if (!fs::is_directory(input.name)) return {input.name};
    const auto images = media::list_folder(input.name, choice_.reading.recursive).images;
    const auto size = static_cast<double>(images.size());
    const auto at = [&](double index) { return images.begin() + std::llround(std::min(index, size)); };
    std::vector<fs::path> files(at(job_.part(place).begin), at(job_.end(place)));
    files.emplace_back(input.name);
    return files;
  }

  void check_stamp(const Input& input, const Part& part, const Job::Place& place) const {
    for (const fs::path& file : files_of(place)) job_.readers().require(file);
    if (!fs::is_directory(input.name)) {
      if (stamp_of(input.name) != input.stamp) refuse_changed(input.name);
      return;
    }
    const auto images = media::list_folder(input.name, choice_.reading.recursive).images;
    const double end = std::min(job_.end(place), static_cast<double>(images.size()));
    if (stamp_of(images, static_cast<std::size_t>(part.begin), static_cast<std::size_t>(end)) != part.stamp)
      refuse_changed(input.name);
  }

  const Job& job_;
  ObjectChoice choice_;
  const std::atomic<bool>& stop_;
  DetectorEngine engine_;
  pipeline::EnginePipeline pipeline_;
  std::size_t decoders_ = pipeline::kFirstDecoders;  // of the part before
};

class TextureWorker : public Worker {
 public:
  TextureWorker(const Job& job, const TextureJobChoice& choice, int verbosity)
      : job_(job), choice_(choice), runner_(choice.texture, choice.choice(), verbosity) {}

  void run(const Job::Place& place) override {
    const Input& input = job_.input(place);
    check(input);
    const OutputMask mask({input.name}, {});
    PartWriter writer(job_, place);
    const TextureFiles temporary = part_files(choice_, writer.file());
    const TextureFiles files = part_files(choice_, job_.file(writer.name()));
    const std::vector<std::string> from = runner_.label_files(temporary.labels);
    const std::vector<std::string> to = runner_.label_files(files.labels);
    for (std::size_t i = 0; i < from.size(); ++i) writer.attach(from[i], to[i]);
    if (!files.cells.empty()) writer.attach(temporary.cells, files.cells);
    const auto started = pipeline::now_ns();
    const TextureBand band = runner_.run_rows(input.name, temporary, rows_of(job_, place));
    check(input);
    ByteWriter bytes;
    put_band(bytes, band);
    writer.add(bytes.take());
    writer.finish({{"seconds", static_cast<double>(pipeline::now_ns() - started) / pipeline::kSecond},
                   {"frames", job_.part(place).frames},
                   {"errors", band.damage.size()}});
  }

 private:
  void check(const Input& input) const {
    job_.readers().require(input.name);
    if (stamp_of(input.name) != input.stamp) refuse_changed(input.name);
  }

  const Job& job_;
  TextureJobChoice choice_;
  TextureRunner runner_;
};

}  // namespace

std::unique_ptr<Worker> make_worker(const Job& job, const std::vector<std::string>& schedule, int verbosity) {
  job.readers().require_words(job.plan().words);
  if (job.plan().kind == Kind::texture) {
    TextureJobChoice choice;
    read_words(choice, job.plan().words, schedule);
    return std::make_unique<TextureWorker>(job, choice, verbosity);
  }
  ObjectChoice choice;
  read_words(choice, job.plan().words, schedule);
  return std::make_unique<ObjectWorker>(job, std::move(choice));
}

}  // namespace sightline::apps::batch
