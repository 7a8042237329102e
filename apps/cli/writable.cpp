#include "apps/cli/writable.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "evaluation/report.hpp"
#include "media/reader.hpp"

namespace sightline::apps {
namespace fs = std::filesystem;

void require_writable(const std::string& file) {
  if (file.empty() || file == "-") return;
  const auto refuse = [&](const std::string& reason) {
    throw Error(ExitCode::failed, "cannot write '" + file + "': " + reason, "choose another file");
  };
  std::error_code error;
  if (fs::is_directory(file, error)) refuse("it is a folder");
  const fs::path parent = fs::path(file).parent_path();
  const fs::path folder = parent.empty() ? fs::path(".") : parent;
  const bool exists = fs::exists(file, error);
  if (access((exists ? fs::path(file) : folder).c_str(), W_OK) != 0) refuse(std::strerror(errno));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw Error(ExitCode::failed, "cannot make the folder '" + folder.string() + "'" +
                                      (error ? " (" + error.message() + ")" : ""));
  }
}

void refuse_input(const std::string& input, const std::string& output) {
  if (output.empty() || !media::is_same_file(input, output)) return;
  throw Error(ExitCode::usage, "'" + output + "' is the input", "choose another name for the output");
}

void OutputFile::operator()(const std::string& file) const {
  static const std::set<std::string> known{
      ".avi", ".bmp",  ".csv",  ".gif", ".htm",  ".html", ".jpeg", ".jpg", ".json",        ".jsonl",
      ".jxl", ".md",   ".mkv",  ".mov", ".mp4",  ".npy",  ".onnx", ".pdf", ".safetensors", ".svg",
      ".tif", ".tiff", ".toml", ".txt", ".webm", ".webp", ".xml",  ".png", ".zip"};
  const std::string ending = lower_case(fs::path(file).extension().string());
  if (endings.empty() || !known.contains(ending) || std::ranges::find(endings, ending) != endings.end())
    return;
  throw Error(ExitCode::usage, "'" + file + "' would not be what its ending says",
              "choose a name that ends in " + endings.front());
}

void refuse_existing(const std::string& output) {
  std::error_code error;
  if (output == "-" || !fs::is_regular_file(output, error)) return;
  throw Error(ExitCode::usage, "'" + output + "' exists already",
              "choose another name, or replace it with --overwrite");
}

void refuse_same_outputs(const std::vector<std::string>& outputs) {
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    if (one->empty() || *one == "/dev/null") continue;
    const auto is_same = [&](const std::string& other) {
      return other == *one || media::is_same_file(other, *one);
    };
    if (std::none_of(outputs.begin(), one, is_same)) continue;
    throw Error(ExitCode::usage, "two outputs would both be written to '" + *one + "'",
                "choose another name for one of them");
  }
}

void require_usable_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs,
                            bool overwrite) {
  for (const std::string& output : outputs) {
    for (const std::string& input : inputs) refuse_input(input, output);
    if (!overwrite) refuse_existing(output);
    require_writable(output);
  }
  refuse_same_outputs(outputs);
}

ResultFormat detections_format(const std::string& file, const std::string& given) {
  const std::optional<ResultFormat> promised = guess_result_format(file);
  const ResultFormat format =
      given.empty() ? promised.value_or(ResultFormat::jsonl) : parse_result_format(given);
  const bool tells_nothing = !fs::path(file).has_extension() || file.starts_with("/dev/");
  if (file.empty() || file == "-" || tells_nothing || promised == format) return format;
  const bool is_json = format == ResultFormat::coco && promised == ResultFormat::json;
  if (!is_json)
    spdlog::warn("writing '{1}' in format {0}, although its extension suggests another", to_string(format),
                 file);
  return format;
}

void write_if_named(const std::string& file, const std::function<std::string()>& make_text) {
  if (file.empty()) return;
  write_report(file, make_text());
  spdlog::info("wrote {}", file);
}

}  // namespace sightline::apps
