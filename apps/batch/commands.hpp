#pragma once
/// Arguments of the subcommands of `sightline batch`, and their runs, which return the exit code.

#include <optional>
#include <string>
#include <vector>

#include "apps/batch/choices.hpp"
#include "apps/texture/texture_run.hpp"

namespace sightline::apps::batch {

struct PlanArguments {
  std::vector<std::string> inputs;
  std::string folder;
  std::optional<int> chunk;  ///< none: measured
  int threads = 4;           ///< of a task, for the measurement
  bool whole = false;        ///< videos are not divided
  std::vector<std::string> words;
  int verbosity = 0;
};
int plan_objects(const PlanArguments& arguments);
int plan_textures(const PlanArguments& arguments);

struct WorkArguments {
  std::string folder;
  std::optional<int> task;            ///< none: all of them
  bool verify = false;                ///< parts that are done are computed again and compared
  std::vector<std::string> schedule;  ///< words of schedule options
  int verbosity = 0;
};
int work(const WorkArguments& arguments);

struct MergeArguments {
  std::string folder;
  std::vector<std::string> outputs;
  std::string format;  ///< of detections
  bool shares = false;
  TextureFiles files;
  bool keep_going = false;
  bool overwrite = false;
  int verbosity = 0;
};
int merge(const MergeArguments& arguments);

struct StatusArguments {
  std::string folder;
  bool json = false;
  bool watch = false;
};
int show_status(const StatusArguments& arguments);

struct SubmitArguments {
  std::string folder;
  std::string engine = "slurm";
  std::string script = "slurm";  ///< to print
  int workers = 0;               ///< tasks at a time; 0: the engine's choice
  int retries = 3;
  std::string output;                 ///< of a merge behind the tasks; empty: none
  std::vector<std::string> options;   ///< for the engine
  std::string image = "sightline";    ///< of containers
  std::vector<std::string> schedule;  ///< words of schedule options
  int verbosity = 0;
};
int submit(const SubmitArguments& arguments);

}  // namespace sightline::apps::batch
