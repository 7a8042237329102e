"""Draws boxes and tracks with the package supervision: python3 supervised.py VIDEO TARGET"""

import sys

import supervision

import sightline as sl

detector = sl.Detector("people")
boxes, labels = supervision.BoxAnnotator(), supervision.LabelAnnotator()
with supervision.VideoSink(sys.argv[2], supervision.VideoInfo.from_video_path(sys.argv[1])) as sink:
    for result in detector.stream(sys.argv[1], track=True):
        found = result.to_supervision()
        image = boxes.annotate(result.image.copy(), found)
        sink.write_frame(labels.annotate(image, found))
