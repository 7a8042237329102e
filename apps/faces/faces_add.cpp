// `sightline faces add`: somebody by pictures, videos or what a camera sees.
#include "apps/faces/faces_add.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "apps/cli/progress.hpp"
#include "apps/cli/stop.hpp"
#include "apps/common/media_options.hpp"
#include "apps/common/picture_output.hpp"
#include "apps/faces/face_finder.hpp"
#include "apps/faces/faces.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "faces/gallery/names.hpp"
#include "media/cameras.hpp"
#include "media/folder.hpp"
#include "media/gray_png.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;
using gallery::Candidate;
using gallery::ChosenFace;
using gallery::FaceFinder;
using gallery::FaceQuality;
using gallery::FaceTemplate;
using gallery::Gallery;
using gallery::NewTemplate;
using gallery::Selection;
using Templates = std::vector<std::vector<std::uint8_t>>;

constexpr double kCameraSeconds = 10;
constexpr std::size_t kShownFaces = 10;  // of those that are taken, without -v

struct Inputs {
  std::vector<std::string> pictures;
  std::vector<std::string> videos;  // and cameras
};

Inputs sorted_out(const std::vector<std::string>& inputs) {
  Inputs sorted;
  std::error_code error;
  for (const std::string& input : inputs) {
    if (!media::is_live(input)) require_present(input);
    if (fs::is_directory(input, error)) {
      for (const fs::path& file : media::list_images(input)) sorted.pictures.push_back(file.string());
    } else if (is_picture(input) && fs::is_regular_file(input, error)) {
      sorted.pictures.push_back(input);
    } else {
      sorted.videos.push_back(input);
    }
  }
  return sorted;
}

/// Gathers what may become templates, and says what may not.
class Gathering {
 public:
  Gathering(const AddFacesArguments& arguments, FaceFinder& finder, int verbosity)
      : a_(arguments),
        finder_(finder),
        least_(arguments.force ? FaceQuality() : finder.least_quality()),
        verbosity_(verbosity) {}

  // A picture without the face that is meant is left out where there are others.
  void add_picture(const std::string& file, bool is_only_one) {
    media::ReadOptions reading;
    reading.max_pixels = a_.reading.max_pixels;
    reading.threads = 1;
    reading.stop = &stop_requested();
    std::string reason = "unreadable";
    try {
      const auto frame = media::Reader(file, reading).read();
      throw_if_stopped();
      if (!frame) throw Error(ExitCode::input, "'" + file + "' has no picture");
      std::vector<FaceTemplate> faces = finder_.find(frame->view());
      const ChosenFace chosen = choose_face(faces, a_.choice, least_);
      reason = faces.empty()        ? "without a face"
               : chosen.is_doubtful ? "with doubtful faces"
                                    : "with several faces";
      if (!chosen.face) throw Error(ExitCode::input, "'" + file + "': " + chosen.problem, chosen.remedy);
      pictures.push_back({std::move(faces[*chosen.face]), file});
    } catch (const Error& error) {
      if (is_only_one || error.code() != ExitCode::input) throw;
      left_out.emplace_back(reason, error.what());
    }
  }

  // A few pictures by name, many by their number.
  void tell_left_out() const {
    constexpr std::size_t kNamed = 5;
    const bool are_many = left_out.size() > kNamed;
    std::map<std::string, int> reasons;
    for (const auto& [reason, problem] : left_out) {
      spdlog::log(are_many ? spdlog::level::debug : spdlog::level::warn, "skipped: {}", problem);
      ++reasons[reason];
    }
    if (!are_many) return;
    std::string sum;
    for (const auto& [reason, count] : reasons)
      sum += fmt::format("{}{} {}", sum.empty() ? "" : ", ", count, reason);
    spdlog::warn("skipped {}: {}; -v lists them", counted(std::ssize(left_out), "picture"), sum);
  }

  void add_video(const std::string& input) {
    media::ReadOptions reading = a_.reading;
    reading.stop = &stop_requested();
    if (media::is_live(input)) {
      reading.low_delay = true;
      if (!reading.patience) reading.patience = kCameraSeconds;
      if (!reading.duration) reading.duration = kCameraSeconds;
      spdlog::info("look into {} for {:.0f} s, and turn your head slowly", input, *reading.duration);
    }
    media::Reader reader(input, reading);
    ProgressDisplay display(verbosity_ >= 0);
    const auto start = std::chrono::steady_clock::now();
    gallery::Stretches stretches;
    std::int64_t frames = 0, with_one = 0, with_several = 0, doubtful = 0;
    while (const auto frame = reader.read()) {
      throw_if_stopped();
      std::vector<FaceTemplate> faces = finder_.find(frame->view());
      ++frames;
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      display.show({frames, elapsed.count(), reader.info().frames});
      const ChosenFace chosen = choose_face(faces, a_.choice, least_);
      if (chosen.is_doubtful) {
        ++doubtful;
      } else if (chosen.face) {
        ++with_one;
        stretches.add({std::move(faces[*chosen.face]), fmt::format("{}, {:.2f} s", input, frame->time())});
      } else if (!faces.empty()) {
        ++with_several;
      }
    }
    display.end();
    throw_if_stopped();
    if (with_one == 0 && with_several == 0 && doubtful > 0)
      throw Error(ExitCode::input,
                  fmt::format("all faces in {} of '{}' are doubtful", counted(frames, "frame"), input),
                  "show the face from the front, large, sharp and in good light, or use --force");
    if (with_one == 0 && with_several == 0)
      throw Error(ExitCode::input,
                  fmt::format("no face is found in {} of '{}'", counted(frames, "frame"), input),
                  "show the face from the front, large and in good light");
    if (with_one == 0) {
      throw Error(ExitCode::input, fmt::format("all frames of '{}' have several faces", input),
                  "show one person alone, or use --largest");
    }
    if (doubtful > 0) spdlog::info("{}: {} with doubtful faces skipped", input, counted(doubtful, "frame"));
    if (with_several > 0)
      spdlog::warn("{}: {} with several faces skipped; use --largest to take the largest face", input,
                   counted(with_several, "frame"));
    for (Candidate& one : stretches.take()) frames_.push_back(std::move(one));
  }

  std::vector<Candidate> pictures;
  std::vector<std::pair<std::string, std::string>> left_out;  // pictures: kind of reason, message
  std::vector<Candidate>& frames() { return frames_; }

 private:
  const AddFacesArguments& a_;
  FaceFinder& finder_;
  const FaceQuality least_;
  const int verbosity_;
  std::vector<Candidate> frames_;
};

NewTemplate as_template(const Candidate& candidate) {
  return {candidate.face.bytes, media::encode_gray_png(candidate.face.crop.view()), candidate.source,
          candidate.face.sharpness};
}

// In words; empty where nothing was left out.
std::string left_out_text(const Selection& selection) {
  std::string text;
  const auto add = [&](std::size_t count, const char* why) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, why);
  };
  add(selection.alike, "like others");
  add(selection.blurred, "less sharp");
  add(selection.others, "probably of somebody else");
  return text;
}

// Where the face lies, so that one that is none shows.
std::string face_text(const Candidate& candidate) {
  const Detection& face = candidate.face.face;
  return fmt::format("{}: {:.0f}x{:.0f} pixels at {:.0f},{:.0f}{}, sharpness {:.0f}", candidate.source,
                     face.box.width, face.box.height, face.box.x, face.box.y,
                     face.confidence ? fmt::format(", confidence {:.0f}%", 100 * *face.confidence) : "",
                     candidate.face.sharpness);
}

void take(const std::vector<Candidate>& candidates, const Selection& selection, const char* what,
          std::vector<NewTemplate>& made) {
  for (const std::size_t i : selection.taken) {
    const auto level = made.size() < kShownFaces ? spdlog::level::info : spdlog::level::debug;
    spdlog::log(level, "taken: {}", face_text(candidates[i]));
    made.push_back(as_template(candidates[i]));
  }
  if (const std::string text = left_out_text(selection); !text.empty())
    spdlog::info("skipped of the {}: {}", what, text);
}

// Keeps the pictures that show the same person.
void leave_out_others(std::vector<Candidate>& pictures, const Templates& own, const std::string& name,
                      const FaceFinder& finder) {
  const gallery::Likeness sorted = sort_by_likeness(pictures, own, finder);
  const auto count = [](const auto& some) { return counted(std::ssize(some), "picture"); };
  if (!sorted.is_certain)
    spdlog::warn(
        "the two pictures of '{}' look like different people; run `sightline faces show` to list them", name);
  if (own.empty() ? 2 * sorted.like.size() < pictures.size() : sorted.like.empty() && !pictures.empty()) {
    throw Error(ExitCode::input,
                own.empty() ? fmt::format("{} look like several people: at most {} of them look alike",
                                          count(pictures), sorted.like.size())
                            : fmt::format("{} not look like '{}' in the gallery",
                                          pictures.size() == 1 ? "'" + pictures.front().source + "' does"
                                                               : count(pictures) + " do",
                                          name),
                "add each person by name, or use --force");
  }
  for (const std::size_t i : sorted.unlike)
    spdlog::warn("skipped: '{}' looks like somebody else; use --force to take it", pictures[i].source);
  std::vector<Candidate> kept;
  for (const std::size_t i : sorted.like) kept.push_back(std::move(pictures[i]));
  pictures = std::move(kept);
}

// The frames are of one person already, of whom the nearest frame counts.
void check_frames(const std::vector<Candidate>& frames, const Templates& own, const std::string& name,
                  const FaceFinder& finder) {
  if (frames.empty() || own.empty()) return;
  const auto limit = finder.distance_of_strangers(gallery::kStrangersAlike / static_cast<double>(own.size()));
  if (!limit) return;
  for (const Candidate& frame : frames) {
    for (const auto& one : own) {
      if (finder.distance(one, frame.face.bytes) <= *limit) return;
    }
  }
  throw Error(ExitCode::input, fmt::format("the video does not look like '{}' in the gallery", name),
              "add the person by another name, or use --force");
}

// Somebody in the gallery who looks like what is added is most likely the same person.
void warn_of_likeness(const gallery::Snapshot& known, const std::string& name,
                      const std::vector<NewTemplate>& made, const FaceFinder& finder) {
  const auto limit =
      known.threshold ? std::optional(known.threshold->distance) : finder.distance_of_strangers(0.0001);
  if (!limit) return;
  std::vector<std::size_t> like(known.names.size());
  for (const NewTemplate& one : made) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (finder.distance(one.bytes, known.row(i)) <= *limit)
        ++like[static_cast<std::size_t>(known.owners[i])];
    }
  }
  for (std::size_t i = 0; i < like.size(); ++i) {
    if (like[i] > 0 && known.names[i] != name)
      spdlog::warn("'{}' looks like '{}'; if they are one person, run `sightline faces merge`", name,
                   known.names[i]);
  }
}

}  // namespace

int add_faces(AddFacesArguments a, FaceFinder& finder, int verbosity) {
  prepare_reading(a.inputs, a.reading);
  a.name = gallery::normal_name(a.name);
  gallery::check_name(a.name);
  // Nobody should look into a camera for what cannot be kept.
  if (Gallery::is_there(a.gallery)) Gallery(a.gallery, Gallery::Access::write).require(finder.kind());
  const Inputs inputs = sorted_out(a.inputs.empty() ? std::vector{media::first_camera().path} : a.inputs);
  if (inputs.videos.empty() && !inputs.pictures.empty())
    refuse_time_options(inputs.pictures.front(), a.reading, false);
  Gathering gathering(a, finder, verbosity);
  for (const std::string& file : inputs.pictures)
    gathering.add_picture(file, inputs.pictures.size() == 1 && inputs.videos.empty());
  gathering.tell_left_out();
  for (const std::string& input : inputs.videos) gathering.add_video(input);
  if (gathering.pictures.empty() && gathering.frames().empty())
    throw Error(ExitCode::input,
                fmt::format("found exactly one face in none of {}",
                            counted(std::ssize(gathering.left_out), "picture")),
                "use pictures that show one large, sharp face");

  gallery::Snapshot known;
  Templates own;
  if (Gallery::is_there(a.gallery)) {
    known = Gallery(a.gallery, Gallery::Access::read).snapshot();
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known.names[static_cast<std::size_t>(known.owners[i])] != a.name) continue;
      const auto row = known.row(i);
      own.emplace_back(row.begin(), row.end());
    }
  }
  if (!a.force) {
    leave_out_others(gathering.pictures, own, a.name, finder);
    check_frames(gathering.frames(), own, a.name, finder);
  }
  std::vector<NewTemplate> made;
  take(gathering.pictures, select_pictures(gathering.pictures, own, finder), "pictures", made);
  for (const NewTemplate& one : made) own.push_back(one.bytes);
  take(gathering.frames(), select_frames(gathering.frames(), own, finder, static_cast<std::size_t>(a.most)),
       "frames", made);
  throw_if_stopped();
  if (made.empty()) {
    spdlog::warn("'{}' has similar pictures already; nothing is added", a.name);
    return 0;
  }
  warn_of_likeness(known, a.name, made, finder);
  Gallery gallery = Gallery::open_or_make(a.gallery, finder.kind());
  gallery.add(a.name, made);
  std::printf("%s: %s added, %lld in all, in %s\n", a.name.c_str(),
              counted(static_cast<std::int64_t>(made.size()), "picture").c_str(),
              static_cast<long long>(gallery.person(a.name).templates), a.gallery.c_str());
  return 0;
}

int add_people(const AddFacesArguments& arguments, FaceFinder& finder, int verbosity) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(arguments.inputs.front())) {
    if (entry.is_directory() && !entry.path().filename().native().starts_with('.'))
      folders.push_back(entry.path());
  }
  if (folders.empty())
    throw Error(ExitCode::input, "'" + arguments.inputs.front() + "' has no sub-folders of people",
                "give the person's name with --name");
  std::ranges::sort(folders);
  int failed = 0;
  for (const fs::path& folder : folders) {
    AddFacesArguments one = arguments;
    one.name = folder.filename().string();
    one.inputs = {folder.string()};
    try {
      add_faces(std::move(one), finder, verbosity);
    } catch (const Error& error) {
      throw_if_stopped();
      if (error.code() != ExitCode::input) throw;
      spdlog::error("cannot add '{}': {}", folder.filename().string(), error.what());
      ++failed;
    }
  }
  return failed > 0 ? static_cast<int>(ExitCode::failed) : 0;
}

bool are_unlike(const gallery::Snapshot& known, const std::string& one, const std::string& other,
                const FaceFinder& finder) {
  const auto rows_of = [&](const std::string& name) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known.names[static_cast<std::size_t>(known.owners[i])] == name) rows.push_back(i);
    }
    return rows;
  };
  const std::vector<std::size_t> own = rows_of(one), others = rows_of(other);
  const double pairs = std::max(1.0, static_cast<double>(own.size() * others.size()));
  auto limit = finder.distance_of_strangers(gallery::kStrangersAlike / pairs);
  if (known.threshold) limit = std::max(limit.value_or(0), known.threshold->distance);
  if (!limit) return false;
  for (const std::size_t a : own) {
    for (const std::size_t b : others) {
      if (finder.distance(known.row(a), known.row(b)) <= *limit) return false;
    }
  }
  return true;
}

void add_faces_add(CLI::App& faces, Common& common) {
  struct Arguments {
    GalleryOption gallery;
    DetectorOptions detector{kFacesConfig};
    AddFacesArguments faces;
  };
  auto a = std::make_shared<Arguments>();
  AddFacesArguments& f = a->faces;
  OptionSet options;
  options.add("input", &f.inputs,
              "Pictures, folders of pictures, videos, or cameras (/dev/video0) (default: the first camera)");
  options
      .add("-n,--name NAME", &f.name,
           "Name of a new or known person (default: the names of the input's sub-folders)")
      .free_text();
  a->gallery.add_to(options);
  options.add("--force", &f.force,
              "Also take doubtful faces, and pictures that do not look like the person's others");
  options.group("Pictures with several faces");
  options.add("--largest", &f.choice.largest, "Take the largest face");
  options.add("--face N", &f.choice.number, "Face to take, counted from left to right")
      .between(1, 1000)
      .excludes("--largest");
  options.group("Videos and cameras");
  options.add("--pictures N", &f.most, "Maximum number of pictures to take").between(1, 1000).show_default();
  options.add("--start SECONDS", &f.reading.start, "Start of the part to read, in seconds").not_negative();
  options
      .add("--duration SECONDS", &f.reading.duration,
           "Length of the part to read, in seconds (default: all; 10 of a camera)")
      .positive();
  options.add("--every N", &f.reading.every, "Read every n-th frame").between(1, 1'000'000).show_default();
  add_limit_options(options, f.reading);
  add_decoder_option(options, f.reading);
  add_timeout_option(options, f.reading);
  a->detector.add_to(options, {"--gallery", "--false-accepts"});
  add_command(faces, common, "add", "Add a person from pictures, a video or a camera", options, [a, &common] {
    const bool is_folder_of_people =
        a->faces.name.empty() && a->faces.inputs.size() == 1 && fs::is_directory(a->faces.inputs.front());
    if (!is_folder_of_people) {
      if (a->faces.name.empty())
        throw Error(ExitCode::usage, "--name is missing", "give it, or name a folder of people");
      gallery::check_name(gallery::normal_name(a->faces.name));
    }
    a->faces.gallery = a->gallery.file();
    const auto finder = make_face_finder(a->detector);
    if (is_folder_of_people) return add_people(a->faces, *finder, common.verbosity);
    return add_faces(a->faces, *finder, common.verbosity);
  });
}

}  // namespace sightline::apps
