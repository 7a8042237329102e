#pragma once
/// WaldBoost classifiers as XML, as the Brno University of Technology writes them:
///
///     <WaldBoostClassifier classifierName="face" minStdDev="0" imageSizeX="24" imageSizeY="24" type="LBP">
///       <stage posT="1e+50" negT="-1.5">
///         <HistogramWeakHypothesis predictionValues="256 numbers">
///           <LBPFeature positionX="3" positionY="5" blockWidth="2" blockHeight="1"/>
///         </HistogramWeakHypothesis>
///       </stage>
///       ...
///     </WaldBoostClassifier>
///
/// Bit 0 of a code is the upper left neighbour, and the others follow clockwise, as in kLbpNeighbours.

#include <string>
#include <string_view>

#include "detectors/waldboost/model.hpp"

namespace sightline::waldboost {

/// The name of the outermost element.
inline constexpr char kXmlRoot[] = "WaldBoostClassifier";

/// Reads a classifier of local binary patterns. Throws Error (model): name, line and reason.
///
/// The unit is the least power of two in which every prediction fits into 16 bits. Predictions are rounded
/// to the nearest whole number of units, the even one of two; so the sum of the first t errs by t / 2 units
/// at most, which is less than t / 32767 of the largest prediction. Thresholds are rounded up, which errs by
/// nothing: a sum of whole units is below the one exactly where it is below the other.
///
/// A stage must not accept early (posT at least 1e30); one whose negT is -1e30 or less rejects nothing.
/// Refused are elements and attributes that are not above, other types of features, and what would change
/// the codes or the windows: a minStdDev other than 0, a binMappingType other than 0 or NONE. The label is
/// classifierName, or "object" where there is none.
/// @param name  of the file, for messages
Model parse_xml_model(std::string_view xml, const std::string& name);

}  // namespace sightline::waldboost
