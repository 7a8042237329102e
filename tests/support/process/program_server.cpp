// Preloaded into a program (LD_PRELOAD): takes the place of its `main`, loads the libraries once, and forks a
// process for each request of `ServedProcess`. The fork runs the program's own `main`. See
// support/program_server.hpp.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "support/process/program_request.hpp"

namespace sightline::test {
namespace {

using Main = int (*)(int, char**, char**);
Main main_of_program = nullptr;
// Whether the constructors of libraries run now. No run calls their destructors: those of 180 libraries take
// longer than most runs of a test, since each writes to pages that the processes share until then.
bool is_loading = true;

struct Request {
  std::vector<std::string> texts;  // as kRequest describes
  RequestHandles handles{};
};

std::vector<std::string> texts_of(int file) {
  std::vector<std::string> texts;
  std::string bytes(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  if (pread(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) _exit(126);
  for (std::size_t at = 0; at < bytes.size(); at += texts.back().size() + 1)
    texts.emplace_back(bytes.c_str() + at);
  return texts;
}

// Ends the server when the test process has ended.
Request receive(int socket) {
  Request request;
  RequestMessage message;
  if (recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC) != 1) _exit(0);
  std::memcpy(request.handles.data(), CMSG_DATA(CMSG_FIRSTHDR(&message.header)), sizeof request.handles);
  request.texts = texts_of(request.handles[kRequest]);
  close(request.handles[kRequest]);
  return request;
}

int run_program(Request& request, const sigset_t& signals) {
  for (const int handle : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (dup2(request.handles[static_cast<std::size_t>(handle)], handle) < 0) _exit(126);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  const auto number = [&](int i) {
    return std::strtoul(request.texts[static_cast<std::size_t>(i)].c_str(), nullptr, 10);
  };
  const rlimit limit{number(0), number(0)};
  if (limit.rlim_max > 0) setrlimit(RLIMIT_FSIZE, &limit);
  if (chdir(request.texts[1].c_str()) != 0) _exit(126);
  // Never destroyed: destructors of libraries read the environment.
  std::vector<char*>& arguments = *new std::vector<char*>;
  std::vector<char*>& variables = *new std::vector<char*>;
  const std::size_t first_variable = 3 + number(2);
  for (std::size_t i = 3; i < request.texts.size(); ++i)
    (i < first_variable ? arguments : variables).push_back(request.texts[i].data());
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  environ = variables.data();
  return main_of_program(count, arguments.data(), environ);
}

void report_ended(std::map<pid_t, int>& results) {
  ProcessEnd end;
  rusage usage{};
  for (pid_t pid = 0; (pid = wait4(-1, &end.status, WNOHANG, &usage)) > 0;) {
    end.peak_kilobytes = usage.ru_maxrss;
    const int result = results.at(pid);
    if (write(result, &end, sizeof end) != sizeof end) _exit(126);
    close(result);
    results.erase(pid);
  }
}

// Returns the program's exit code in a forked process; the server itself never returns.
int serve(int socket) {
  sigset_t child, before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &before);
  pollfd handles[] = {{socket, POLLIN, 0}, {signalfd(-1, &child, SFD_CLOEXEC), POLLIN, 0}};
  std::map<pid_t, int> results;
  for (;;) {
    poll(handles, 2, -1);
    if (handles[1].revents != 0) {
      signalfd_siginfo ignored;
      if (read(handles[1].fd, &ignored, sizeof ignored) < 0) _exit(126);
      report_ended(results);
    }
    if (handles[0].revents == 0) continue;
    Request& request = *new Request(receive(socket));  // as long as the forked process
    const pid_t pid = fork();
    if (pid == 0) return run_program(request, before);
    for (const int handle : {kInput, kOutput, kErrors})
      close(request.handles[static_cast<std::size_t>(handle)]);
    const int result = request.handles[kResult];
    delete &request;
    if (write(result, &pid, sizeof pid) != sizeof pid) _exit(126);
    results[pid] = result;
  }
}

// Libraries that programs load at run time: LLVM, which OpenCL's driver for CPUs needs, and libavdevice. A
// driver itself must not be loaded: the program tries drivers first.
void load_libraries() {
  is_loading = true;
  for (const char* const name : {SIGHTLINE_LOADED_LIBRARIES}) dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  is_loading = false;
}

int main_of_server(int, char**, char**) {
  load_libraries();
  return serve(std::atoi(std::getenv(kServerVariable)));
}

}  // namespace
}  // namespace sightline::test

// Libraries and the program register their destructors here.
extern "C" __attribute__((visibility("default"))) int __cxa_atexit(void (*function)(void*),  // NOLINT
                                                                   void* argument, void* library) {
  if (sightline::test::is_loading) return 0;
  static const auto real = reinterpret_cast<decltype(&__cxa_atexit)>(dlsym(RTLD_NEXT, "__cxa_atexit"));
  return real(function, argument, library);
}

// The C library calls it with the program's `main` when all libraries are ready. Another one calls their
// destructors.
extern "C" __attribute__((visibility("default"))) int __libc_start_main(  // NOLINT
    sightline::test::Main main, int count, char** words, void (*init)(), void (*fini)(), void (*)(),
    void* stack) {
  sightline::test::main_of_program = main;
  sightline::test::is_loading = false;
  const auto start = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(sightline::test::main_of_server, count, words, init, fini, nullptr, stack);
}
