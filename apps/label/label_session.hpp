#pragma once
/// State of `sightline label`, with or without a window.

#include <memory>
#include <string>
#include <vector>

#include "apps/common/detector_options.hpp"
#include "apps/label/label_pictures.hpp"
#include "apps/label/label_store.hpp"
#include "labelling/session.hpp"

namespace sightline::apps {

struct LabelArguments {
  LabelPictures::Options pictures;
  std::string boxes;                 ///< where marks are read from and saved to; empty: beside the pictures
  std::string format;                ///< of these; empty: by the name
  std::string frames;                ///< as LabelPictures::Options has it
  std::vector<std::string> classes;  ///< their names, in the order of their keys
  std::string convert_to;            ///< write all marks there, and open no window
  bool overwrite = false;            ///< what is there
  bool only_unseen = false;
  bool full_screen = false;
  bool software = false;
  DetectorOptions detector{""};  ///< proposes boxes where one is named
};

/// Pictures, what is marked in them, and where that goes. Thread-safety: one thread at a time.
class LabelWork {
 public:
  /// Throws Error (input, usage, failed).
  explicit LabelWork(const LabelArguments& arguments);

  LabelPictures& pictures() { return pictures_; }
  LabelStore& store() { return store_; }
  labelling::Session& session() { return session_; }
  /// One more picture of a video. False: there is none.
  bool extend();

 private:
  void add(std::size_t picture);

  LabelStore store_;
  LabelPictures pictures_;
  labelling::Session session_;
};

/// Marks in a window until the user quits or a stop is asked for. Throws Error (failed) where there is no
/// screen, and where marks could not be saved: these are then in a file that the error names.
void label_in_window(const LabelArguments& arguments, LabelWork& work);

}  // namespace sightline::apps
