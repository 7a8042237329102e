#pragma once
/// Transfer times of a characterised device, for plans.

#include "characterisation/characteristics.hpp"
#include "pipeline/planning/transfers.hpp"

namespace sightline::pipeline {

/// From and to pinned memory, which the pipeline copies by; empty where that was not measured.
TransferModel transfer_model(const characterisation::Characteristics& device);

}  // namespace sightline::pipeline
