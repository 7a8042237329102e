#pragma once
// Starts programs without loading their libraries again. `sightline` has 180 of them, which takes longer than
// most runs of a test. The first start of a program loads it into a server process
// (support/process/program_server.cpp); each start is then a fork of the server that runs the program's
// `main` and ends without the destructors of libraries that the server has loaded.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "support/process/program_request.hpp"

namespace sightline::test {

/// The texts as exec takes them; they must outlive the result.
std::vector<char*> pointers(const std::vector<std::string>& texts);

/// A process that a server has started.
class ServedProcess {
 public:
  /// @param arguments    the program's path and its arguments
  /// @param environment  NAME=value, the whole one
  /// @param handles      kInput, kOutput and kErrors, which remain the caller's
  /// @param file_limit   largest size of a file in bytes; 0: no limit
  /// @return nothing if the process must be started in the usual way: under sanitizers, with variables that
  ///         the dynamic loader reads, for other users, while SIGHUP is ignored, and without a server
  static std::optional<ServedProcess> start(const std::vector<std::string>& arguments,
                                            const std::vector<std::string>& environment,
                                            const RequestHandles& handles, long file_limit);
  ServedProcess(ServedProcess&& other) noexcept;
  ServedProcess& operator=(ServedProcess&& other) noexcept;
  ~ServedProcess();

  pid_t id() const { return id_; }
  /// @param milliseconds  -1: no limit
  /// @return how it ended; nothing if it runs after that time. Not to be called again after it has ended
  std::optional<ProcessEnd> wait(int milliseconds) const;

 private:
  ServedProcess(pid_t id, int result) : id_(id), result_(result) {}

  pid_t id_;
  int result_;
};

}  // namespace sightline::test
