#pragma once
/// What the libraries may do to the process that they are part of: nothing, unless the program allows it.

namespace sightline {

struct ProcessPolicy {
  /// A call of another library that exceeds its limits (WorkLimit) and that nothing else can end, ends the
  /// process, with exit code 3. Otherwise the excess is logged, and the call goes on.
  bool ends_at_work_limit = false;
  /// OpenCL drivers are tried in forked copies of the process before they are loaded, since some crash or
  /// hang. Otherwise all are loaded untried. Tests of video decoders run in such copies, or not at all.
  bool tries_drivers_in_copies = false;
  /// Sessions raise TBB's limit of threads for the whole process, and so may have more threads than there are
  /// processors. Otherwise they leave it alone: a session then starts a thread of its own beside TBB's.
  bool raises_tbb_limit = false;
  /// Messages of FFmpeg go to the log. Otherwise they go where the program sends them.
  bool takes_ffmpeg_messages = false;
};

/// Sets the policy. To be called before the first use of the libraries, by one thread.
void set_process_policy(const ProcessPolicy& policy);
const ProcessPolicy& process_policy();

/// Of a program that does nothing else: all of it.
inline constexpr ProcessPolicy kOwnProcess{true, true, true, true};

}  // namespace sightline
