#pragma once
/// Contact sheet of the samples that `sightline samples` has made.

#include <filesystem>

#include "training/sample_folder.hpp"

namespace sightline::apps {

/// Writes a picture (PNG): a row an object, as it is marked and then its first copies, some for training and
/// some for testing; then scenes with their boxes. Throws Error (failed, input).
void write_sample_sheet(const std::filesystem::path& file, const training::SampleFolder& samples,
                        const training::SampleFolderOptions& options);

}  // namespace sightline::apps
