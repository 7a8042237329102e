# The target of ONNX's file format, in SIGHTLINE_ONNX: newer packages put it in a namespace.
find_package(Protobuf REQUIRED)
find_package(ONNX REQUIRED)
set(SIGHTLINE_ONNX onnx_proto)
if(TARGET ONNX::onnx_proto)
  set(SIGHTLINE_ONNX ONNX::onnx_proto)
endif()
