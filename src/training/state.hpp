#pragma once
/// State of a training run on disk, so that it can be stopped and resumed: a folder with one file for each
/// finished step. The family defines the steps and the arrays in their files.

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.hpp"
#include "model/safetensors.hpp"
#include "training/image_set.hpp"

namespace sightline::training {

/// Signature of a run: a text that differs for other pictures (their names in order) and other options, so
/// that a folder is never used for another run.
/// @param options  the family's name and everything that its steps' results depend on, as text
std::string run_signature(std::string_view options, std::initializer_list<const ImageSet*> sets);

/// Thread-safety: one thread at a time. Files are written whole or not at all.
class TrainingState {
 public:
  /// Makes the folder where it does not exist. Throws Error (failed) if it cannot be made.
  TrainingState(std::filesystem::path folder, std::string signature);

  /// Result of `read(arrays)` for the file of a finished step: named arrays (class Safetensors). No value,
  /// and the step has to be repeated, if there is no file, it has another signature, or it is damaged: cannot
  /// be read, or `read` throws Error.
  template <typename Read>
  auto load(const std::string& step, const Read& read) const
      -> std::optional<std::invoke_result_t<const Read&, const Safetensors&>> {
    const std::optional<Safetensors> arrays = find(step);
    if (!arrays) return std::nullopt;
    try {
      return read(*arrays);
    } catch (const Error& error) {
      report_damage(error);
      return std::nullopt;
    }
  }

  /// Stores the result of a finished step. Replaces an older file.
  /// @param step  file name: letters, digits and hyphens Throws Error (failed) if the file cannot be written.
  void save(const std::string& step, Safetensors arrays) const;

 private:
  std::filesystem::path file(const std::string& step) const { return folder_ / (step + ".safetensors"); }
  std::optional<Safetensors> find(const std::string& step) const;
  static void report_damage(const Error& error);

  std::filesystem::path folder_;
  std::string signature_;
};

}  // namespace sightline::training
