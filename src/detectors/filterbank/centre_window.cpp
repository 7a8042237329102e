#include "detectors/filterbank/centre_window.hpp"

namespace sightline::filterbank {

std::optional<CentredWindow> centre_window(GrayView picture, const WindowShape& window) {
  const int left = (picture.width() - window.pixels().width) / 2;
  const int top = (picture.height() - window.pixels().height) / 2;
  if (picture.width() < window.pixels().width || picture.height() < window.pixels().height)
    return std::nullopt;
  const int cut_x = left % kCell;
  const int cut_y = top % kCell;
  const GrayView view(picture.row(cut_y) + cut_x, picture.width() - cut_x, picture.height() - cut_y,
                      picture.stride());
  return CentredWindow{view, left / kCell, top / kCell};
}

}  // namespace sightline::filterbank
