"""The actions that launch files use."""

from __future__ import annotations

from .configurations import (
    PopLaunchConfigurations,
    PushLaunchConfigurations,
    ResetLaunchConfigurations,
    SetLaunchConfiguration,
    UnsetLaunchConfiguration,
)
from .declare_launch_argument import DeclareLaunchArgument
from .environment import (
    AppendEnvironmentVariable,
    PopEnvironment,
    PushEnvironment,
    ResetEnvironment,
    SetEnvironmentVariable,
    UnsetEnvironmentVariable,
)
from .event_actions import EmitEvent, RegisterEventHandler, Shutdown, UnregisterEventHandler
from .execute_local import ExecuteLocal
from .execute_process import ExecuteProcess
from .group_action import GroupAction
from .include_launch_description import IncludeLaunchDescription
from .simple import LogInfo, OpaqueFunction
from .timer_action import TimerAction

__all__ = [
    "AppendEnvironmentVariable",
    "DeclareLaunchArgument",
    "EmitEvent",
    "ExecuteLocal",
    "ExecuteProcess",
    "GroupAction",
    "IncludeLaunchDescription",
    "LogInfo",
    "OpaqueFunction",
    "PopEnvironment",
    "PopLaunchConfigurations",
    "PushEnvironment",
    "PushLaunchConfigurations",
    "RegisterEventHandler",
    "ResetEnvironment",
    "ResetLaunchConfigurations",
    "SetEnvironmentVariable",
    "SetLaunchConfiguration",
    "Shutdown",
    "TimerAction",
    "UnregisterEventHandler",
    "UnsetEnvironmentVariable",
    "UnsetLaunchConfiguration",
]
