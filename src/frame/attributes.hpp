#pragma once
/// Attributes of a detection beyond its box: identity, and points in it.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sightline {

/// A named point, in pixels of the frame; may lie outside it.
struct Landmark {
  std::string name;  ///< such as "left_eye"
  double x = 0;
  double y = 0;
  friend bool operator==(const Landmark&, const Landmark&) = default;
};

/// Candidate for an object's identity.
struct Identity {
  std::string name;
  double distance = 0;  ///< the lower, the likelier; its unit is the method's
  friend bool operator==(const Identity&, const Identity&) = default;
};

/// Reserved name of an unknown object.
inline constexpr const char* kUnknownName = "unknown";

struct DetectionAttributes {
  /// Recognised name, or kUnknownName; empty without recognition.
  std::string name;
  std::optional<double> distance;  ///< distance to the nearest known object, in the method's unit
  std::vector<Landmark> landmarks;
  std::string view = {};  ///< view of the object, from multi-view detectors: "frontal"
  /// Candidates that the name was chosen from, each once, the nearest first.
  std::vector<Identity> identities = {};
  double limit = 0;  ///< largest distance of an identity at which an object has its name
  friend bool operator==(const DetectionAttributes&, const DetectionAttributes&) = default;
};

/// The attributes of a detection, or none, which costs a null pointer. Copies share them, and they never
/// change. Compares by value. Thread-safety: as std::shared_ptr.
class SharedAttributes {
 public:
  SharedAttributes() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): implicit conversion to a detection's attributes
  SharedAttributes(DetectionAttributes values)
      : values_(std::make_shared<const DetectionAttributes>(std::move(values))) {}

  explicit operator bool() const { return values_ != nullptr; }
  const DetectionAttributes& operator*() const { return *values_; }
  const DetectionAttributes* operator->() const { return values_.get(); }
  /// The name; empty if there is none.
  const std::string& name() const;

  /// The same with all landmarks moved by (x, y) pixels.
  SharedAttributes moved(double x, double y) const;
  /// The same without landmarks.
  SharedAttributes without_landmarks() const;

  friend bool operator==(const SharedAttributes& a, const SharedAttributes& b) {
    return a.values_ == b.values_ || (a.values_ && b.values_ && *a.values_ == *b.values_);
  }

 private:
  std::shared_ptr<const DetectionAttributes> values_;
};

}  // namespace sightline
