#include <CLI/CLI.hpp>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/complete.hpp"
#include "apps/cli/parser.hpp"
#include "targets.hpp"

namespace sightline::fuzz {
namespace {

// Completion offers what the machine has: drivers of OpenCL devices are none of ours to fuzz, and slow.
void hide_devices() {
  for (const char* loader : {"OPENCL_VENDOR_PATH", "OCL_ICD_VENDORS"}) setenv(loader, "/nonexistent/", 1);
}

// A line each; what follows a zero is lost, as in any word that a program is given.
std::vector<std::string> words_of(Bytes bytes) {
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> words;
  for (std::string line; std::getline(lines, line);) words.emplace_back(line.c_str());
  return words;
}

void parse(const std::vector<std::string>& words) {
  std::vector<const char*> arguments{"sightline"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  apps::Parser parser;
  try {
    parser.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    apps::explain(error, parser.app());
    std::ostringstream text;  // --help and --version among others
    parser.app().exit(error, text, text);
  }
}

}  // namespace

void command_line(Bytes bytes) {
  [[maybe_unused]] static const bool hidden = (hide_devices(), true);
  const std::vector<std::string> words = words_of(bytes);
  parse(words);
  static apps::Parser unused;  // to make one takes longer than all else here
  apps::complete(unused.app(), unused.common().suggestions, words);
}

}  // namespace sightline::fuzz
