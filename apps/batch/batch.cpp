// `sightline batch`: jobs of many inputs for many machines.
#include <CLI/CLI.hpp>
#include <memory>

#include "apps/batch/commands.hpp"
#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/schedule_options.hpp"

namespace sightline::apps::batch {
namespace {

void add_plan_options(OptionSet& options, PlanArguments& a, const char* inputs, const char* chunk) {
  options.add("input", &a.inputs, inputs);
  options.group("Job");
  options.add("--job FOLDER", &a.folder,
              "Folder of the job, which all machines see; it must have no job yet");
  options.add("--chunk N", &a.chunk, chunk).between(1, 1'000'000'000);
  options.add("--task-threads N", &a.threads, "CPU threads that a task will have, for this measurement")
      .between(1, 1024)
      .show_default();
}

// A command that makes a plan from the options of a choice.
template <typename Choice>
CLI::App& add_plan(CLI::App& parent, Common& common, const char* name, const char* description,
                   const char* inputs, const char* chunk, int (*plan)(const PlanArguments&),
                   bool has_videos) {
  struct Arguments : PlanArguments {
    Choice choice;
    OptionSet stored;
    CLI::App* command = nullptr;
  };
  auto a = std::make_shared<Arguments>();
  OptionSet options, all;
  add_plan_options(options, *a, inputs, chunk);
  if (has_videos) options.add("--whole", &a->whole, "Do not divide videos: a part is a whole file");
  a->choice.add_to(all);
  a->stored = without_schedule(all);
  options.add_all(a->stored);
  a->command = &add_command(parent, common, name, description, options, [a, &common, plan] {
    a->words = words_of(*a->command, a->stored);
    a->verbosity = common.verbosity;
    return plan(*a);
  });
  return *a->command;
}

void add_folder(OptionSet& options, std::string& folder) {
  options.add("job", &folder, "Folder of the job").require();
}

struct ScheduleWords {
  ScheduleArguments arguments;
  OptionSet options;
  CLI::App* command = nullptr;
  void add_to(OptionSet& all) {
    options.group("Schedule");
    add_device_options(options, arguments);
    add_schedule_options(options, arguments);
    all.add_all(options);
  }
  std::vector<std::string> words() const { return words_of(*command, options); }
};

void add_submit(CLI::App& parent, Common& common) {
  struct Arguments : SubmitArguments {
    ScheduleWords tasks;
  };
  auto a = std::make_shared<Arguments>();
  OptionSet options;
  add_folder(options, a->folder);
  options.group("Engine");
  options
      .add("--engine ENGINE", &a->engine,
           "Engine that runs the tasks: slurm (an array), local (processes of this machine), or print (a "
           "script)")
      .one_of({"slurm", "local", "print"})
      .show_default();
  options
      .add("--script KIND", &a->script,
           "Script to print: slurm, kubernetes (a Job with completion index), or parallel (a line for GNU "
           "parallel)")
      .one_of({"slurm", "kubernetes", "parallel"})
      .show_default();
  options
      .add("--workers N", &a->workers, "Most tasks at a time (default: 1 locally, else the engine's limit)")
      .between(1, 100'000);
  options.add("--retries N", &a->retries, "Further tries of a task that ended with code 1 or was killed")
      .between(0, 1000)
      .show_default();
  options
      .add("--option OPTION", &a->options,
           "Option for sbatch, for example --option=--time=2:00:00; may be given several times")
      .one_at_a_time()
      .free_text();
  options.add("--image NAME", &a->image, "Container image of a Kubernetes Job").free_text().show_default();
  options.add("-o,--output FILE", &a->output, "Also merge into this file once all tasks have ended")
      .checked_by(OutputFile());
  a->tasks.add_to(options);
  a->tasks.command =
      &add_command(parent, common, "submit", "Hand a job's tasks to Slurm or to processes of this machine",
                   options, [a, &common] {
                     a->schedule = a->tasks.words();
                     a->verbosity = common.verbosity;
                     return submit(*a);
                   });
}

void add_work(CLI::App& parent, Common& common) {
  struct Arguments : WorkArguments {
    ScheduleWords tasks;
  };
  auto a = std::make_shared<Arguments>();
  OptionSet options;
  add_folder(options, a->folder);
  options.group("Task");
  options.add("--task N", &a->task, "Number of the task, from 0 (default: all tasks, one after the other)")
      .between(0, 1'000'000'000);
  options.add("--verify", &a->verify, "Compute parts that are done again, and compare them");
  a->tasks.add_to(options);
  a->tasks.command = &add_command(parent, common, "work", "Compute a task of a job", options, [a, &common] {
    a->schedule = a->tasks.words();
    a->verbosity = common.verbosity;
    return work(*a);
  });
}

void add_status(CLI::App& parent, Common& common) {
  auto a = std::make_shared<StatusArguments>();
  OptionSet options;
  add_folder(options, a->folder);
  options.add("--json", &a->json, "Print one JSON object");
  options.add("--watch", &a->watch, "Print every two seconds, until all is done");
  add_command(parent, common, "status", "Show what is done, running and failed, and the time left", options,
              [a] { return show_status(*a); });
}

void add_merge(CLI::App& parent, Common& common) {
  auto a = std::make_shared<MergeArguments>();
  OptionSet options;
  add_folder(options, a->folder);
  options.group("Output");
  options
      .add("-o,--output FILE", &a->outputs,
           "Detections file, or - for standard output; of textures: .json, .csv or .svg, which may be given "
           "several times")
      .checked_by(OutputFile())
      .one_at_a_time()
      .require();
  options
      .add("-f,--format FORMAT", &a->format,
           "Format of the detections: jsonl, json, csv, mot, coco (default: by the file's extension, else "
           "jsonl)")
      .suggest(format_choices);
  options.add("--shares", &a->shares, "Also write each bin's share of the pixels to JSON");
  options.add("--labels FILE", &a->files.labels,
              "Picture of each pixel's bin, as tiled TIFF; a folder for several pictures");
  options.add("--cells-output FILE", &a->files.cells,
              "Histograms of the cells, as NumPy array (.npy); a folder for several pictures");
  options.add("--keep-going", &a->keep_going,
              "Continue after damaged inputs; the log names them, and the exit code is 1");
  add_command(parent, common, "merge", "Join a job's parts into the files that one machine would write",
              options, [a, &common] {
                a->overwrite = common.overwrite;
                a->verbosity = common.verbosity;
                return merge(*a);
              });
}

}  // namespace
}  // namespace sightline::apps::batch

namespace sightline::apps {

void add_batch(CLI::App& app, Common& common) {
  using namespace batch;
  CLI::App& group = add_command_group(app, "batch", "Divide many inputs among many machines");
  CLI::App& plan = add_plan<ObjectChoice>(
      group, common, "plan", "Divide videos and pictures into tasks", "Videos, pictures, and folders of them",
      "Frames of a task (default: by the measured start-up and rate)", plan_objects, true);
  add_plan<TextureJobChoice>(plan, common, "texture", "Divide pictures and slides into tasks",
                             "Pictures and slides, and folders of them",
                             "Rows of tiles of a task (default: by the measured start-up and rate)",
                             plan_textures, false);
  add_submit(group, common);
  add_work(group, common);
  add_status(group, common);
  add_merge(group, common);
}

}  // namespace sightline::apps
