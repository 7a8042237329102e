#pragma once
// Runs the program on a file that may be damaged in any way, and says whether it did what it promises.

#include <string>
#include <vector>

#include "support/program.hpp"

namespace sightline::damaged {

/// What a run may take, whatever the file is.
struct Bounds {
  double seconds = 20;
  long peak_kilobytes = 1'500'000;  ///< largest resident set
};

struct Verdict {
  std::string problem;  ///< empty: as promised
  int exit_code = 0;
  std::vector<std::string> lines;  ///< what was found, a frame each
  double seconds = 0;
  long peak_kilobytes = 0;
  std::string messages;
};

/// Promised is: an end within the bounds, with 0 and a line of JSON for each frame, numbered rising from 1;
/// with 1 where none of these could be searched, each for a reason that it tells; or with 3 and a message
/// that names the file.
Verdict check_file(const std::string& file, const Bounds& bounds = {});

}  // namespace sightline::damaged
