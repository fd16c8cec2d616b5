"""Export of trained models to ONNX."""
