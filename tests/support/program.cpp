#include "support/program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "opencl/device.hpp"

namespace sightline::test {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The program's environment: ours, with the configurations of the source tree and the sanitizers' lists.
Words environment(const Words& more) {
  const std::string source = SIGHTLINE_SOURCE_DIR;
  Words result = more;  // first: of two with one name, the first counts
  result.push_back("SIGHTLINE_CONFIGS=" + source + "/configs");
  const auto add = [&](const std::string& name, const std::string& own) {
    const char* given = std::getenv(name.c_str());
    result.push_back(name + "=" + own + (given ? std::string(":") + given : ""));
  };
  add("LSAN_OPTIONS", "print_suppressions=0:suppressions=" + source + "/tests/lsan.supp");
  // A suppression can only match a stack that is still remembered.
  add("TSAN_OPTIONS", "print_suppressions=0:history_size=7:suppressions=" + source + "/tests/tsan.supp");
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text(*variable);
    if (text.starts_with("SIGHTLINE_") || text.starts_with("LSAN_OPTIONS=") ||
        text.starts_with("TSAN_OPTIONS="))
      continue;
    result.emplace_back(text);
  }
  return result;
}

// Starts a program in the usual way. @return its process; -1 if there is none
pid_t execute(const Words& arguments, const Words& environment, const RequestHandles& handles,
              long file_limit) {
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  // Only calls that are safe between fork and exec.
  for (const int handle : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (dup2(handles[static_cast<std::size_t>(handle)], handle) < 0) _exit(126);
  const rlimit limit{static_cast<rlim_t>(file_limit), static_cast<rlim_t>(file_limit)};
  if (file_limit > 0) setrlimit(RLIMIT_FSIZE, &limit);
  execve(argv[0], argv.data(), envp.data());
  _exit(127);
}

// How a child ended; nothing if it has not ended after a time.
std::optional<ProcessEnd> wait_for(pid_t child, int milliseconds) {
  ProcessEnd end;
  rusage usage{};
  for (int waited = 0; wait4(child, &end.status, WNOHANG, &usage) != child; waited += 2) {
    if (milliseconds >= 0 && waited >= milliseconds) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  end.peak_kilobytes = usage.ru_maxrss;
  return end;
}

}  // namespace

Program::Program(const Words& arguments, const RunSetup& setup)
    : deadline_(now() + setup.timeout * (kSanitized ? 10 : 1)) {
  const Words texts = Words{setup.program.empty() ? SIGHTLINE_PROGRAM : setup.program} + arguments;
  const std::string input = setup.input.empty() ? "/dev/null" : setup.input;
  const std::string output = setup.output.empty() ? folder_ / "out" : setup.output;
  const std::string errors = folder_ / "err";
  RequestHandles handles{};
  handles[kInput] = open(input.c_str(), O_RDONLY | O_CLOEXEC);
  handles[kOutput] = setup.output_handle >= 0 ? setup.output_handle
                                              : open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  handles[kErrors] = open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const Words variables = environment(setup.environment);
  served_ = ServedProcess::start(texts, variables, handles, setup.file_limit);
  pid_ = served_ ? served_->id() : execute(texts, variables, handles, setup.file_limit);
  for (const int handle : {kInput, kOutput, kErrors}) close(handles[static_cast<std::size_t>(handle)]);
  if (pid_ < 0) throw std::runtime_error("cannot start the program");
}

Program::~Program() {
  if (ended_) return;
  kill(pid_, SIGKILL);
  while (!has_ended(-1)) {
  }
}

void Program::send(int signal) const {
  if (!ended_) kill(pid_, signal);
}

bool Program::has_ended(int milliseconds) {
  if (ended_) return true;
  const std::optional<ProcessEnd> end = served_ ? served_->wait(milliseconds) : wait_for(pid_, milliseconds);
  if (!end) return false;
  ended_ = true;
  outcome_.exit_code = WIFEXITED(end->status) ? WEXITSTATUS(end->status) : 128 + WTERMSIG(end->status);
  outcome_.peak_kilobytes = end->peak_kilobytes;
  return true;
}

bool Program::wait_until(const std::function<bool()>& condition) {
  while (!condition()) {
    if (has_ended(5) || now() > deadline_) return false;
  }
  return true;
}

Outcome Program::wait() {
  while (!has_ended(20)) {
    if (now() > deadline_ && !outcome_.timed_out) {
      outcome_.timed_out = true;
      ADD_FAILURE() << "the program did not end in time";
      kill(pid_, SIGKILL);
    }
  }
  outcome_.out = bytes_of(folder_ / "out");
  outcome_.err = bytes_of(folder_ / "err");
  return outcome_;
}

Outcome run(const Words& arguments, const RunSetup& setup) {
  return Program(arguments, setup).wait();
}

Outcome expect_run(int exit_code, const std::string& fact, const Words& arguments, const RunSetup& setup) {
  Outcome outcome = run(arguments, setup);
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_NE(outcome.err.find(fact), std::string::npos) << "expected '" << fact << "' in: " << outcome.err;
  return outcome;
}

Outcome expect_run(int exit_code, const Words& arguments, const RunSetup& setup) {
  return expect_run(exit_code, "", arguments, setup);
}

std::vector<Json> parse_lines(const std::string& text) {
  EXPECT_TRUE(text.empty() || text.back() == '\n') << "the last line is not whole";
  std::vector<Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) {
      ADD_FAILURE() << "not JSON: " << line;
      return lines;
    }
    lines.push_back(std::move(json));
  }
  return lines;
}

std::string moving_clip(int width, int height, int frames) {
  return "lavfi:mandelbrot=size=" + std::to_string(width) + "x" + std::to_string(height) +
         ":rate=10:start_scale=1:end_scale=0.01:end_pts=40,trim=end_frame=" + std::to_string(frames);
}

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool has_cpu_device(int compute_units) {
  const auto devices = opencl::list_devices();
  return std::any_of(devices.begin(), devices.end(), [&](const opencl::DeviceInfo& device) {
    return device.type == opencl::DeviceType::cpu && device.correctly_rounded_divide_sqrt &&
           device.compiler_available && device.compute_units >= compute_units;
  });
}

std::optional<std::string> people_clip() {
  const std::filesystem::path folder =
      std::filesystem::path(SIGHTLINE_SOURCE_DIR) / "../shared/data/people/pets09";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".avi") return entry.path().string();
  }
  return std::nullopt;
}

}  // namespace sightline::test
