#pragma once
/// A batch job: its plan, and the folder that holds everything about it.
///
/// FOLDER/plan.json         the plan; written last, so a folder without it has no job
/// FOLDER/parts/NAME        a finished part (part_file.hpp); NAME.cells.npy and NAME.labels.tif belong to it
/// FOLDER/parts/NAME.MACHINE-PROCESS-RANDOM.running   a part that is being computed; its modification
///                          time is the last heartbeat
/// FOLDER/parts/NAME.MACHINE-PROCESS-RANDOM.differs   a second copy that is not equal to NAME
/// FOLDER/failed/           a JSON file for each attempt that failed
/// FOLDER/log/              messages of the tasks
///
/// No file is ever changed or replaced, so any number of processes on any number of machines can work on a
/// job without locks, also over NFS.
///
/// The folder may belong to several users, so nothing in it is trusted: only regular files are opened and no
/// links are followed (base/shared_file.hpp), files have limits, and a plan names only files that everybody
/// who can change it can read (plan_readers.hpp).

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/batch/plan_readers.hpp"
#include "detection/tracker.hpp"

namespace sightline::apps::batch {

/// More than any input has.
inline constexpr std::int64_t kMaxFrames = std::int64_t{1} << 40;

enum class Kind { objects, texture };

/// Unit of work whose result is one file.
struct Part {
  double begin = 0;  ///< of a video: seconds; of a folder: index of a picture; of a slide: row of tiles
  std::int64_t frames = 0;  ///< estimate for videos; pictures; rows of tiles
  std::string stamp = {};   ///< of its pictures, in a folder: names, sizes and times
};

struct Input {
  std::string name;          ///< as the user named it
  std::string stamp;         ///< size and time of a file; list of a folder's pictures
  bool is_pictures = false;  ///< a picture, or a folder of pictures
  std::string problem = {};  ///< why it cannot be read; it then has no parts
  std::vector<Part> parts = {};
};

struct Plan {
  Kind kind = Kind::objects;
  std::string version;             ///< of the program
  std::string folder;              ///< that relative names count from
  std::vector<std::string> words;  ///< options (words_of)
  std::string model;               ///< fingerprint of all files that the detector was made of
  std::vector<std::string> labels;
  std::optional<TrackerOptions> tracking;
  std::int64_t chunk = 0;  ///< frames, pictures or rows of tiles of a task, about
  std::vector<Input> inputs;
};

/// A plan with its folder. Immutable.
class Job {
 public:
  /// A part's place in the plan.
  struct Place {
    std::size_t input = 0;
    std::size_t part = 0;
  };

  /// Writes the plan into a folder, which is made if it is not there. Throws Error (usage) if it has a job,
  /// (failed) if it cannot be written.
  static Job create(const std::filesystem::path& folder, Plan plan);
  /// Reads it. Throws Error (usage) where there is none or it is of another version of the program, (failed)
  /// where a part of the folder is a link.
  explicit Job(const std::filesystem::path& folder);

  const Plan& plan() const { return plan_; }
  /// Who may have written the plan.
  const PlanReaders& readers() const { return readers_; }
  /// Absolute.
  const std::filesystem::path& folder() const { return folder_; }

  const std::vector<Place>& parts() const { return parts_; }
  const Input& input(const Place& place) const { return plan_.inputs[place.input]; }
  const Part& part(const Place& place) const { return input(place).parts[place.part]; }
  /// End of the part: `begin` of the next; infinity for the last.
  double end(const Place& place) const;
  /// Hash of everything that the part's result depends on.
  std::string name(const Place& place) const;
  std::filesystem::path file(const std::string& name) const { return folder_ / "parts" / name; }
  /// "'a.mp4' from 12 s on", for messages.
  std::string describe(const Place& place) const;

  /// Tasks: consecutive parts, as [first, end) of `parts`.
  const std::vector<std::pair<std::size_t, std::size_t>>& tasks() const { return tasks_; }

 private:
  Job(std::filesystem::path folder, Plan plan);
  void number_parts();

  std::filesystem::path folder_;
  PlanReaders readers_;
  Plan plan_;
  std::string seed_;  ///< of the names of parts
  std::vector<Place> parts_;
  std::vector<std::pair<std::size_t, std::size_t>> tasks_;
};

/// Failed attempt to compute a part.
struct Failure {
  std::string part;   ///< name
  std::string about;  ///< Job::describe
  int code = 0;
  std::string message;
  std::string machine;
  double time = 0;  ///< when it was recorded, by the file server's clock
};
void record_failure(const Job& job, const Failure& failure);

/// State of a job's parts, by name, from the names of its files.
struct JobState {
  std::map<std::string, double> done;                         ///< when, in seconds of the file server's clock
  std::map<std::string, double> running;                      ///< when it was last heard of
  std::map<std::string, std::vector<std::string>> differing;  ///< files of second copies that are not equal
  std::map<std::string, Failure> failed;                      ///< last attempt; of parts that are not done
  double now = 0;                                             ///< by the same clock
};
/// Throws Error (failed), also where a link or a special file has the name of a part.
JobState read_state(const Job& job);
/// Numbers of the tasks that have parts to compute.
std::vector<std::size_t> tasks_left(const Job& job, const JobState& state);

/// Makes the folder that the plan's relative names count from the working folder. Throws Error (input).
void enter_folder_of(const Job& job);

/// Size and time of a file, from which a change shows. Throws Error (input) where it is not there.
std::string stamp_of(const std::filesystem::path& file);
/// The same of pictures [begin, end) of a folder.
std::string stamp_of(const std::vector<std::filesystem::path>& pictures, std::size_t begin, std::size_t end);

}  // namespace sightline::apps::batch
