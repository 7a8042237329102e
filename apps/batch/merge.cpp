// `sightline batch merge`: the files that one machine would have written.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "apps/batch/commands.hpp"
#include "apps/batch/job.hpp"
#include "apps/batch/part_file.hpp"
#include "apps/batch/texture_part.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "base/error.hpp"
#include "base/shared_file.hpp"
#include "base/text.hpp"
#include "detection/result_writer.hpp"
#include "detection/tracker.hpp"

namespace sightline::apps::batch {
namespace {

namespace fs = std::filesystem;

constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

// Inputs that cannot be read, by number, with the reason. Throws Error if parts are missing for other
// reasons.
std::map<std::size_t, std::string> unreadable_inputs(const Job& job, bool keep_going) {
  const JobState state = read_state(job);
  std::map<std::size_t, std::string> unreadable;
  for (std::size_t i = 0; i < job.plan().inputs.size(); ++i)
    if (const Input& input = job.plan().inputs[i]; !input.problem.empty()) unreadable[i] = input.problem;
  std::int64_t missing = 0;
  std::string first;
  for (const Job::Place& place : job.parts()) {
    const std::string name = job.name(place);
    if (const auto differing = state.differing.find(name); differing != state.differing.end()) {
      throw Error(ExitCode::failed, "machines have computed different results of " + job.describe(place),
                  fmt::format("one of them is broken: delete '{}' and '{}', and run its task on others",
                              job.file(name).string(), differing->second.front()));
    }
    if (state.done.contains(name)) continue;
    const auto failed = state.failed.find(name);
    if (failed != state.failed.end() && failed->second.code == static_cast<int>(ExitCode::input)) {
      unreadable.emplace(place.input, failed->second.message);
      continue;
    }
    if (missing++ > 0) continue;
    first = job.describe(place);
    if (failed != state.failed.end()) first += ": " + failed->second.message;
  }
  if (missing > 0) {
    throw Error(ExitCode::failed,
                fmt::format("{} of {} are missing, for example {}", missing,
                            counted(std::ssize(job.parts()), "part"), first),
                "`sightline batch status` shows them; `submit` or `work` computes them");
  }
  if (!unreadable.empty() && !keep_going) {
    throw Error(ExitCode::input,
                fmt::format("{} cannot be read, for example: {}", counted(std::ssize(unreadable), "input"),
                            unreadable.begin()->second),
                "use --keep-going to merge the others");
  }
  return unreadable;
}

// Whether a part begins at the frame where the previous one ended. The pixels of damaged videos depend on the
// number of threads, so only times are compared.
bool meet(const std::optional<media::FrameEdge>& first, const std::optional<media::FrameEdge>& expected,
          bool is_damaged) {
  if (!is_damaged || !first || !expected) return first == expected;
  return first->time == expected->time;
}

// The working folder is the same again at the end.
struct FolderKept {
  FolderKept() = default;
  FolderKept(const FolderKept&) = delete;
  FolderKept& operator=(const FolderKept&) = delete;
  ~FolderKept() {
    std::error_code ignored;
    fs::current_path(before, ignored);
  }
  fs::path before = fs::current_path();
};

// Names of people in a job's parts are merged only while the gallery is the one of the plan, as for tasks:
// somebody may have been deleted since. Where it is another one, the output is removed.
class NamesOfJob {
 public:
  NamesOfJob(const Job& job, std::string output) : job_(job), output_(std::move(output)) {}
  void check(const FrameResult& result) {
    const bool has_names = std::ranges::any_of(result.objects, [](const Detection& object) {
      return object.attributes &&
             (!object.attributes->name.empty() || !object.attributes->identities.empty());
    });
    if (has_names && !has_names_) require_same();
    has_names_ = has_names_ || has_names;
  }
  void check_again() {
    if (has_names_) require_same();
  }

 private:
  void require_same() const {
    const std::string found = [&] {
      const FolderKept kept;
      enter_folder_of(job_);
      ObjectChoice choice;
      read_words(choice, job_.plan().words, {"--device=none"});
      return model_fingerprint(choice.detector.make());
    }();
    if (found == job_.plan().model) return;
    std::error_code error;
    if (output_ != "-" && fs::is_regular_file(output_, error)) fs::remove(output_, error);
    throw Error(ExitCode::model, "the gallery, or another file of the detector, has changed since the plan",
                "plan again in another folder, and delete this one: its parts keep names of people");
  }

  const Job& job_;
  const std::string output_;
  bool has_names_ = false;
};

// Results of parts, one input after the other, as `detect` writes them.
class ObjectMerge {
 public:
  ObjectMerge(const Job& job, const std::string& output, ResultFormat format, bool keep_going)
      : job_(job),
        format_(format),
        keep_going_(keep_going),
        writer_(ResultWriter::open(output, format, job.plan().labels)),
        names_(job, output) {}

  void add_failed(const Input& input, const std::string& message) {
    FrameResult failed;
    failed.source = input.name;
    failed.time = kNoTime;
    failed.status = FrameStatus::failed;
    failed.message = message;
    writer_->write(failed);
    note_damage(input.name);
  }

  void add(std::size_t number) {
    const Input& input = job_.plan().inputs[number];
    std::optional<Tracker> tracker;
    if (job_.plan().tracking) tracker.emplace(*job_.plan().tracking);
    std::int64_t before = 0, errors = 0;
    std::string last_error;
    std::optional<media::FrameEdge> expected;
    for (std::size_t k = 0; k < input.parts.size(); ++k) {
      throw_if_stopped();
      const Job::Place place{number, k};
      const PartContent content = read_part(job_.file(job_.name(place)));
      if (content.making.errors > 0) {
        errors += content.making.errors;
        last_error = content.making.last_error;
      }
      ByteReader bytes(content.body);
      while (bytes.get<std::uint8_t>() == 1) {
        FrameResult result = get_result(bytes);
        names_.check(result);
        result.source = input.name;
        result.frame += before;
        if (input.is_pictures) {
          result.time = kNoTime;
          if (format_ != ResultFormat::mot) result.frame = 0;
          if (result.status == FrameStatus::failed && !keep_going_)
            throw Error(
                ExitCode::input,
                "cannot read '" + (fs::path(input.name) / result.picture).string() + "': " + result.message,
                "use --keep-going to merge the others");
        } else if (tracker) {
          result.objects = result.status == FrameStatus::ok ? tracker->update(result.time, result.objects)
                                                            : tracker->predict(result.time);
        }
        writer_->write(result);
        ++frames_;
      }
      const media::FrameSpan span = get_span(bytes);
      before += span.frames;
      if (!input.is_pictures && k > 0 && !meet(span.first, expected, errors > 0)) {
        throw Error(ExitCode::input,
                    "the parts of '" + input.name + "' do not meet at " + job_.describe(place) +
                        ": it is damaged there, or its times are",
                    "plan it again with --whole");
      }
      expected = span.next;
    }
    if (expected && !input.is_pictures)
      throw Error(ExitCode::failed, "the last part of '" + input.name + "' ends too early");
    if (errors > 0 && !input.is_pictures)
      spdlog::warn("{}: {}; the last one: {}", input.name, counted(errors, "decode error"), last_error);
    if (errors > 0) note_damage(input.name);
  }

  // Returns the exit code.
  int finish() {
    names_.check_again();
    writer_->finish();
    if (damaged_.empty()) return 0;
    const std::string problem = damaged_.size() > 1
                                    ? counted(std::ssize(damaged_), "input") + " could not be read whole"
                                    : "'" + damaged_.front() + "' could not be read whole";
    if (!keep_going_) throw Error(ExitCode::input, problem);
    spdlog::error("{}", problem);
    return static_cast<int>(ExitCode::failed);
  }

  std::int64_t frames() const { return frames_; }

 private:
  void note_damage(const std::string& name) { damaged_.push_back(name); }

  const Job& job_;
  const ResultFormat format_;
  const bool keep_going_;
  std::unique_ptr<ResultWriter> writer_;
  NamesOfJob names_;
  std::vector<std::string> damaged_;
  std::int64_t frames_ = 0;
};

int merge_objects(const Job& job, const MergeArguments& a) {
  if (a.outputs.size() != 1)
    throw Error(ExitCode::usage, "detections are merged into exactly one file",
                "name it, for example with --output people.jsonl");
  if (!a.files.labels.empty() || !a.files.cells.empty() || a.shares)
    throw Error(ExitCode::usage, "--labels, --cells-output and --shares are for jobs of textures");
  const std::string& output = a.outputs.front();
  const ResultFormat format = detections_format(output, a.format);
  if (format == ResultFormat::mot && job.plan().inputs.size() > 1)
    throw Error(ExitCode::usage, "the mot format holds one source, and the job has several inputs",
                "plan them one by one, or choose another format");
  const auto unreadable = unreadable_inputs(job, a.keep_going);
  ObjectMerge merged(job, output, format, a.keep_going);
  for (std::size_t i = 0; i < job.plan().inputs.size(); ++i) {
    const auto problem = unreadable.find(i);
    if (problem == unreadable.end()) {
      merged.add(i);
    } else {
      spdlog::error("{}", problem->second);
      merged.add_failed(job.plan().inputs[i], problem->second);
    }
  }
  const int code = merged.finish();
  if (output != "-") spdlog::info("wrote {}: {}", output, counted(merged.frames(), "frame"));
  return code;
}

// Name of a picture's output file; `name` is a folder if the job has several pictures.
std::string file_for(const Job& job, const Input& input, const std::string& name, const char* ending) {
  if (name.empty() || job.plan().inputs.size() == 1) return name;
  make_folder(name);
  return (fs::path(name) / fs::path(input.name).stem()).string() + ending;
}

// Files beside a part, which others may have replaced by links.
void require_part_files(const TextureJobChoice& choice, const TextureRunner& runner, const fs::path& part) {
  const TextureFiles files = part_files(choice, part);
  std::vector<std::string> names = runner.label_files(files.labels);
  names.push_back(files.cells);
  for (const std::string& name : names)
    if (!name.empty()) static_cast<void>(SharedFile{fs::path(name)});
}

int merge_textures(const Job& job, const MergeArguments& a) {
  if (!a.format.empty()) throw Error(ExitCode::usage, "--format is for jobs of detectors");
  check_texture_outputs(a.outputs);
  TextureJobChoice choice;
  read_words(choice, job.plan().words, {"--device=none"});
  if ((!a.files.labels.empty() && !choice.labels) || (!a.files.cells.empty() && choice.cell == 0))
    throw Error(ExitCode::usage, "the job was planned without labels or cells",
                "plan it with --labels or --cells");
  const TextureChoice texture = choice.choice();
  const auto unreadable = unreadable_inputs(job, a.keep_going);
  const TextureRunner runner(choice.texture, texture, -1);
  std::vector<texture::TextureRecord> records;
  bool damaged = !unreadable.empty();
  for (const auto& [number, problem] : unreadable) spdlog::error("skipped: {}", problem);
  for (std::size_t i = 0; i < job.plan().inputs.size(); ++i) {
    if (unreadable.contains(i)) continue;
    const Input& input = job.plan().inputs[i];
    std::optional<TextureBand> sum;
    std::vector<TileRows> rows;
    std::vector<TextureFiles> parts;
    for (std::size_t k = 0; k < input.parts.size(); ++k) {
      throw_if_stopped();
      const fs::path file = job.file(job.name({i, k}));
      const PartContent content = read_part(file);
      require_part_files(choice, runner, file);
      ByteReader bytes(content.body);
      TextureBand band = get_band(bytes, texture);
      if (sum) {
        add_band(*sum, band);
      } else {
        sum = std::move(band);
      }
      rows.push_back(rows_of(job, {i, k}));
      parts.push_back(part_files(choice, file));
    }
    const TextureFiles files{file_for(job, input, a.files.labels, ".tif"),
                             file_for(job, input, a.files.cells, ".npy")};
    for (const std::string& file : runner.label_files(files.labels))
      if (!a.overwrite) refuse_existing(file);
    if (!a.overwrite) refuse_existing(files.cells);
    runner.join(*sum, files, rows, parts);
    records.push_back(runner.record_of(input.name, *sum, files.cells));
    damaged = report_damage(records.back()) || damaged;
  }
  if (records.empty()) throw Error(ExitCode::input, "no picture could be read");
  write_textures(a.outputs, records, a.shares);
  return static_cast<int>(damaged ? ExitCode::failed : ExitCode::done);
}

}  // namespace

int merge(const MergeArguments& a) {
  stop_requested();
  const Job job(a.folder);
  return job.plan().kind == Kind::texture ? merge_textures(job, a) : merge_objects(job, a);
}

}  // namespace sightline::apps::batch
