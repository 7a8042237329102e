// `sightline batch submit`: hands the tasks to an engine.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include "apps/batch/commands.hpp"
#include "apps/batch/job.hpp"
#include "apps/cli/stop.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/program_folder.hpp"
#include "base/text.hpp"

extern char** environ;

namespace sightline::apps::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kUsualArray = 1000;  // tasks of an array; Slurm's own limit is one more

std::string program() {
  return fs::canonical("/proc/self/exe").string();
}

// A word for a shell, in quotation marks if it needs them.
std::string quoted(const std::string& text) {
  const bool is_plain = std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("/._-=,:+@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain && !text.empty()) return text;
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + '\'';
}

std::vector<std::string> task_words(const Job& job, const SubmitArguments& a) {
  std::vector<std::string> words{program(), "batch", "work", job.folder().string()};
  words.insert(words.end(), a.schedule.begin(), a.schedule.end());
  return words;
}

std::string command_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

std::string merge_line(const Job& job, const SubmitArguments& a) {
  return command_line({program(), "batch", "merge", job.folder().string(), "--overwrite", "--output",
                       fs::absolute(a.output).string()});
}

// "0-3,7", of tasks [first, end), counted from `first`; empty if there are none.
std::string array_of(const std::vector<std::size_t>& tasks, std::size_t first, std::size_t end, int most) {
  std::string text;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i] < first || tasks[i] >= end) continue;
    std::size_t last = i;
    while (last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1 && tasks[last + 1] < end) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(tasks[i] - first);
    if (last > i) text += '-' + std::to_string(tasks[last] - first);
    i = last;
  }
  return text.empty() || most == 0 ? text : text + '%' + std::to_string(most);
}

std::string slurm_script(const Job& job, const SubmitArguments& a, const std::vector<std::size_t>& tasks) {
  std::string text = "#!/bin/bash\n#SBATCH --job-name=sightline\n";
  if (a.engine == "print")
    text += "#SBATCH --array=" + array_of(tasks, 0, job.tasks().size(), a.workers) + '\n';
  text += fmt::format("#SBATCH --output={}\n#SBATCH --open-mode=append\n#SBATCH --requeue\n",
                      (job.folder() / "log" / "%A_%a.txt").string());
  for (const std::string& option : a.options) text += "#SBATCH " + option + '\n';
  text +=
      "# Another try, on another node if there is one, but for wrong usage, inputs, models and devices.\n";
  text += command_line(task_words(job, a)) +
          " --task \"$((SLURM_ARRAY_TASK_ID + ${SIGHTLINE_FIRST_TASK:-0}))\"\n";
  text += fmt::format(
      "code=$?\n"
      "if {{ [ \"$code\" -eq 1 ] || [ \"$code\" -gt 5 ]; }} && [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {} ]; "
      "then\n"
      "  scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}\" && sleep 60\n"
      "fi\n"
      "exit \"$code\"\n",
      a.retries);
  return text;
}

std::string kubernetes_job(const Job& job, const SubmitArguments& a) {
  std::string words;
  std::vector<std::string> command = task_words(job, a);
  command.front() = "sightline";
  command.insert(command.end(), {"--task", "$(JOB_COMPLETION_INDEX)"});
  for (const std::string& word : command) {
    std::string text;
    for (const char c : word) text += c == '\'' ? "''" : std::string(1, c);
    words += (words.empty() ? "'" : ", '") + text + "'";
  }
  return fmt::format(
      "# Mount the job's folder and the inputs under the names that they have here.\n"
      "apiVersion: batch/v1\n"
      "kind: Job\n"
      "metadata:\n"
      "  generateName: sightline-\n"
      "spec:\n"
      "  completionMode: Indexed\n"
      "  completions: {}\n"
      "  parallelism: {}\n"
      "  backoffLimitPerIndex: {}\n"
      "  podFailurePolicy:\n"
      "    rules:\n"
      "    - action: FailIndex\n"
      "      onExitCodes:\n"
      "        operator: In\n"
      "        values: [2, 3, 4, 5]\n"
      "    - action: Ignore\n"
      "      onPodConditions:\n"
      "      - type: DisruptionTarget\n"
      "  template:\n"
      "    spec:\n"
      "      restartPolicy: Never\n"
      "      containers:\n"
      "      - name: sightline\n"
      "        image: {}\n"
      "        command: [{}]\n"
      "        workingDir: '{}'\n"
      "        volumeMounts:\n"
      "        - name: shared\n"
      "          mountPath: '{}'\n"
      "        - name: inputs\n"
      "          mountPath: '{}'\n"
      "          readOnly: true\n"
      "      volumes:\n"
      "      - name: shared\n"
      "        persistentVolumeClaim:\n"
      "          claimName: shared\n"
      "      - name: inputs\n"
      "        persistentVolumeClaim:\n"
      "          claimName: inputs\n",
      job.tasks().size(), a.workers > 0 ? a.workers : 8, a.retries, a.image, words, job.plan().folder,
      job.folder().string(), job.plan().folder);
}

std::string parallel_line(const Job& job, const SubmitArguments& a) {
  // GNU parallel passes its words to a shell again, so they are quoted twice.
  std::vector<std::string> words;
  for (const std::string& word : task_words(job, a)) words.push_back(quoted(word));
  return fmt::format("seq 0 {} | parallel --retries {}{} {} --task {{}}\n", job.tasks().size() - 1,
                     a.retries + 1, a.workers > 0 ? fmt::format(" --jobs {}", a.workers) : "",
                     command_line(words));
}

int print_script(const Job& job, const SubmitArguments& a, const std::vector<std::size_t>& tasks) {
  std::string text;
  if (a.script == "kubernetes") text = kubernetes_job(job, a);
  if (a.script == "parallel") text = parallel_line(job, a);
  if (a.script == "slurm") text = slurm_script(job, a, tasks);
  if (a.script != "kubernetes" && !a.output.empty()) text += "# then: " + merge_line(job, a) + '\n';
  std::fputs(text.c_str(), stdout);
  return 0;
}

pid_t start(const std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t process = -1;
  const int error = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw Error(ExitCode::failed, "cannot start '" + words.front() + "': " + std::strerror(error),
                words.front() == "sbatch" ? "use --engine local, or --engine print for other engines" : "");
  return process;
}

// Standard output of a command that ends with 0.
std::string output_of(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ExitCode::failed, std::string("cannot make a pipe: ") + std::strerror(errno));
  pid_t process = -1;
  try {
    process = start(words, ends[1]);
  } catch (...) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t size = 0; (size = ::read(ends[0], block.data(), block.size())) != 0;) {
    if (size > 0) text.append(block.data(), static_cast<std::size_t>(size));
    if (size < 0 && errno != EINTR) break;
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(ExitCode::failed, "'" + words.front() + "' has failed: " + std::string(trimmed(text)));
  return text;
}

std::size_t largest_array() {
  try {
    for (const std::string& line : split(output_of({"scontrol", "show", "config"}), '\n')) {
      if (!line.starts_with("MaxArraySize")) continue;
      return std::max<std::size_t>(std::stoul(line.substr(line.find('=') + 1)), 2) - 1;
    }
  } catch (const std::exception&) {
  }
  return kUsualArray;
}

int submit_to_slurm(const Job& job, const SubmitArguments& a, const std::vector<std::size_t>& tasks) {
  const fs::path script = job.folder() / "slurm.sh";
  write_whole(script, slurm_script(job, a, tasks), "Slurm script");
  const std::size_t most = largest_array();
  std::string ids;
  for (std::size_t first = 0; first < job.tasks().size(); first += most) {
    const std::string array = array_of(tasks, first, first + most, a.workers);
    if (array.empty()) continue;
    const std::string answer =
        output_of({"sbatch", "--parsable", "--array=" + array,
                   fmt::format("--export=ALL,SIGHTLINE_FIRST_TASK={}", first), script.string()});
    const std::string id(trimmed(answer.substr(0, answer.find(';'))));
    spdlog::info("submitted array {} of tasks {}", id, array);
    ids += ':' + id;
  }
  if (a.output.empty()) return 0;
  const std::string answer =
      output_of({"sbatch", "--parsable", "--job-name=sightline-merge",
                 ids.empty() ? "--parsable" : "--dependency=afterany" + ids,
                 "--output=" + (job.folder() / "log" / "merge.txt").string(), "--wrap", merge_line(job, a)});
  spdlog::info("submitted merge {}", trimmed(answer));
  return 0;
}

// Runs the tasks as processes of this machine.
class LocalEngine {
 public:
  LocalEngine(const Job& job, const SubmitArguments& a) : job_(job), a_(a), words_(task_words(job, a)) {
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
    while (!stop && (next < tasks.size() || !running_.empty())) {
      while (next < tasks.size() && static_cast<int>(running_.size()) < workers_)
        start_task(tasks[next++], 0);
      reap();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (!stop) return code_;
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
    const fs::path log = job_.folder() / "log" / fmt::format("{}.txt", number);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    try {
      running_.emplace(start(words_, output), Task{number, tries});
    } catch (...) {
      if (output >= 0) ::close(output);
      throw;
    }
    if (output >= 0) ::close(output);
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
    for (const auto& [task, code] : ended) {
      const bool is_final = code >= 2 && code <= 5;
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
  if (a.engine == "print") return print_script(job, a, tasks);
  if (a.engine == "slurm") return submit_to_slurm(job, a, tasks);
  const int code = LocalEngine(job, a).run(tasks);
  if (code != 0 || a.output.empty()) return code;
  MergeArguments merging;
  merging.folder = a.folder;
  merging.outputs = {a.output};
  merging.overwrite = true;
  return merge(merging);
}

}  // namespace sightline::apps::batch
