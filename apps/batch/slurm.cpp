// Submits the tasks of a job as arrays of Slurm.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "apps/batch/scripts.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

extern char** environ;

namespace sightline::apps::batch {
namespace {

constexpr std::size_t kUsualArray = 1000;  // tasks of an array; Slurm's own limit is one more

// Text that a program reads or writes as one of its standard streams, in memory.
class MemoryStream {
 public:
  explicit MemoryStream(std::string_view text = {}) : descriptor_(::memfd_create("sightline", MFD_CLOEXEC)) {
    while (descriptor_ >= 0 && !text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (descriptor_ < 0 || !text.empty() || ::lseek(descriptor_, 0, SEEK_SET) < 0)
      throw Error(ExitCode::failed, std::string("cannot make a file in memory: ") + std::strerror(errno));
  }
  ~MemoryStream() { ::close(descriptor_); }
  MemoryStream(const MemoryStream&) = delete;
  MemoryStream& operator=(const MemoryStream&) = delete;

  int descriptor() const { return descriptor_; }
  // At most 64 KiB of it.
  std::string text() const {
    std::string text(64 << 10, 0);
    const ssize_t size = ::pread(descriptor_, text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

 private:
  int descriptor_;
};

// In one line.
std::string joined(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return std::string(trimmed(text));
}

// Standard output of a command that ends with 0. Its messages go to the log.
std::string output_of(const std::vector<std::string>& words, const std::string& input = {}) {
  const MemoryStream in(input), out, messages;
  const pid_t process = start_program(words, in.descriptor(), out.descriptor(), messages.descriptor());
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string said = messages.text();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(ExitCode::failed,
                "'" + words.front() + "' has failed: " + joined(said.empty() ? out.text() : said));
  for (const std::string& line : split(said, '\n')) spdlog::info("{}", line);
  return out.text();
}

struct Submitted {
  std::string id;
  std::string cluster;  // empty: the default one
};

// `sbatch --parsable` prints "ID" or "ID;CLUSTER"; programs around it may print more lines.
Submitted submitted_by(const std::vector<std::string>& words, const std::string& script) {
  const std::string output = output_of(words, script);
  std::optional<Submitted> found;
  for (const std::string& row : split(output, '\n')) {
    const std::string line(trimmed(row));
    const std::string id = line.substr(0, line.find(';'));
    if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos) continue;
    found = {id, id.size() < line.size() ? line.substr(id.size() + 1) : ""};
  }
  if (!found)
    throw Error(ExitCode::failed, "sbatch has not printed a job's number, but '" + joined(output) + "'",
                "`squeue` shows what was submitted");
  return *found;
}

struct SlurmOption {
  const char* name;
  char letter;
};

// Options that say where a job may run, and on whose account: the merge needs them as the tasks do.
constexpr std::array kPlaceOptions{
    SlurmOption{"--account", 'A'},   SlurmOption{"--partition", 'p'},  SlurmOption{"--time", 't'},
    SlurmOption{"--clusters", 'M'},  SlurmOption{"--cluster", 'M'},    SlurmOption{"--qos", 'q'},
    SlurmOption{"--reservation", 0}, SlurmOption{"--constraint", 'C'}, SlurmOption{"--wckey", 0}};

// The value of an option among words, in each form that sbatch takes; the last one counts.
std::optional<std::string> value_of(const std::vector<std::string>& words, const SlurmOption& option) {
  const std::string name = option.name;
  std::optional<std::string> value;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_letter =
        option.letter != 0 && word.size() >= 2 && word[0] == '-' && word[1] == option.letter;
    if (word.starts_with(name + '=')) value = word.substr(name.size() + 1);
    if (is_letter && word.size() > 2) value = word.substr(2);
    if ((word == name || (is_letter && word.size() == 2)) && i + 1 < words.size()) value = words[i + 1];
  }
  return value;
}

std::size_t largest_array(const std::optional<std::string>& cluster) {
  std::vector<std::string> words{"scontrol", "show", "config"};
  if (cluster && cluster->find(',') == std::string::npos)
    words.insert(words.begin() + 1, "--clusters=" + *cluster);
  try {
    for (const std::string& line : split(output_of(words), '\n')) {
      if (!line.starts_with("MaxArraySize")) continue;
      return std::max<std::size_t>(std::stoul(line.substr(line.find('=') + 1)), 2) - 1;
    }
  } catch (const std::exception&) {
  }
  return kUsualArray;
}

}  // namespace

pid_t start_program(const std::vector<std::string>& words, int input, int output, int error) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const auto& [from, to] :
       {std::pair(input, STDIN_FILENO), {output, STDOUT_FILENO}, {error, STDERR_FILENO}})
    if (from >= 0) posix_spawn_file_actions_adddup2(&actions, from, to);
  pid_t process = -1;
  const int problem = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0)
    throw Error(ExitCode::failed, "cannot start '" + words.front() + "': " + std::strerror(problem),
                words.front() == "sbatch" ? "use --engine local, or --engine print for other engines" : "");
  return process;
}

void submit_to_slurm(const Job& job, const SubmitArguments& a, const std::vector<std::size_t>& tasks) {
  check_names(job, a);
  const std::vector<std::string> own = sbatch_words(a.options);
  const std::optional<std::string> dependency = value_of(own, {"--dependency", 'd'});
  std::optional<std::string> cluster = value_of(own, {"--clusters", 'M'});
  if (!cluster) cluster = value_of(own, {"--cluster", 'M'});
  const std::size_t most = largest_array(cluster);
  std::vector<std::string> ids;
  for (std::size_t first = 0; first < job.tasks().size(); first += most) {
    const std::string array = array_of(tasks, first, first + most, a.workers);
    if (array.empty()) continue;
    std::vector<std::string> words = array_words(job, a);
    words.insert(words.begin(), {"sbatch", "--parsable", "--array=" + array});
    // The limit of an array is its own: for one of all arrays, they run one after the other.
    if (a.workers > 0 && !ids.empty())
      words.push_back("--dependency=" + (dependency ? *dependency + ',' : "") + "afterany:" + ids.back());
    if (!ids.empty() && cluster) words.push_back("--clusters=" + *cluster);
    const Submitted submitted = submitted_by(words, "#!/bin/bash\n" + slurm_script(job, a, first));
    if (!submitted.cluster.empty()) cluster = submitted.cluster;  // numbers count within a cluster
    spdlog::info("submitted array {} of tasks {}", submitted.id, array);
    ids.push_back(submitted.id);
  }
  if (a.output.empty()) return;
  std::vector<std::string> words{"sbatch", "--parsable", "--job-name=sightline-merge"};
  std::string after;
  for (const std::string& id : ids) after += ':' + id;
  if (!ids.empty()) words.push_back("--dependency=afterany" + after);
  std::string log = (job.folder() / "log" / "merge.txt").string();
  for (std::size_t at = 0; (at = log.find('%', at)) != std::string::npos; at += 2) log.insert(at, 1, '%');
  words.insert(words.end(), {"--output=" + log, "--open-mode=append"});
  for (const SlurmOption& option : kPlaceOptions) {
    if (option.letter == 'M') continue;
    if (const auto value = value_of(own, option)) words.push_back(std::string(option.name) + '=' + *value);
  }
  if (cluster) words.push_back("--clusters=" + *cluster);
  const Submitted merge = submitted_by(words, "#!/bin/bash\n" + merge_line(job, a) + '\n');
  spdlog::info("submitted merge {}", merge.id);
}

}  // namespace sightline::apps::batch
