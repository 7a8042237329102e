#pragma once
// Other programs that a test needs: started, watched, and gone when the test is, whatever happens.

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/program_server.hpp"

namespace sightline::test {

/// The full path of a program that is found as a shell finds it; empty if there is none.
inline std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/" + name; access(file.c_str(), X_OK) == 0) return file;
  return {};
}

struct ChildSetup {
  std::vector<std::string> environment;  ///< NAME=value, in addition to ours and before it
  std::vector<int> handles;              ///< file descriptors of ours that it gets under the same numbers
};

/// A program that runs while this object lives; it is killed at the end, and also where the test itself is
/// killed. Start it from a thread that lives as long: the kernel takes that thread's end for the test's.
class ChildProcess {
 public:
  /// @param arguments  the program, as a path or a name to find, and its arguments
  explicit ChildProcess(std::vector<std::string> arguments, const ChildSetup& setup = {}) {
    char name[] = "/tmp/sightline-child-XXXXXX";
    output_ = mkostemp(name, O_CLOEXEC);
    if (output_ < 0) throw std::runtime_error("no temporary file");
    unlink(name);
    if (arguments.at(0).find('/') == std::string::npos) arguments[0] = find_program(arguments[0]);
    std::vector<std::string> variables = setup.environment;
    for (char** variable = environ; *variable; ++variable) variables.emplace_back(*variable);
    const std::vector<char*> argv = pointers(arguments), envp = pointers(variables);
    const pid_t parent = getpid();
    id_ = fork();
    if (id_ == 0) {  // only calls that are safe between fork and exec
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(125);
      const int nothing = open("/dev/null", O_RDONLY);
      dup2(nothing, STDIN_FILENO);
      dup2(output_, STDOUT_FILENO);
      dup2(output_, STDERR_FILENO);
      for (const int handle : setup.handles) fcntl(handle, F_SETFD, 0);
      execve(argv[0], argv.data(), envp.data());
      _exit(127);
    }
    if (id_ < 0) throw std::runtime_error("cannot start " + arguments[0]);
  }
  ~ChildProcess() {
    kill();
    close(output_);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const { return id_; }
  void send(int signal) const {
    if (!exit_code_) ::kill(id_, signal);
  }
  /// Waits for the end. @return the exit code, or 128 + the signal that ended it; none when the time is up
  std::optional<int> wait(double seconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!exit_code_) {
      int status = 0;
      if (waitpid(id_, &status, WNOHANG) == id_)
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      else if (std::chrono::steady_clock::now() > until)
        break;
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return exit_code_;
  }
  bool is_running() { return !wait(0); }
  /// Ends it at once; it is gone when this returns.
  void kill() {
    send(SIGKILL);
    while (!wait(1)) send(SIGKILL);
  }
  /// Output so far, including standard error.
  std::string output() const {
    std::string text;
    char part[4096];
    for (ssize_t count = 0; (count = pread(output_, part, sizeof part, static_cast<off_t>(text.size()))) > 0;)
      text.append(part, static_cast<std::size_t>(count));
    return text;
  }

 private:
  pid_t id_ = -1;
  int output_ = -1;
  std::optional<int> exit_code_;
};

}  // namespace sightline::test
