#pragma once
/// Bands of pictures as parts of a job.

#include <filesystem>

#include "apps/batch/choices.hpp"
#include "apps/batch/part_file.hpp"
#include "apps/texture/texture_run.hpp"

namespace sightline::apps::batch {

/// The files that belong to a part, by the name of its own.
TextureFiles part_files(const TextureJobChoice& choice, const std::filesystem::path& part);

TileRows rows_of(const Job& job, const Job::Place& place);

void put_band(ByteWriter& bytes, const TextureBand& band);
TextureBand get_band(ByteReader& bytes, const TextureChoice& choice);

/// Adds a band to the sum of those above it.
void add_band(TextureBand& sum, const TextureBand& band);

}  // namespace sightline::apps::batch
