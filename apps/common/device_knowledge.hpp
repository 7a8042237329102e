#pragma once
/// Stored results of `sightline devices --characterise`, for decisions.

#include <memory>
#include <string>
#include <vector>

#include "pipeline/planning/transfers.hpp"
#include "processing/device_stages.hpp"

namespace sightline::apps {

/// How long copies take, by device; empty of one that was not characterised, or whose buffers are mapped.
std::vector<pipeline::TransferModel> known_transfers(
    const std::vector<std::unique_ptr<DeviceStages>>& devices);

/// Advice on placing stages, for people: a few lines per device.
std::string known_text(const std::vector<std::unique_ptr<DeviceStages>>& devices);

}  // namespace sightline::apps
