"""ROS 2 nodes: they convert, call and publish; what they know is in the ROS-free classes beside them.

ROS-free: ``samples``, ``command``, ``plant_session``, ``robot_session``, ``joint_mapping``, ``faults``,
``counters``; of the nodes that command a plant ``transition_filter``, ``flight``, ``pilot``,
``calibration_run``, ``swing_up_run``, ``summary``. Shared by every node: ``qos``, ``conversions``,
``parameters``, ``diagnostics``, ``runtime``, ``entry``.
"""
