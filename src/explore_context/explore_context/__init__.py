"""Explore the context of an unknown robot: plants, learned model, planning and ROS 2 nodes."""
