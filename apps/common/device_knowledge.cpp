#include "apps/common/device_knowledge.hpp"

#include <fmt/format.h>

#include "characterisation/decisions.hpp"
#include "characterisation/record.hpp"
#include "opencl/context.hpp"
#include "pipeline/measurement/transfer_model.hpp"

namespace sightline::apps {
namespace {

std::string text_of(const opencl::Context& context) {
  const auto known = characterisation::remembered(context.device());
  if (!known) return context.name() + ": not characterised; run `sightline devices --characterise`.\n";
  std::string text = context.name() + ", results of `sightline devices --characterise`:\n";
  for (const characterisation::Decision& decision : known->decisions) {
    if (decision.id == "transfer" || decision.id == "stage_place" || decision.id == "fill")
      text += "  - " + decision.text + "\n";
  }
  const pipeline::TransferModel model = pipeline::transfer_model(*known);
  if (model.empty()) return text;
  constexpr double kBytes = characterisation::kFrameBytes;
  return text +
         fmt::format("  - A copy of {:.1f} MB takes {:.3g} ms up and {:.3g} ms down{}.\n", 1e-6 * kBytes,
                     1e3 * model.upload.seconds(kBytes), 1e3 * model.download.seconds(kBytes),
                     context.maps_buffers() ? "; but its buffers are mapped, and nothing is copied" : "");
}

}  // namespace

std::vector<pipeline::TransferModel> known_transfers(
    const std::vector<std::unique_ptr<DeviceStages>>& devices) {
  std::vector<pipeline::TransferModel> models;
  for (const auto& stages : devices) {
    const opencl::Context& context = opencl::context_of(stages->device());
    const auto known = context.maps_buffers() ? std::nullopt : characterisation::remembered(context.device());
    models.push_back(known ? pipeline::transfer_model(*known) : pipeline::TransferModel());
  }
  return models;
}

std::string known_text(const std::vector<std::unique_ptr<DeviceStages>>& devices) {
  std::string text;
  for (const auto& stages : devices) text += text_of(opencl::context_of(stages->device()));
  return text;
}

}  // namespace sightline::apps
