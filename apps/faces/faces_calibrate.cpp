// `sightline faces calibrate`: sets the distance above which a face is unknown.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "apps/faces/face_finder.hpp"
#include "apps/faces/faces.hpp"
#include "apps/faces/faces_add.hpp"
#include "base/text.hpp"
#include "faces/gallery/calibration.hpp"

namespace sightline::apps {

using gallery::Calibration;
using gallery::Gallery;

std::string calibration_text(const Calibration& c, const gallery::FaceFinder& finder) {
  const gallery::Threshold& t = c.threshold;
  std::string text = fmt::format(
      "threshold {:.4f}: a face nearer than this to a picture of a person gets that person's name\n",
      finder.real_distance(t.distance + 1));
  if (t.people > 1) {
    text += fmt::format(
        "strangers: each of the {} people was left out of the gallery in turn ({}); {} of them would be "
        "mistaken "
        "for somebody else.\n  For other people like them, the rate is at most {} (95% confidence).\n",
        t.people, counted(c.probes, "picture"), t.mistaken == 0 ? "none" : std::to_string(t.mistaken),
        percent(c.mistaken_at_most));
  }
  const std::string too_few =
      fmt::format("  The gallery has too few people to measure a rate of {}", percent(t.rate));
  if (t.from_model)
    text += too_few + "; the threshold comes from the model's own statistics.\n";
  else if (static_cast<double>(t.people) * t.rate < 1)
    text += too_few + ", and the model has no statistics of its own: add more people.\n";
  if (c.own_probes > 0)
    text += fmt::format("known people: {} of {} are recognised by other pictures of the same person\n",
                        c.own_known, counted(c.own_probes, "picture"));
  return text;
}

int calibrate_gallery(const std::filesystem::path& file, const gallery::FaceFinder& finder, double rate) {
  Gallery gallery(file, Gallery::Access::write);
  gallery.require(finder.kind());
  const Calibration found = gallery::calibrate(gallery.snapshot(), finder, rate);
  gallery.set_threshold(found.threshold);
  std::fputs(calibration_text(found, finder).c_str(), stdout);
  return 0;
}

void add_faces_calibrate(CLI::App& faces, Common& common) {
  struct Arguments {
    GalleryOption gallery;
    DetectorOptions detector{kFacesConfig};
    double rate = 0.01;
  };
  auto a = std::make_shared<Arguments>();
  OptionSet options;
  options
      .add("--false-accepts SHARE", &a->rate,
           "Maximum share of strangers who are mistaken for somebody in the gallery")
      .between(1e-6, 0.5)
      .show_default();
  a->gallery.add_to(options);
  a->detector.add_to(options, {"--gallery", "--false-accepts"});
  a->detector.use_no_device();
  add_command(faces, common, "calibrate", "Set the distance above which a face is unknown", options,
              [a] { return calibrate_gallery(a->gallery.file(), *make_face_finder(a->detector), a->rate); });
}

}  // namespace sightline::apps
