#include "apps/cli/parser.hpp"

#include <CLI/CLI.hpp>

#include "apps/cli/choices.hpp"
#include "apps/cli/help.hpp"
#include "apps/cli/manual.hpp"
#include "apps/cli/suggest.hpp"
#include "apps/cli/version_text.hpp"
#include "detectors/more_families.hpp"

namespace sightline::apps {

Parser::Parser()
    : app_(std::make_unique<CLI::App>("Finds objects in video in real time, on CPU cores and OpenCL devices.",
                                      "sightline")) {
  add_more_families();
  CLI::App& app = *app_;
  app.option_defaults()->take_last();  // so that what a user adds counts, not what a script has put before
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", version_report, "Show the versions of the program and its libraries");
  OptionSet options;
  options.add("-q,--quiet", &quiet_, "Print errors only");
  options.add("-v,--verbose", &verbose_, "Also print rates, stage times and debugging messages")
      .excludes("--quiet");
  options
      .add("--instruction-set SET", &instruction_set_,
           "Highest instruction set to use: ssse3, sse4, avx2, avx512, avx512-vnni")
      .suggest(instruction_set_choices);
  add_options(app, options, common_.suggestions);
  add_detect(app, common_);
  add_live(app, common_);
  add_evaluate(app, common_);
  add_measure(app, common_);
  add_faces(app, common_);
  add_texture(app, common_);
  add_label(app, common_);
  add_samples(app, common_);
  add_train(app, common_);
  add_batch(app, common_);
  add_config(app, common_);
  add_model(app, common_);
  add_family_commands(app, common_);
  add_devices(app, common_);
  add_tune(app, common_);
  add_manual(app, common_.run);
  add_help(app);
}

Parser::~Parser() = default;

void Parser::parse(int argc, const char* const* argv) {
  app_->parse(argc, argv);
  common_.verbosity = quiet_ ? -1 : verbose_ ? 1 : 0;
}

std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  if (error.get_exit_code() == 0) return explain_subcommand(app);  // help is asked for, of what is not there
  const auto kind = static_cast<CLI::ExitCodes>(error.get_exit_code());
  // A word that it could not place may also be why it misses another.
  if (kind == CLI::ExitCodes::ExtrasError || kind == CLI::ExitCodes::RequiredError) {
    if (std::string problem = explain_subcommand(app); !problem.empty()) return problem;
    return explain_option(app);
  }
  if (kind == CLI::ExitCodes::ArgumentMismatch) {
    const std::string_view what = error.what();
    if (const std::size_t colon = what.find(": At Most 1 required"); colon != std::string_view::npos)
      return std::string(what.substr(0, colon)) +
             " is given more than once; name one file";  // "--hold: 1 required FLOAT:POSITIVE missing"
    const std::string text = error.what();
    const std::size_t end = text.find(": 1 required ");
    if (end != std::string::npos && text.ends_with(" missing"))
      return text.substr(0, end) + ": a value is missing";
  }
  return "";
}

}  // namespace sightline::apps
