#pragma once
// Messages between a test process and a program server.

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <array>

namespace sightline::test {

/// Environment variable with the number of the server's socket. Each byte that the server reads there is a
/// request; it comes with these file descriptors.
inline constexpr const char* kServerVariable = "SIGHTLINE_PROGRAM_SERVER";

/// Index into RequestHandles. kRequest is a file of texts, each followed by a zero: the largest size of a
/// file in bytes (0: no limit), the working folder, the number of arguments, the arguments, the environment
/// (NAME=value). On kResult, the server writes the pid_t of the process, and a ProcessEnd when it has ended.
enum RequestHandle { kInput, kOutput, kErrors, kRequest, kResult, kRequestHandles };
using RequestHandles = std::array<int, kRequestHandles>;

/// A message with a byte and room for the file descriptors of a request.
struct RequestMessage {
  RequestMessage() {
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  RequestMessage(const RequestMessage&) = delete;
  RequestMessage& operator=(const RequestMessage&) = delete;

  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(RequestHandles))> control{};
  char byte = 0;
  iovec data{&byte, 1};
  msghdr header{};
};

struct ProcessEnd {
  int status = 0;           ///< as waitpid has it
  long peak_kilobytes = 0;  ///< largest resident set
};

}  // namespace sightline::test
