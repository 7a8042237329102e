// `sightline batch submit`: hands the tasks to an engine; here, to processes of this machine.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <thread>

#include "apps/batch/commands.hpp"
#include "apps/batch/job.hpp"
#include "apps/batch/scripts.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/stop.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/shared_file.hpp"
#include "base/text.hpp"

namespace sightline::apps::batch {
namespace {

namespace fs = std::filesystem;

// Runs the tasks as processes of this machine.
class LocalEngine {
 public:
  LocalEngine(const Job& job, const SubmitArguments& a)
      : job_(job), a_(a), words_(task_words(job, a)), display_(a.verbosity >= 0) {
    workers_ = a.workers > 0 ? a.workers : 1;
    const bool has_threads = std::ranges::any_of(
        a.schedule, [](const std::string& word) { return word.starts_with("--threads"); });
    if (!has_threads && workers_ > 1)
      words_.push_back(fmt::format("--threads={}", std::max(hardware_threads() / workers_, 1)));
    words_.insert(words_.end(), {"-q", "--task", ""});
  }

  // Returns the exit code of the worst task.
  int run(const std::vector<std::size_t>& tasks) {
    const std::atomic<bool>& stop = stop_requested();
    std::size_t next = 0;
    for (const std::size_t task : tasks) total_ += frames_of(task);
    while (!stop && (next < tasks.size() || !running_.empty())) {
      while (next < tasks.size() && static_cast<int>(running_.size()) < workers_)
        start_task(tasks[next++], 0);
      reap();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    display_.end();
    if (!stop) {
      spdlog::info("{} of {} done", done_, counted(std::ssize(tasks), "task"));
      return code_;
    }
    for (const auto& [process, task] : running_) ::kill(process, SIGTERM);
    while (!running_.empty()) {
      reap();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return stop_exit_code();
  }

 private:
  struct Task {
    std::size_t number;
    int tries;
  };

  void start_task(std::size_t number, int tries) {
    words_.back() = std::to_string(number);
    const fs::path log = fs::path("log") / fmt::format("{}.txt", number);
    int output = -1;
    try {
      output = open_below(job_.folder(), log, O_WRONLY | O_CREAT | O_APPEND);
      running_.emplace(start_program(words_, -1, output, output), Task{number, tries});
    } catch (const Error& error) {
      spdlog::error("task {} cannot be started: {}", number, error.what());
      code_ = std::max(code_, static_cast<int>(error.code()));
    }
    if (output >= 0) ::close(output);
  }

  // About so many.
  std::int64_t frames_of(std::size_t task) const {
    const auto [begin, end] = job_.tasks()[task];
    std::int64_t frames = 0;
    for (std::size_t i = begin; i < end; ++i) frames += job_.part(job_.parts()[i]).frames;
    return frames;
  }

  void show_progress() {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    display_.show({frames_, elapsed.count(), total_});
  }

  void reap() {
    std::vector<std::pair<Task, int>> ended;
    for (auto one = running_.begin(); one != running_.end();) {
      int status = 0;
      if (::waitpid(one->first, &status, WNOHANG) != one->first) {
        ++one;
        continue;
      }
      ended.emplace_back(one->second, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
      one = running_.erase(one);
    }
    show_progress();
    for (const auto& [task, code] : ended) {
      const bool is_final = code >= 2 && code <= 5;
      if (code == 0) ++done_;
      if (code == 0) frames_ += frames_of(task.number);
      if (code != 0) display_.end();
      if (code == 0 || stop_requested()) continue;
      if (!is_final && task.tries < a_.retries) {
        spdlog::warn("task {} ended with {}; trying again", task.number, code);
        start_task(task.number, task.tries + 1);
        continue;
      }
      spdlog::error("task {} failed with code {}; see '{}'", task.number, code,
                    (job_.folder() / "log" / fmt::format("{}.txt", task.number)).string());
      code_ = std::max(code_, is_final ? code : static_cast<int>(ExitCode::failed));
    }
  }

  const Job& job_;
  const SubmitArguments& a_;
  std::vector<std::string> words_;  ///< the last one is the task's number
  int workers_ = 1;
  std::map<pid_t, Task> running_;
  int code_ = 0;
  std::int64_t frames_ = 0, total_ = 0, done_ = 0;
  ProgressDisplay display_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

int submit(const SubmitArguments& a) {
  const Job job(a.folder);
  if (job.tasks().empty())
    throw Error(ExitCode::input, "the job has no tasks", "none of its inputs can be read");
  const std::vector<std::size_t> tasks = tasks_left(job, read_state(job));
  if (tasks.empty() && a.output.empty()) {
    spdlog::info("all tasks are done");
    return 0;
  }
  if (a.engine == "print") {
    std::fputs(script_to_print(job, a, tasks).c_str(), stdout);
    return 0;
  }
  if (a.engine == "slurm") {
    submit_to_slurm(job, a, tasks);
    return 0;
  }
  const int code = LocalEngine(job, a).run(tasks);
  if (code != 0 || a.output.empty()) return code;
  MergeArguments merging;
  merging.folder = a.folder;
  merging.outputs = {a.output};
  merging.overwrite = true;
  return merge(merging);
}

}  // namespace sightline::apps::batch
