#pragma once
/// Many pictures of few objects: marked objects varied (variation.hpp), in their own surroundings or pasted
/// into backgrounds, as crops to train on and as whole pictures to test with.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "image/box.hpp"
#include "training/image_set.hpp"
#include "training/octaves.hpp"
#include "training/variation.hpp"

namespace sightline::training {

/// Shape of the part of a marked box that is pasted with the object.
enum class Mask {
  ellipse,  ///< the ellipse in the box
  box,      ///< all of it
};

struct SampleOptions {
  VariationBounds bounds;
  Mask mask = Mask::ellipse;
  /// Distance outside of the mask over which the object fades into the background, relative to its height.
  /// Prevents a classifier from learning a seam.
  double mask_edge = 0.15;
  std::uint64_t seed = 1;
};

struct CropOptions {
  Size object{
      48, 48};  ///< pixels of the object in a crop; marked boxes are enlarged to its shape about their middle
  double margin = 0.25;  ///< margin of a crop around it, relative to its sides
  double pasted = 0.5;   ///< share of the crops with another background, where there are any
  /// Size of a crop: the object with the margin.
  Size size() const;
};

struct SceneOptions {
  int longest_side = 640;  ///< pixels of a scene at most: larger backgrounds are reduced
  int most_objects = 3;    ///< 1 at least
  double smallest = 32;    ///< height of the objects, pixels
  double largest = 0.6;    ///< likewise, in parts of the scene's shorter side
};

/// An object in a picture of its own.
struct SourceObject {
  const Octaves* picture = nullptr;
  Box box;                   ///< the marked box
  std::uint64_t number = 0;  ///< whatever tells it from others: its variations follow from this and the seed
};

/// A variation of an object, or for copy 0 the object as it is. Depends on the object, the copy, the
/// backgrounds and the options alone.
/// @param backgrounds  may be null: then the object keeps its surroundings
Image<std::uint8_t> make_crop(const SourceObject& object, int copy, const ImageSet* backgrounds,
                              const SampleOptions& samples, const CropOptions& crop);

/// A picture with marked objects.
struct Scene {
  Image<std::uint8_t> pixels;
  std::vector<Box> objects;  ///< boxes as people mark them, in pixels of the scene
};

/// Gives an object of a set, with what its picture needs to stay there; called from several threads at once.
struct LentObject {
  SourceObject object;
  std::shared_ptr<const void> owner;
};

/// A set of objects to paste. Thread-safety: `lend` is called from several threads at once.
class ObjectSource {
 public:
  virtual ~ObjectSource() = default;
  virtual std::size_t size() const = 0;
  virtual LentObject lend(std::size_t index) const = 0;
};

/// A background (in turn by the scene's number) with objects at random places and sizes that do not overlap:
/// at least one, unless `most_objects` is 0, and a random number more that fit. Depends only on the
/// arguments.
Scene make_scene(std::uint64_t number, const ObjectSource& objects, const ImageSet& backgrounds,
                 const SampleOptions& samples, const SceneOptions& scene);

/// Selects the given share of pictures for testing; at least one and not all, unless the share is 0 or 1.
/// Equal pictures stay together. The choice for a picture depends on its content, so few pictures change
/// sides when others are added or removed.
/// @param contents  content hash of each picture
std::vector<bool> choose_tested(const std::vector<std::uint64_t>& contents, double share, std::uint64_t seed);

/// Hash of a picture's size and pixels (FNV-1a, 64 bits).
std::uint64_t content_hash(GrayView picture);

}  // namespace sightline::training
