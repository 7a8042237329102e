// `sightline model show`: what a model file holds, in words and as a picture.
#include <algorithm>
#include <memory>
#include <regex>

#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/config_lookup.hpp"
#include "apps/cli/family_commands.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/detector_options.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "detectors/families.hpp"
#include "family/model_show.hpp"

namespace sightline::apps {
namespace {

// A family's description of its models, with the options that it has of its own.
struct Shown {
  const Family* family = nullptr;
  std::unique_ptr<ModelShow> show;
  OptionSet options;
};

struct ShowArguments {
  std::string model;
  std::optional<int> max_size;  ///< of the file, MiB
  std::vector<Shown> families;
  const CLI::App* command = nullptr;
};

// "Models of filter banks": heading of an option that not all families have.
std::string group_of(const Option& option, const std::vector<Shown>& families) {
  std::string titles;
  std::size_t count = 0;
  for (const Shown& one : families) {
    const auto same = [&](const Option& own) { return own.name == option.name; };
    if (std::ranges::none_of(one.options.all(), same)) continue;
    titles += (count++ == 0 ? "" : ", ") + std::string(one.family->info().title);
  }
  return count == families.size() ? option.group : "Models of " + titles;
}

// Of another family's models: they would pass silently.
void refuse_options(const ShowArguments& a, const Shown& own) {
  const auto is_own = [&](const Option& option) {
    const auto& all = own.options.all();
    return std::ranges::any_of(all, [&](const Option& one) { return one.name == option.name; });
  };
  for (const Shown& other : a.families) {
    for (const Option& option : other.options.all()) {
      if (option.is_harmless || is_own(option) || !is_given(*a.command, option)) continue;
      throw Error(ExitCode::usage, option.long_name() + " does nothing for the model '" + a.model + "'",
                  "leave it out");
    }
  }
}

int show_model(const ShowArguments& a) {
  const std::string file = find_model(a.model);
  const Family* const family = family_of_model(file);
  const auto found = std::ranges::find_if(a.families, [&](const Shown& one) { return one.family == family; });
  // The first family says what is wrong with a file that nobody knows.
  const Shown& shown = found == a.families.end() ? a.families.front() : *found;
  refuse_options(a, shown);
  ShowContext context = show_context(false);
  context.max_model_size = a.max_size;
  shown.show->show(file, context);
  return 0;
}

}  // namespace

void add_model(CLI::App& app, Common& common) {
  auto a = std::make_shared<ShowArguments>();
  std::string files;
  OptionSet options;
  for (const Family* family : families()) {
    auto show = family->make_model_show();
    if (!show) continue;
    for (const std::string& one :
         split(std::regex_replace(std::string(family->info().model_file), std::regex(" or "), "|"), '|')) {
      if (files.find(one) == std::string::npos) files += (files.empty() ? "" : ", ") + one;
    }
    OptionSet own = show->options();
    a->families.push_back({family, std::move(show), std::move(own)});
  }
  options.add("file", &a->model, "Model file, or the name of a shipped model (people): " + files)
      .suggest(model_choices)
      .require();
  add_model_size_option(options, a->max_size);
  for (const Shown& one : a->families) {
    for (Option option : one.options.all()) {
      if (option.long_name() == "--picture") option.checked_by(OutputFile{{".png"}});
      option.group = group_of(option, a->families);
      options.add(std::move(option));
    }
  }
  CLI::App& group = add_command_group(app, "model", "Describe a model file");
  a->command = &add_command(group, common, "show", "Describe a model; --picture draws its features", options,
                            [a] { return show_model(*a); });
}

}  // namespace sightline::apps
