#pragma once
/// A filter-bank model in words, for `sightline model show`.

#include <filesystem>
#include <span>
#include <string>

#include "detectors/filterbank/model.hpp"

namespace sightline::filterbank {

/// Text about a model's content and training, one line per property. Reads the file's header again.
std::string model_text(const std::filesystem::path& file, const Model& model);

/// A line for each size of a model, with how good it was found to be, and on which data: once behind all
/// sizes that share them.
std::string sizes_text(std::span<const Model> sizes);

}  // namespace sightline::filterbank
