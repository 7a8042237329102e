#pragma once
// Runs the `sightline` program as a user does, and says what came of it.

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/program_server.hpp"
#include "support/temp_dir.hpp"

namespace sightline::test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;  ///< arguments of a program

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Result of a program that has ended.
struct Outcome {
  int exit_code = -1;  ///< 128 + the number of the signal that ended it, as shells have it
  bool timed_out = false;
  std::string out;
  std::string err;
  long peak_kilobytes = 0;  ///< largest resident set
};

struct RunSetup {
  std::string input;       ///< file for standard input; empty: nothing to read
  std::string output;      ///< file for standard output in place of Outcome::out
  int output_handle = -1;  ///< or a file descriptor; it is closed in this process once the program has it
  long file_limit = 0;     ///< bytes that a file may have; 0: no limit
  double timeout = 180;    ///< seconds until the program is killed; more under sanitizers
  std::string program;     ///< another one in its place
  Words environment;       ///< NAME=value, in addition
};

/// A run of the program. The destructor ends the program.
class Program {
 public:
  explicit Program(const Words& arguments, const RunSetup& setup = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const;
  /// Waits until the condition holds; false if the program ended or the time is up before.
  bool wait_until(const std::function<bool()>& condition);
  /// Waits for the end; kills the program when its time is up.
  Outcome wait();

 private:
  /// @param milliseconds  to wait for the end; -1: no limit
  bool has_ended(int milliseconds);

  TempDir folder_;
  std::optional<ServedProcess> served_;  ///< nothing: a child of this process
  pid_t pid_ = -1;
  double deadline_ = 0;
  bool ended_ = false;
  Outcome outcome_;
};

/// Runs the program to its end.
Outcome run(const Words& arguments, const RunSetup& setup = {});

/// Runs it and expects an exit code and, in standard error, a fact: a file, an option, a value.
Outcome expect_run(int exit_code, const std::string& fact, const Words& arguments,
                   const RunSetup& setup = {});
Outcome expect_run(int exit_code, const Words& arguments, const RunSetup& setup = {});

/// The lines of a JSON lines text. Fails the test where one is not JSON, or the last one does not end.
std::vector<Json> parse_lines(const std::string& text);

/// A moving picture in which a person detector with `kFindsSome` finds something.
std::string moving_clip(int width, int height, int frames);
/// Options that make the detector report many objects in any texture.
inline const Words kFindsSome{"--threshold", "-4", "--no-verify", "--scale-step", "1.3"};

Words operator+(Words a, const Words& b);

/// Whether there is an OpenCL device on the CPU that the program can use.
/// @param compute_units  that it must have at least
bool has_cpu_device(int compute_units = 1);

/// The surveillance clip with people, where the data is there.
std::optional<std::string> people_clip();

}  // namespace sightline::test
