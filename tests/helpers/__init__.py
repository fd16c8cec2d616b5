"""Helpers that several tests share: waiting, an in-process ROS graph, real processes."""
