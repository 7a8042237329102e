#pragma once
/// `sightline devices --decoders`: the hardware video decoders, tested.

#include <string>

namespace sightline::apps {

/// Tests each hardware decoder of this machine with each codec, prints a table, stores the results, and
/// writes them as JSON where a file is named. Returns the exit code. Throws Error.
int run_decoders(const std::string& json_file);

}  // namespace sightline::apps
