"""Passes that turn every frontend's quantized form into the integer dialect."""
