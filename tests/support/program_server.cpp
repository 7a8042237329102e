#include "support/program_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "support/program.hpp"

namespace sightline::test {
namespace {

bool is_for_the_loader(const std::string& variable) {
  return variable.starts_with("LD_") || variable.starts_with("GLIBC_TUNABLES=") ||
         variable.starts_with("MALLOC_");
}

// What a process inherits that no request contains.
struct Inherited {
  uid_t user = geteuid();
  bool ignores_hangup = [] {
    struct sigaction action {};
    sigaction(SIGHUP, nullptr, &action);
    return action.sa_handler == SIG_IGN;
  }();

  bool operator==(const Inherited&) const = default;
};

// The socket of a new server; -1 if there is none. The server ends with this process.
int start_server(const std::string& program) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  const int inherited = fcntl(ends[1], F_DUPFD, 3);
  Words arguments{program};
  // LD_BIND_NOW: the server looks up the functions of libraries once, instead of each run.
  Words variables{"LD_PRELOAD=" SIGHTLINE_PROGRAM_SERVER, "LD_BIND_NOW=1",
                  std::string(kServerVariable) + "=" + std::to_string(inherited)};
  for (char** variable = environ; *variable; ++variable) variables.emplace_back(*variable);
  pid_t pid = -1;
  if (posix_spawn(&pid, program.c_str(), nullptr, nullptr, pointers(arguments).data(),
                  pointers(variables).data()) != 0)
    close(std::exchange(ends[0], -1));
  close(inherited);
  close(ends[1]);
  return ends[0];
}

int server_of(const std::string& program) {
  static std::mutex mutex;
  static std::map<std::string, int> sockets;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = sockets.try_emplace(program, -1);
  if (is_new) found->second = start_server(program);
  return found->second;
}

bool send(int socket, const RequestHandles& handles) {
  RequestMessage message;
  cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof handles);
  std::memcpy(CMSG_DATA(header), handles.data(), sizeof handles);
  return sendmsg(socket, &message.header, MSG_NOSIGNAL) == 1;
}

// A file of the texts; see RequestHandle.
int file_of(const Words& arguments, const Words& environment, long file_limit) {
  std::string bytes;
  for (const Words& texts : {Words{std::to_string(file_limit), std::filesystem::current_path().string(),
                                   std::to_string(arguments.size())},
                             arguments, environment})
    for (const std::string& text : texts) bytes += text + '\0';
  const int file = memfd_create("request", MFD_CLOEXEC);
  if (write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("cannot write a request to a program server");
  return file;
}

}  // namespace

std::vector<char*> pointers(const Words& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

std::optional<ServedProcess> ServedProcess::start(const Words& arguments, const Words& environment,
                                                  const RequestHandles& handles, long file_limit) {
  static const Inherited at_first;
  if (kSanitized || Inherited() != at_first ||
      std::any_of(environment.begin(), environment.end(), is_for_the_loader))
    return std::nullopt;
  const int server = server_of(arguments.at(0));
  if (server < 0) return std::nullopt;
  int result[2];
  if (pipe2(result, O_CLOEXEC) != 0) return std::nullopt;
  RequestHandles sent = handles;
  sent[kRequest] = file_of(arguments, environment, file_limit);
  sent[kResult] = result[1];
  const bool is_sent = send(server, sent);
  close(sent[kRequest]);
  close(result[1]);
  pid_t id = -1;
  if (!is_sent || read(result[0], &id, sizeof id) != sizeof id) {
    close(result[0]);
    return std::nullopt;
  }
  return ServedProcess(id, result[0]);
}

ServedProcess::ServedProcess(ServedProcess&& other) noexcept
    : id_(other.id_), result_(std::exchange(other.result_, -1)) {}

ServedProcess& ServedProcess::operator=(ServedProcess&& other) noexcept {
  id_ = other.id_;
  std::swap(result_, other.result_);
  return *this;
}

ServedProcess::~ServedProcess() {
  if (result_ >= 0) close(result_);
}

std::optional<ProcessEnd> ServedProcess::wait(int milliseconds) const {
  pollfd handle{result_, POLLIN, 0};
  if (poll(&handle, 1, milliseconds) <= 0) return std::nullopt;
  ProcessEnd end;
  if (read(result_, &end, sizeof end) != sizeof end) end.status = SIGKILL;  // with its server
  return end;
}

}  // namespace sightline::test
