"""A small stand-in for ``ros2cli``, ``launch`` and ``launch_ros`` where ROS 2 comes from wheels.

The wheels bring rclpy and the middleware, but neither ``ros2 …`` nor launch files. This package and its
neighbours ``launch`` and ``launch_ros`` supply what this project's launch files and README use, in the
real names, signatures and output, so that the same files run unchanged on a full ROS 2.
"""
