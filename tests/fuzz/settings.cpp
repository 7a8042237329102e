#include <cstdlib>
#include <string>

#include "apps/common/quality_options.hpp"
#include "base/error.hpp"
#include "params/config.hpp"
#include "targets.hpp"

namespace sightline::fuzz {

void settings(Bytes bytes) {
  // A zero ends the words that a program is given.
  const std::string text(std::string(bytes.begin(), bytes.end()).c_str());
  const auto usage_alone = [](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      if (error.code() != ExitCode::usage) std::abort();
    }
  };
  usage_alone([&] {
    for (const OperatingPointChanges& changes : apps::parse_settings(text)) {
      for (const auto& change : changes) {
        const std::string& key = change.first;  // no structured binding: Clang 14 cannot capture one
        Config config = Config::parse("[detector]\n", "fuzzed.toml");
        config.set("detector", key, change.second);
        // Whatever a family reads it as.
        usage_alone([&] { config.optional_number("detector", key, -1e3, 1e3); });
        usage_alone([&] { config.optional_whole_number("detector", key, -1000, 1000); });
        usage_alone([&] { config.flag("detector", key, false); });
        usage_alone([&] { config.text("detector", key, ""); });
        usage_alone([&] { config.path("detector", key, ""); });
      }
    }
  });
}

}  // namespace sightline::fuzz
