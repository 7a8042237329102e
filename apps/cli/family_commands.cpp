#include "apps/cli/family_commands.hpp"

#include <fmt/format.h>

#include <memory>

#include "apps/cli/commands.hpp"
#include "apps/cli/status_line.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/media_options.hpp"
#include "base/error.hpp"
#include "characterisation/peak.hpp"
#include "characterisation/probe.hpp"
#include "family/family_command.hpp"
#include "media/download.hpp"
#include "media/reader.hpp"
#include "opencl/device.hpp"
#include "opencl/opened_device.hpp"

namespace sightline::apps {
namespace {

void each_picture(const std::string& path, bool in_colour, const std::function<void(PictureView)>& each) {
  require_present(path);
  media::ReadOptions reading;
  reading.stop = &stop_requested();
  reading.keep_colour = in_colour;
  media::Reader reader(path, reading);
  while (const auto frame = reader.read()) {
    if (stop_requested()) break;
    each(frame->view());
  }
  throw_if_stopped();
}

MeasuredDevice open_named(const std::string& name) {
  const auto chosen = opencl::choose_device(opencl::parse_device_choice(name), opencl::list_devices());
  if (!chosen)
    throw Error(name == "none" ? ExitCode::usage : ExitCode::device, "--device " + name + " gives no device",
                "`sightline devices` lists them");
  std::shared_ptr<ComputeDevice> device = opencl::open_device(*chosen);
  const double rate = characterisation::measure_multiply_adds(opencl::opened_from(*device));
  return {std::move(device), rate};
}

void download(const DownloadRequest& request, const std::filesystem::path& file) {
  const std::atomic<bool>& stop = stop_requested();
  StatusLine line;
  const auto show = [&](std::uint64_t done) {
    constexpr double kMebibyte = 1 << 20;
    line.show(fmt::format("{}: {:.1f} of {:.1f} MiB", request.name, static_cast<double>(done) / kMebibyte,
                          static_cast<double>(request.bytes) / kMebibyte));
  };
  media::download(
      {request.name, request.url, request.bytes, request.sha256, request.may_be_plain}, file,
      [&] { return stop.load(); }, show);
}

}  // namespace

void refuse_family(std::string_view command, const std::string& titles, const std::string& what) {
  throw Error(ExitCode::usage,
              "`sightline " + std::string(command) + "` is for " + titles + ", and '" + what +
                  "' belongs to another family",
              "`sightline evaluate frames` and `sightline measure` take any detector");
}

ShowContext show_context(bool in_colour) {
  ShowContext context;
  context.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  context.pictures = [in_colour](const std::string& path, const std::function<void(PictureView)>& each) {
    each_picture(path, in_colour, each);
  };
  context.peak_multiply_adds = characterisation::peak_multiply_adds_of_all;
  context.device = open_named;
  context.download = download;
  context.sha256_of = media::sha256_of;
  return context;
}

void add_family_commands(CLI::App& app, Common& common) {
  for (const Family* family : families()) {
    std::vector<std::unique_ptr<FamilyCommand>> commands = family->make_commands();
    if (commands.empty()) continue;
    CLI::App& group =
        add_command_group(app, std::string(family->info().name), std::string(family->info().commands));
    for (auto& one : commands) {
      const std::shared_ptr<FamilyCommand> command = std::move(one);
      const OptionSet own = command->options();
      OptionSet options;
      for (Option option : own.all()) {
        if (option.long_name() == "--picture") option.checked_by(OutputFile{{".png"}});
        if (option.long_name() == "--graph") option.checked_by(OutputFile{{".svg"}});
        options.add(std::move(option));
      }
      add_command(group, common, command->name(), command->description(), options, [command] {
        command->run(show_context(true));
        return 0;
      });
    }
  }
}

}  // namespace sightline::apps
