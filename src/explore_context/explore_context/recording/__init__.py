"""Recordings: writing MCAP, repairing, reading, calibrating from one, replaying one. No ROS here."""
