#include "apps/bindings/c/detector.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "apps/bindings/c/call.hpp"
#include "base/hardware.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"

namespace sightline::api {
namespace {

// Images of a call, one after the other.
class ImageSource final : public FrameSource {
 public:
  explicit ImageSource(const Images& images) : images_(images) {}
  Reading reading() const override { return Reading::computes; }
  std::optional<Frame> read() override {
    if (next_ >= images_.size()) return std::nullopt;
    return images_.frame(next_++);
  }
  std::optional<std::int64_t> frames() const override { return static_cast<std::int64_t>(images_.size()); }

 private:
  const Images& images_;
  std::size_t next_ = 0;
};

// Their results.
class ResultCollector final : public pipeline::Sink {
 public:
  ResultCollector(std::shared_ptr<const DetectorFacts> facts, std::size_t count)
      : facts_(std::move(facts)), results_(count) {}
  void accept(const Frame& frame, const FrameResult& result) override {
    FrameResult own = result;
    own.frame = 0;  // of no stream
    results_[static_cast<std::size_t>(frame.number()) - 1].reset(new sl_result(facts_, std::move(own)));
  }
  std::vector<ResultPtr> take() { return std::move(results_); }

 private:
  std::shared_ptr<const DetectorFacts> facts_;
  std::vector<ResultPtr> results_;
};

void check_results(const std::vector<ResultPtr>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string where = fmt::format("image {}", i + 1);
    if (!results[i]) throw CallError{SL_E_INTERNAL, "the image was not searched", where};
    const FrameResult& result = results[i]->result;
    if (result.status != FrameStatus::failed) continue;
    if (result.message.find("bad_alloc") != std::string::npos) throw std::bad_alloc();
    throw CallError{SL_E_INTERNAL, result.message, where};
  }
}

std::string text_array(const std::vector<std::string>& texts) {
  std::string array;
  for (const std::string& one : texts) array += (array.empty() ? "" : ",") + json_string(one);
  return '[' + array + ']';
}

std::shared_ptr<const DetectorFacts> facts_of(const Detector& detector) {
  auto facts = std::make_shared<DetectorFacts>();
  facts->labels = detector.info().labels;
  facts->threshold = detector.info().threshold;
  facts->names = detector.known_names();
  return facts;
}

}  // namespace

SharedDetector::SharedDetector(OpenedDetector opened)
    : opened_(std::move(opened)),
      facts_(facts_of(opened_.detector())),
      pipeline_(opened_.engine, opened_.engine.resolve()) {}

std::vector<ResultPtr> SharedDetector::search(const Images& images) {
  if (images.size() == 0) return {};
  if (measures_schedules()) {
    std::vector<Frame> samples;
    const std::size_t most = std::min<std::size_t>(images.size(), pipeline::kPlanFrames);
    for (std::size_t i = 0; i < most; ++i) {
      Frame frame = images.frame(i);
      if (samples.empty() || frame.size() == samples.front().size()) samples.push_back(std::move(frame));
    }
    choose_schedule(samples, static_cast<std::int64_t>(images.size()));
  }
  converted_ += images.to_convert();

  ImageSource source(images);
  ResultCollector collector(facts_, images.size());
  pipeline::Stream stream;
  stream.source = &source;
  stream.sinks = {&collector};
  stream.tiles = tiles();
  stream.fails_alone = true;
  const pipeline::RunReport report = session().wait(session().add(program(), stream));
  if (report.error) std::rethrow_exception(report.error);
  std::vector<ResultPtr> results = collector.take();
  check_results(results);
  return results;
}

bool SharedDetector::measures_schedules() const {
  return opened_.engine.is_auto() && !is_chosen_;
}

void SharedDetector::choose_schedule(const std::vector<Frame>& frames, std::optional<std::int64_t> total) {
  std::call_once(chosen_, [&] {
    if (!opened_.engine.is_auto()) return;
    // Without frames there is nothing to measure with.
    if (frames.empty()) total = 0;
    const std::atomic<bool> never{false};
    pipeline_.plan_if_worthwhile(frames, total, pipeline::kFramesWorthPlanning, never);
    is_chosen_ = true;
  });
}

std::string SharedDetector::explanation() const {
  const DetectorInfo& info = detector().info();
  const pipeline::Schedule schedule = this->schedule();
  std::string stages;
  for (std::size_t i = 0; i < detector().stages().size(); ++i) {
    const bool on_device =
        schedule.on_device[i] || (schedule.split > 0 && i < detector().partitionable_stages());
    stages += fmt::format(R"({}{{"name":{},"processor":{}}})", stages.empty() ? "" : ",",
                          json_string(detector().stages()[i].name),
                          json_string(schedule.split > 0 && on_device ? "CPU and device"
                                      : on_device                     ? "device"
                                                                      : "CPU"));
  }
  std::vector<std::string> devices;
  for (const auto& one : opened_.engine.device_stages) devices.emplace_back(one->device().name());
  return fmt::format(
      R"({{"model":{},"family":{},"labels":{},"threshold":{},"fingerprint":{},"schedule":{{"name":{},"text":{},)"
      R"("in_flight":{},"batch":{},"stages":[{}]}},"devices":{},"device_lost":{},"threads":{},)"
      R"("instruction_set":{},"converted_images":{}}})",
      json_string(info.model), json_string(info.family), text_array(info.labels), shortest(info.threshold),
      json_string(fingerprint()), json_string(schedule.name),
      json_string(pipeline::describe(schedule, detector())), schedule.in_flight, schedule.batch, stages,
      text_array(devices), pipeline_.pipeline().device_lost(), pipeline_.pipeline().threads(),
      json_string(instruction_set()), converted_.load());
}

}  // namespace sightline::api

using namespace sightline::api;

sl_status sl_detector_open(const char* what, const char* options, sl_detector** detector, sl_error* error) {
  return guarded(error, [&] {
    checked(detector, "detector") = nullptr;
    const TomlOptions given(options);
    begin_use();
    const KeptHandlers kept;
    auto shared = std::make_shared<SharedDetector>(open_detector(what ? what : "", given));
    *detector = new sl_detector{std::move(shared)};
  });
}

sl_status sl_detector_search(sl_detector* detector, const sl_image* images, size_t n, sl_result** results,
                             sl_error* error) {
  return guarded(error, [&] {
    if (n > 0) checked(results, "results");
    for (std::size_t i = 0; i < n; ++i) results[i] = nullptr;
    SharedDetector& shared = *checked(detector, "detector").shared;
    const Images all(images, n);
    std::vector<ResultPtr> found = shared.search(all);
    for (std::size_t i = 0; i < n; ++i) results[i] = found[i].release();
  });
}

size_t sl_detector_labels(const sl_detector* detector) {
  return detector ? detector->shared->facts()->labels.size() : 0;
}

const char* sl_detector_label(const sl_detector* detector, size_t label) {
  return label < sl_detector_labels(detector) ? detector->shared->facts()->labels[label].c_str() : nullptr;
}

const char* sl_detector_fingerprint(const sl_detector* detector) {
  return detector ? detector->shared->fingerprint().c_str() : nullptr;
}

sl_status sl_detector_explain(const sl_detector* detector, char** json, sl_error* error) {
  return guarded(error, [&] {
    checked(json, "json") = nullptr;
    *json = copy_text(checked(detector, "detector").shared->explanation());
  });
}

void sl_detector_free(sl_detector* detector) {
  // Threads and devices are those of the process that a copy was forked from: they cannot be ended here.
  if (!is_forked()) delete detector;
}
