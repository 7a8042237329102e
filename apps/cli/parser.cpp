#include "apps/cli/parser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "apps/cli/choices.hpp"
#include "apps/cli/help.hpp"
#include "apps/cli/manual.hpp"
#include "apps/cli/suggest.hpp"
#include "apps/cli/version_text.hpp"
#include "detectors/registry.hpp"

namespace sightline::apps {

Parser::Parser()
    : app_(std::make_unique<CLI::App>("Finds objects in video in real time, on CPU cores and OpenCL devices.",
                                      "sightline")) {
  add_family(network::family());
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
  add_diff(app, common_);
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

namespace {

// The path of the command that the words lead to, and the command.
std::pair<std::string, const CLI::App*> chosen_command(const CLI::App& app) {
  const CLI::App* at = &app;
  std::string path = app.get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += ' ' + at->get_name();
  }
  return {path, at};
}

// A word that is neither option nor value.
std::string explain_extra(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  if (words.empty()) return "";
  const auto [path, command] = chosen_command(app);
  const auto inputs = command->get_options([](const CLI::Option* one) { return one->get_positional(); });
  const std::size_t count = inputs.size();
  const std::string takes = count == 0   ? "takes no input"
                            : count == 1 ? "takes one input"
                                         : fmt::format("takes {} inputs", count);
  return fmt::format("`{}` {}, and '{}' is one too many", path, takes, words.front());
}

std::string explain_missing(const CLI::App& app, std::string_view what) {
  const auto [path, command] = chosen_command(app);
  if (what.find("subcommand is required") != what.npos) {
    std::vector<std::string> names;
    for (const CLI::App* one : command->get_subcommands([](const CLI::App*) { return true; }))
      if (!one->get_group().empty()) names.push_back(one->get_name());
    return fmt::format("a command is missing after `{}`: {}", path, fmt::join(names, ", "));
  }
  const std::string_view name = what.substr(0, what.find(" is required"));
  return fmt::format("`{}` needs {}{}", path, name.starts_with('-') ? "the option " : "an input: ", name);
}

}  // namespace

std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  if (error.get_exit_code() == 0) return explain_subcommand(app);  // help is asked for, of what is not there
  const auto kind = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const std::string text = error.what();
  const auto parts = [&](std::string_view word) {
    const std::size_t at = text.find(word);
    return at == text.npos ? std::pair<std::string, std::string>()
                           : std::pair(text.substr(0, at), text.substr(at + word.size()));
  };
  // A word that it could not place may also be why it misses another.
  if (kind == CLI::ExitCodes::ExtrasError || kind == CLI::ExitCodes::RequiredError) {
    if (std::string problem = explain_subcommand(app); !problem.empty()) return problem;
    if (std::string problem = explain_option(app); !problem.empty()) return problem;
    return kind == CLI::ExitCodes::ExtrasError ? explain_extra(app) : explain_missing(app, text);
  }
  if (kind == CLI::ExitCodes::RequiresError) {
    const auto [one, other] = parts(" requires ");
    return one + " does nothing without " + other + "; give both";
  }
  if (kind == CLI::ExitCodes::ExcludesError) {
    const auto [one, other] = parts(" excludes ");
    return one + " and " + other + " contradict each other; give one of them";
  }
  if (kind == CLI::ExitCodes::ArgumentMismatch) {
    if (const std::string name = parts(": At Most 1 required").first; !name.empty())
      return name + " is given more than once; give it once";
    const std::string name = parts(": 1 required ").first;  // "--hold: 1 required FLOAT:POSITIVE missing"
    if (!name.empty() && text.ends_with(" missing")) return name + ": a value is missing";
  }
  return "";
}

}  // namespace sightline::apps
