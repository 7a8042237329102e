#pragma once
/// A folder of samples (samples.hpp) for training and testing: content and writer.
///
///     train/NUMBER-PICTURE~COPY.png   crops of the objects to train on; copy 0 is the object as it is
///     test/...                        crops of those to test with: no picture has objects in both
///     scenes/scene-0001.png           whole pictures with objects, made of what is for testing alone
///     scenes/empty-0001.png           the same without
///     scenes.txt                      boxes of these, `name x1 y1 x2 y2`; a name alone: nothing is there
///     train-boxes.txt, test-boxes.txt          the marked boxes, by what their pictures are for
///     train-backgrounds.txt, test-backgrounds.txt   backgrounds, a file a line, likewise
///     samples.json                    the options, and what came of them

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "training/file_image_set.hpp"
#include "training/marked_objects.hpp"
#include "training/progress.hpp"
#include "training/samples.hpp"

namespace sightline::training {

struct SampleFolderOptions {
  SampleOptions samples;
  CropOptions crop;
  SceneOptions scene;
  int copies = 40;          ///< copies of each object, in addition to itself
  double test_share = 0.2;  ///< share of pictures and of backgrounds for testing
  int scenes = 0;
  int empty_scenes = 0;
};

/// The training part or the testing part.
struct SampleSide {
  std::vector<std::size_t> objects;      ///< indices
  std::vector<std::size_t> backgrounds;  ///< likewise
};

class SampleFolder : public ObjectSource {
 public:
  /// Reads every picture once on all threads, checks the marks, and selects the pictures for testing.
  /// @param pictures     must outlive this object, like the backgrounds
  /// @param objects      objects in the order of the pictures; at least one
  /// @param backgrounds  pictures without the object; null: none Throws TrainingStopped, and Error (input)
  /// for marks outside their pictures or of less than 8 pixels, for pictures that cannot be read, and if no
  /// pictures are left for the requested scenes.
  SampleFolder(const FileImageSet& pictures, std::vector<MarkedObject> objects,
               const FileImageSet* backgrounds, const SampleFolderOptions& options, ProgressClock& clock);

  const SampleSide& training() const { return training_; }
  const SampleSide& testing() const { return testing_; }
  /// "0007-street~": of the files of an object's crops, before the copy's number.
  std::string crop_name(std::size_t object) const;

  /// A crop of an object, with backgrounds of its side.
  Image<std::uint8_t> crop(std::size_t object, int copy) const;
  /// Scenes from 0 on, and empty ones, likewise.
  Scene scene(int number) const;
  Scene empty_scene(int number) const;

  /// Writes all of it, on all threads. Throws TrainingStopped, and Error (input, failed).
  void write(const std::filesystem::path& folder, ProgressClock& clock) const;

  /// Cost of `write` and of the reading before it, in the clock's unit.
  static double cost(std::size_t objects, const SampleFolderOptions& options);

  // Number of objects for testing.
  std::size_t size() const override { return testing_.objects.size(); }
  LentObject lend(std::size_t index) const override;

 private:
  struct Lent;
  std::shared_ptr<const Lent> open(std::size_t picture) const;
  SourceObject source(std::size_t object, const Lent& lent) const;
  Image<std::uint8_t> crop(std::size_t object, int copy, const Lent& lent) const;
  void split(const std::vector<std::uint64_t>& contents);
  void write_lists(const std::filesystem::path& folder) const;
  void write_crops(const std::filesystem::path& folder, ProgressClock& clock) const;
  void write_scenes(const std::filesystem::path& folder, ProgressClock& clock) const;

  const FileImageSet& pictures_;
  std::vector<MarkedObject> objects_;
  std::vector<std::uint64_t> numbers_;  ///< hash of each object's picture and position
  std::vector<bool> is_tested_;         ///< by object
  const FileImageSet* backgrounds_;
  SampleFolderOptions options_;
  SampleSide training_, testing_;
  std::unique_ptr<const ImageSet> kept_;                                        ///< the backgrounds, decoded
  std::unique_ptr<const ImageSet> training_backgrounds_, testing_backgrounds_;  ///< null: none
};

}  // namespace sightline::training
