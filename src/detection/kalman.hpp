#pragma once
/// A Kalman filter for one coordinate that moves at a nearly constant speed.

namespace sightline {

/// Position and speed of one coordinate with their covariance. Time is continuous: the speed is disturbed by
/// white noise, so that steps of any length are right, and two steps are the same as one as long as both
/// (Y. Bar-Shalom, X. R. Li, T. Kirubarajan, "Estimation with Applications to Tracking and Navigation", 2001,
/// section 6.2.1: the continuous white noise acceleration model).
///
/// A filter of several coordinates whose noises do not depend on each other, like that of SORT, falls apart
/// into filters like this one. Thread-safety: a value.
struct ConstantVelocity {
  double position = 0;
  double velocity = 0;  ///< per second
  double position_variance = 0;
  double velocity_variance = 0;
  double covariance = 0;  ///< covariance of position and velocity

  /// At a first measurement, with the standard deviations of it and of the unknown speed about 0.
  static ConstantVelocity at(double measured, double position_deviation, double velocity_deviation) {
    return {measured, 0, position_deviation * position_deviation, velocity_deviation * velocity_deviation, 0};
  }

  /// Position `seconds` later.
  double ahead(double seconds) const { return position + seconds * velocity; }

  /// Lets time pass. `acceleration` is the standard deviation of the speed's change within one second.
  void predict(double seconds, double acceleration) {
    const double q = acceleration * acceleration;
    const double dt = seconds;
    position += dt * velocity;
    position_variance += dt * (2 * covariance + dt * velocity_variance) + q * dt * dt * dt / 3;
    covariance += dt * velocity_variance + q * dt * dt / 2;
    velocity_variance += q * dt;
  }

  /// Takes a measurement with its standard deviation, above 0.
  void correct(double measured, double deviation) {
    const double variance = position_variance + deviation * deviation;
    const double position_gain = position_variance / variance;
    const double velocity_gain = covariance / variance;
    const double surprise = measured - position;
    position += position_gain * surprise;
    velocity += velocity_gain * surprise;
    velocity_variance -= velocity_gain * covariance;
    covariance -= position_gain * covariance;
    position_variance -= position_gain * position_variance;
  }
};

}  // namespace sightline
