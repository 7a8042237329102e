// `sightline diff`: compares two files of results.
#include <cstdio>
#include <memory>
#include <string>

#include "apps/cli/commands.hpp"
#include "apps/common/result_comparison.hpp"

namespace sightline::apps {
namespace {

struct DiffArguments {
  std::string expected;
  std::string found;
};

int run_diff(const DiffArguments& a, int verbosity) {
  ResultComparison comparison(a.expected, a.found);
  comparison.compare_file(a.found);
  comparison.finish();
  if (verbosity >= 0) std::fputs(comparison.text().c_str(), stdout);
  return comparison.is_same() ? 0 : kResultsDiffer;
}

}  // namespace

void add_diff(CLI::App& app, Common& common) {
  auto a = std::make_shared<DiffArguments>();
  OptionSet options;
  options
      .add("expected", &a->expected, "Expected results (.jsonl, .json), as `detect --detections` writes them")
      .require();
  options.add("found", &a->found, "Results to compare with them").require();
  add_command(app, common, "diff", "Compare two files of results exactly", options,
              [a, &common] { return run_diff(*a, common.verbosity); });
}

}  // namespace sightline::apps
