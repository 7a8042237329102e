#pragma once
/// Fault injection for tests: calls that can fail outside of Sightline (driver, codec, disk, memory) are
/// counted here, and the n-th call fails if the environment requests it.
///
///     SIGHTLINE_FAULT=write:17    the 17th write fails, counted from 1
///     SIGHTLINE_FAULT=write:17+   so do all that follow: the disk is full
///     SIGHTLINE_FAULT=any:17      the 17th call of whatever kind
///     SIGHTLINE_FAULT_REPORT=FILE what failed, at once, and how many calls of each kind there were, at the
///     end
///
/// Compiled in where CMake's SIGHTLINE_FAULTS is on, as it is with the tests; elsewhere `strikes` is false at
/// compile time and leaves nothing behind. tests/faults walks n over whole runs.

namespace sightline::fault {

enum class Kind {
  opencl,    ///< a call to an OpenCL driver
  allocate,  ///< memory that a C library is asked for
  make,  ///< memory that our own code asks for; only the program `sightline_failing_new` of the tests counts
         ///< it
  open,  ///< a file, a device or a stream is opened
  read,  ///< data is fetched from one: a packet, a model
  decode,
  encode,
  write,  ///< a file is written, completed or closed
};

#ifdef SIGHTLINE_FAULTS
/// Counts a call, and says whether it has to fail. Thread-safety: any thread. Allocates nothing.
/// @param call  what fails, for the report
bool strikes(Kind kind, const char* call) noexcept;
#else
constexpr bool strikes(Kind, const char*) noexcept {
  return false;
}
#endif

}  // namespace sightline::fault
