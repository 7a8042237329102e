// The detector in plain scalar code on one thread; its grouping is plain already.
#include "detectors/cascade/comparison.hpp"
#include "image/integral.hpp"

namespace sightline::cascade {
namespace {

class ReferenceDetector : public CascadeDetector {
 public:
  using CascadeDetector::CascadeDetector;

 private:
  void build_pyramid(CascadeWorkspace& w) const override {
    w.make_luma();
    for (std::size_t i = 0; i < w.levels.size(); ++i) {
      const LevelWork& level = w.levels[i];
      resample_rows_reference(w.luma(), level.samples.columns, level.samples.rows, level.image.begin,
                              level.image.end, w.image(static_cast<int>(i)));
    }
  }

  void integrate_all(CascadeWorkspace& w) const override {
    for (std::size_t i = 0; i < w.levels.size(); ++i) {
      const Rows rows = w.levels[i].image;
      for (int plane = 0; plane < w.layout.planes && !rows.empty(); ++plane) {
        integrate_reference(w.image(static_cast<int>(i)), w.layout, w.layout.levels[i], plane, rows.begin,
                            rows.end, w.integrals.data());
      }
    }
  }

  void scan(CascadeWorkspace& w) const override {
    for (std::size_t i = 0; i < w.levels.size(); ++i) {
      const Rows rows = w.levels[i].windows;
      for (int row = rows.begin; row < rows.end; ++row) {
        reference::scan_row(model(), w.layout, static_cast<int>(i), w.integrals.data(), row, w.early_stages,
                            w.survivors);
      }
    }
  }

  void finish_survivors(CascadeWorkspace& w) const override {
    reference::finish(model(), w.layout, w.integrals.data(), w.survivors, w.early_stages, w.candidates);
  }
};

}  // namespace

std::unique_ptr<Detector> make_reference_detector(const Config& config) {
  Settings settings = read_settings(config);
  return std::make_unique<ReferenceDetector>(std::move(settings.model), settings.options);
}

}  // namespace sightline::cascade
