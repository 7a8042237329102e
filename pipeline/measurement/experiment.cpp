#include "pipeline/measurement/experiment.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "pipeline/measurement/energy.hpp"
#include "pipeline/session/now.hpp"
#include "processing/frame_runner.hpp"

namespace sightline::pipeline {
namespace {

constexpr int kTurn = 5;  // runs
// A device that has idled is back at its speed after so long.
constexpr double kWarmUpSeconds = 0.03;

double seconds_since(std::int64_t start) {
  return 1e-9 * static_cast<double>(now_ns() - start);
}

class Experimenter {
 public:
  Experimenter(std::vector<Implementation> implementations, const ExperimentOptions& options)
      : options_(options), energy_(options.meters) {
    result_.implementations = std::move(implementations);
    result_.repeats = options.repeats;
    result_.meter = energy_.name();
    result_.meter_note = energy_.note();
    const auto& all = result_.implementations;
    const auto other = std::ranges::find(all, false, &Implementation::is_ours);
    result_.baseline = other == all.end() ? 0 : static_cast<std::size_t>(other - all.begin());
  }

  Experiment run(const std::vector<ExperimentPicture>& pictures) {
    for (const ExperimentPicture& picture : pictures) {
      say(fmt::format("picture {} of {}: {}, {}x{}", result_.pictures.size() + 1, pictures.size(),
                      picture.name, picture.pixels.width(), picture.pixels.height()));
      PictureResult result{picture.name, picture.group, picture.pixels.view().size(), {}};
      result.times.resize(result_.implementations.size());
      if (!measure(picture, result)) break;
      result_.pictures.push_back(std::move(result));
    }
    if (result_.pictures.empty())
      throw Error(ExitCode::failed, "stopped before the first picture was measured");
    return std::move(result_);
  }

 private:
  void say(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }
  bool stopped() const { return options_.stop && *options_.stop; }

  // False where it was stopped on the way.
  bool measure(const ExperimentPicture& picture, PictureResult& result) {
    expected_.reset();
    for (int done = 0; done < options_.repeats; done += kTurn) {
      for (std::size_t i = 0; i < result.times.size(); ++i) {
        if (stopped()) return false;
        take_turn(picture, i, std::min(kTurn, options_.repeats - done), result.times[i]);
      }
    }
    for (std::size_t i = 0; i < result.times.size() && !energy_.empty() && options_.energy_seconds > 0; ++i) {
      if (stopped()) return false;
      count_energy(picture, i, result.times[i]);
    }
    return true;
  }

  void take_turn(const ExperimentPicture& picture, std::size_t i, int runs, PictureTimes& times) {
    const Search search = warm(picture, i, times);
    for (int run = 0; run < runs; ++run) {
      const std::int64_t start = now_ns();
      search.run(picture.pixels.view());
      times.seconds.push_back(seconds_since(start));
      if (!search.parts) continue;
      for (const auto& [name, seconds] : search.parts()) {
        double& least = times.parts.try_emplace(name, seconds).first->second;
        least = std::min(least, seconds);
      }
    }
  }

  // One that has everything and is at its speed.
  Search warm(const ExperimentPicture& picture, std::size_t i, PictureTimes& times) {
    Search search = result_.implementations[i].make();
    const std::int64_t start = now_ns();
    const FrameResult found = search.run(picture.pixels.view());
    times.objects = found.count();
    compare(picture, i, found);
    while (seconds_since(start) < kWarmUpSeconds) search.run(picture.pixels.view());
    return search;
  }

  void count_energy(const ExperimentPicture& picture, std::size_t i, PictureTimes& times) {
    const Search search = warm(picture, i, times);
    int runs = 0;
    const std::int64_t start = now_ns();
    energy_.start();
    do {
      search.run(picture.pixels.view());
      ++runs;
    } while (seconds_since(start) < options_.energy_seconds && !stopped());
    energy_.stop();
    times.joules = energy_.joules() / runs;
  }

  // What Sightline promises: the same result whatever runs it.
  void compare(const ExperimentPicture& picture, std::size_t i, const FrameResult& found) {
    const Implementation& one = result_.implementations[i];
    if (!one.is_ours) return;
    if (!expected_) {
      expected_ = found;
      first_ = i;
      return;
    }
    const std::string what = difference(found, *expected_);
    if (what.empty() || !differs_.insert({i, picture.group + picture.name}).second) return;
    result_.differences.push_back(fmt::format("{} finds other objects in {} than {}: {}", name_of(one),
                                              picture.name, name_of(result_.implementations[first_]), what));
  }

  const ExperimentOptions& options_;
  Energy energy_;
  Experiment result_;
  std::optional<FrameResult> expected_;  ///< in the picture, by the first of ours
  std::size_t first_ = 0;
  std::set<std::pair<std::size_t, std::string>> differs_;  ///< that has been told already
};

// Of numbers above 0.
double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace

Search search_by(const FrameProcessor& processor, const DeviceStages* device, const Schedule& schedule,
                 int threads) {
  const auto arena = std::make_shared<oneapi::tbb::task_arena>(threads);
  const auto runner = std::make_shared<FrameRunner>(processor, schedule.on_device.any() ? device : nullptr,
                                                    schedule.on_device);
  runner->workspace().tuned = schedule.tuned;
  return {
      [arena, runner](GrayView picture) { return arena->execute([&] { return runner->process(picture); }); }};
}

double PictureTimes::fastest() const {
  return seconds.empty() ? 0 : *std::ranges::min_element(seconds);
}

double PictureTimes::mean() const {
  return seconds.empty()
             ? 0
             : std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

double PictureTimes::deviation() const {
  if (seconds.size() < 2) return 0;
  const double middle = mean();
  double sum = 0;
  for (const double value : seconds) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(seconds.size() - 1));
}

std::vector<std::string> Experiment::groups() const {
  std::vector<std::string> names;
  for (const PictureResult& picture : pictures) {
    if (std::ranges::find(names, picture.group) == names.end()) names.push_back(picture.group);
  }
  return names;
}

GroupTimes Experiment::group_times(const std::string& group, std::size_t implementation) const {
  GroupTimes result;
  std::vector<double> means, baselines, joules;
  for (const PictureResult& picture : pictures) {
    if (picture.group != group) continue;
    const PictureTimes& times = picture.times[implementation];
    means.push_back(times.mean());
    baselines.push_back(picture.times[baseline].mean());
    if (times.joules) joules.push_back(*times.joules);
    result.deviation += times.deviation() / times.mean();
    result.objects += times.objects;
    for (const auto& [name, seconds] : times.parts) result.parts[name] += seconds;
  }
  if (means.empty()) return result;
  result.deviation /= static_cast<double>(means.size());
  for (auto& [name, seconds] : result.parts) seconds /= static_cast<double>(means.size());
  result.seconds = geometric_mean(means);
  result.speed_up = geometric_mean(baselines) / result.seconds;
  if (joules.size() == means.size()) result.joules = geometric_mean(joules);
  return result;
}

std::size_t Experiment::fastest(const std::string& group) const {
  std::size_t best = implementations.size();
  double shortest = 0;
  for (std::size_t i = 0; i < implementations.size(); ++i) {
    const double seconds = group_times(group, i).seconds;
    if (!implementations[i].is_ours || (best < implementations.size() && seconds >= shortest)) continue;
    best = i;
    shortest = seconds;
  }
  return best;
}

std::string name_of(const Implementation& implementation) {
  return implementation.buffers.empty() ? implementation.name
                                        : implementation.name + ", " + implementation.buffers;
}

Experiment run_experiment(std::vector<Implementation> implementations,
                          const std::vector<ExperimentPicture>& pictures, const ExperimentOptions& options) {
  return Experimenter(std::move(implementations), options).run(pictures);
}

}  // namespace sightline::pipeline
