// `sightline batch plan`: inputs are listed, divided and measured.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>

#include "apps/batch/commands.hpp"
#include "apps/batch/job.hpp"
#include "apps/batch/scripts.hpp"
#include "apps/cli/stop.hpp"
#include "apps/common/listed_inputs.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "media/folder.hpp"
#include "media/video_parts.hpp"
#include "pipeline/session/now.hpp"
#include "pipeline/session/pipeline.hpp"
#include "pipeline/session/sources.hpp"

namespace sightline::apps::batch {
namespace {

namespace fs = std::filesystem;

constexpr double kEngineDelay = 1;      // seconds from one task to the next, beside the program's start
constexpr double kSmallShare = 0.02;    // of a task's time, for its start and the engine's delay
constexpr double kLargestShare = 0.05;  // of a task's time, for its start alone
constexpr double kManyTasks = 64;
constexpr std::size_t kSampledInputs = 32;
constexpr int kMeasuredFrames = 8;
constexpr std::int64_t kFewFrames = 100, kManyFrames = 100'000;

double now() {
  return static_cast<double>(pipeline::now_ns()) / pipeline::kSecond;
}

// Processor seconds that this process has taken since its start, libraries included.
double used_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Frames (or rows) of a task: as many as make its start a small share of its time, but fewer if that leaves
// few tasks for many machines.
std::int64_t chunk_for(double start_up, double rate, double total) {
  const double with_engine = rate * (start_up + kEngineDelay) / kSmallShare;
  const double smallest = rate * start_up / kLargestShare;
  return std::llround(std::max(smallest, std::min(with_engine, total / kManyTasks)));
}

void require_files(const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    const fs::file_status status = fs::status(input, error);
    if (fs::is_directory(status) || fs::is_regular_file(status)) continue;
    if (error)
      throw Error(ExitCode::input, "cannot open '" + input + "': " + error.message(),
                  "check the name and the permissions of its folder");
    throw Error(
        ExitCode::input, "'" + input + "' is not a file or a folder",
        "a job reads its inputs many times, on several machines: name files and folders that all see");
  }
}

// Inputs as `detect` takes them: each video of a folder is an input, all pictures of a folder are one.
std::vector<Input> list_objects(const std::vector<std::string>& inputs, bool recursive) {
  require_files(inputs);
  std::vector<Input> all;
  for (const std::string& input : inputs) {
    if (!fs::is_directory(input)) {
      all.push_back({input, {}, false});
      continue;
    }
    const std::vector<std::string> videos = videos_in(input, recursive);
    const bool has_pictures = !media::list_folder(input, recursive).images.empty();
    if (has_pictures) all.push_back({input, {}, true});
    for (const std::string& video : videos) all.push_back({video, {}, false});
    if (!has_pictures && videos.empty())
      throw Error(ExitCode::input, "there are no videos or pictures in '" + input + "'",
                  recursive ? "" : "use --recursive to read its sub-folders");
  }
  return all;
}

void divide_folder(Input& input, bool recursive, std::int64_t chunk) {
  const auto images = media::list_folder(input.name, recursive).images;
  for (std::size_t begin = 0; begin < images.size(); begin += static_cast<std::size_t>(chunk)) {
    const std::size_t end = std::min(images.size(), begin + static_cast<std::size_t>(chunk));
    input.parts.push_back(
        {static_cast<double>(begin), static_cast<std::int64_t>(end - begin), stamp_of(images, begin, end)});
  }
}

// Returns why a long video is one part; else nothing.
std::string divide(Input& input, const media::ReadOptions& reading, std::int64_t chunk, bool whole) {
  try {
    if (input.is_pictures) {
      divide_folder(input, reading.recursive, chunk);
      return {};
    }
    input.stamp = stamp_of(input.name);
    const media::VideoParts found =
        media::divide_video(input.name, reading, whole ? std::numeric_limits<std::int64_t>::max() : chunk);
    input.is_pictures = found.is_picture;
    for (const media::VideoPart& part : found.parts) input.parts.push_back({part.begin, part.frames});
    return found.whole;
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) throw;
    input.problem = error.what();
    return {};
  }
}

// Logs the plan in few lines. Returns the exit code.
int report(const Job& job, const std::vector<std::string>& undivided, double seconds) {
  constexpr std::size_t kShown = 8;
  std::size_t shown = 0, problems = 0;
  std::int64_t frames = 0;
  for (std::size_t i = 0; i < job.plan().inputs.size(); ++i) {
    const Input& input = job.plan().inputs[i];
    for (const Part& part : input.parts) frames += part.frames;
    if (!input.problem.empty() && ++problems <= kShown) spdlog::error("{}", input.problem);
    if (!undivided[i].empty() && ++shown <= kShown)
      spdlog::warn("'{}' is one part: {}", input.name, undivided[i]);
  }
  if (problems > kShown) spdlog::error("{} more inputs cannot be read", problems - kShown);
  if (shown > kShown) spdlog::warn("{} more long videos are one part each", shown - kShown);
  spdlog::info("planned {} for {} in {:.1f} s: about {} {} in {}", counted(std::ssize(job.tasks()), "task"),
               counted(std::ssize(job.plan().inputs), "input"), seconds, frames,
               job.plan().kind == Kind::texture ? "rows of tiles" : "frames",
               counted(std::ssize(job.parts()), "part"));
  const std::string folder = shell_word(job.folder().string());
  spdlog::info("next: `sightline batch submit {}` for Slurm, or with `--engine local` on this machine",
               folder);
  if (problems == 0) return 0;
  spdlog::error("{} of {} cannot be read; `merge` needs --keep-going", problems,
                counted(std::ssize(job.plan().inputs), "input"));
  return static_cast<int>(ExitCode::failed);
}

void check_arguments(const PlanArguments& a) {
  if (a.inputs.empty() || a.folder.empty())
    throw Error(ExitCode::usage, "a plan needs inputs and a folder",
                "write `sightline batch plan videos/ --job /shared/job`");
  const std::string& folder = a.folder;
  std::error_code error;
  if (fs::exists(fs::path(folder) / "plan.json", error))
    throw Error(ExitCode::usage, "'" + folder + "' has a job already", "choose another folder");
}

Plan new_plan(Kind kind, const PlanArguments& a) {
  Plan plan;
  plan.kind = kind;
  plan.version = build_info().version;
  plan.folder = fs::current_path().string();
  plan.words = a.words;
  return plan;
}

// Frames/s of the detector on this machine, on the first frames of an input; none if it cannot be read.
std::optional<double> measure_rate(const DetectorEngine& engine, const std::string& input,
                                   const media::ReadOptions& reading) {
  std::vector<Frame> frames;
  try {
    media::Reader reader(input, reading);
    while (static_cast<int>(frames.size()) < kMeasuredFrames) {
      std::optional<Frame> frame = reader.read();
      if (!frame) break;
      if (!frame->empty()) frames.push_back(std::move(*frame));
    }
  } catch (const Error&) {
  }
  if (frames.empty()) return std::nullopt;
  pipeline::Pipeline pipeline(engine.detector(), engine.devices(), engine.resolve(), {engine.threads});
  pipeline.wait_until_ready();
  double rate = 0;
  for (int pass = 0; pass < 2; ++pass) {  // the first one fills caches
    pipeline::MemorySource source(frames, std::ssize(frames));
    const pipeline::RunReport report = pipeline.run({&source, input, {}, {}});
    rate = static_cast<double>(report.frames) / std::max(report.seconds, 1e-6);
  }
  return rate;
}

// Estimates the frames of all inputs from a sample of them.
double estimate_frames(const std::vector<Input>& inputs, const media::ReadOptions& reading) {
  const std::size_t step = (inputs.size() + kSampledInputs - 1) / kSampledInputs;
  double frames = 0, sampled = 0;
  for (std::size_t i = 0; i < inputs.size(); i += step, ++sampled) {
    Input input = inputs[i];
    divide(input, reading, std::numeric_limits<std::int32_t>::max(), true);
    for (const Part& part : input.parts) frames += static_cast<double>(part.frames);
  }
  return frames * static_cast<double>(inputs.size()) / std::max(sampled, 1.0);
}

}  // namespace

int plan_objects(const PlanArguments& a) {
  const double start = now();
  check_arguments(a);
  const std::atomic<bool>& stop = stop_requested();
  ObjectChoice choice;
  read_words(choice, a.words, {});
  choice.reading.stop = &stop;
  choice.detector.use_no_device();
  DetectorEngine engine = choice.detector.make();
  engine.threads = a.threads;
  const double start_up = used_seconds();
  Plan plan = new_plan(Kind::objects, a);
  plan.model = model_fingerprint(engine);
  plan.labels = engine.detector().info().labels;
  plan.tracking = choice.tracking.make(engine.detector());
  if (plan.tracking) plan.tracking->names = nullptr;
  plan.inputs = list_objects(a.inputs, choice.reading.recursive);
  plan.chunk = a.chunk.value_or(0);
  if (!a.chunk) {
    const std::optional<double> rate = measure_rate(engine, plan.inputs.front().name, choice.reading);
    const double total = estimate_frames(plan.inputs, choice.reading);
    plan.chunk = std::clamp(chunk_for(start_up, rate.value_or(kFewFrames), total), kFewFrames, kManyFrames);
    spdlog::info("a task gets {} frames: the program starts in {:.2f} s and searches {:.0f} frames/s with {}",
                 plan.chunk, start_up, rate.value_or(0), counted(a.threads, "thread"));
  }
  std::vector<std::string> undivided(plan.inputs.size());
  parallel_for_isolated(plan.inputs.size(), [&](std::size_t i) {
    if (!stop) undivided[i] = divide(plan.inputs[i], choice.reading, plan.chunk, a.whole);
  });
  throw_if_stopped();
  for (const Input& input : plan.inputs)
    if (input.is_pictures && plan.tracking)
      throw Error(ExitCode::usage, "--track needs videos, and '" + input.name + "' has pictures",
                  "plan pictures apart");
  return report(Job::create(a.folder, std::move(plan)), undivided, now() - start);
}

int plan_textures(const PlanArguments& a) {
  const double start = now();
  check_arguments(a);
  TextureJobChoice choice;
  read_words(choice, a.words, {"--device=none", fmt::format("--threads={}", a.threads)});
  Plan plan = new_plan(Kind::texture, a);
  TextureRunner runner(choice.texture, choice.choice(), -1);
  const double start_up = used_seconds();
  require_files(a.inputs);
  for (const std::string& input : a.inputs) {
    if (!fs::is_directory(input)) {
      plan.inputs.push_back({input, {}, true});
      continue;
    }
    for (const std::string& name : slides_in(input)) plan.inputs.push_back({name, {}, true});
  }
  std::vector<TileCounts> counts(plan.inputs.size());
  parallel_for_isolated(plan.inputs.size(), [&](std::size_t i) {
    Input& input = plan.inputs[i];
    if (stop_requested()) return;
    try {
      input.stamp = stamp_of(input.name);
      counts[i] = runner.count_tiles(input.name);
      if (counts[i].rows == 0) input.problem = "'" + input.name + "' has no pixel with a code";
    } catch (const Error& error) {
      if (error.code() != ExitCode::input) throw;
      input.problem = error.what();
    }
  });
  throw_if_stopped();
  plan.chunk = a.chunk.value_or(1);
  const auto first =
      std::ranges::find_if(plan.inputs, [](const Input& input) { return input.problem.empty(); });
  if (!a.chunk && first != plan.inputs.end()) {
    TextureJobChoice plain = choice;
    plain.labels = false;
    plain.cell = 0;
    const double begin = now();
    TextureRunner(choice.texture, plain.choice(), -1).run_rows(first->name, {}, {0, 1});
    double total = 0;
    for (const TileCounts& count : counts) total += static_cast<double>(count.rows);
    plan.chunk = std::max<std::int64_t>(chunk_for(start_up, 1 / std::max(now() - begin, 1e-3), total), 1);
  }
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    Input& input = plan.inputs[i];
    const std::int64_t step = (plan.chunk + counts[i].step - 1) / counts[i].step * counts[i].step;
    for (std::int64_t row = 0; input.problem.empty() && row < counts[i].rows; row += step)
      input.parts.push_back({static_cast<double>(row), std::min(step, counts[i].rows - row)});
  }
  return report(Job::create(a.folder, std::move(plan)), std::vector<std::string>(counts.size()),
                now() - start);
}

}  // namespace sightline::apps::batch
