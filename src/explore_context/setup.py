"""Install explore_context: nodes, plants, and the workspace's launch, config and models folders."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "explore_context"
HERE = Path(__file__).resolve().parent


def data_files(folder):
    """Pairs (share folder, files) for every file below `folder` of the workspace's top level.

    Files outside the package cannot be installed, so the folder is linked into it. The link is made here and
    is not in git, because not every way to copy a tree keeps links.
    """
    link = HERE / folder
    if not link.is_dir():
        link.symlink_to(Path("..", "..", folder))
    groups = {}
    for path in sorted(link.rglob("*")):
        relative = path.relative_to(HERE)
        hidden = any(part.startswith((".", "__pycache__")) for part in relative.parts)
        if path.is_file() and not hidden:
            groups.setdefault(f"share/{PACKAGE}/{relative.parent}", []).append(str(relative))
    return list(groups.items())


def node(name, module):
    return f"{name} = {PACKAGE}.nodes.entry:{module}"  # signals first, then the module's main()


setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={"": ["static/*", "*.yaml", "py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *data_files("launch"),
        *data_files("config"),
        *data_files("models"),
    ],
    install_requires=["setuptools", "numpy", "pyyaml"],
    zip_safe=False,
    maintainer="explore_context maintainers",
    maintainer_email="maintainers@explore-context.invalid",
    description="Calibrate a system by informative exploration, on ROS 2.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            node("toy_plant", "plant_node"),
            node("pendulum_plant", "plant_node"),
            node("mountain_car_plant", "plant_node"),
            node("calibrator", "calibrator_node"),
            node("swing_up_controller", "swing_up_node"),
            node("joint_bridge", "joint_bridge_node"),
            node("fault_relay", "fault_relay_node"),
            node("lifecycle_manager", "lifecycle_manager_node"),
            node("dashboard", "dashboard_node"),
            node("recorder", "recorder_node"),
            "explore-context = explore_context.cli:main",
        ],
        "explore_context.plants": [
            "toy_inner = explore_context.plants.toy:toy_inner",
            "toy_outer = explore_context.plants.toy:toy_outer",
            "toy_inner_noise_free = explore_context.plants.toy:toy_inner_noise_free",
            "toy_outer_noise_free = explore_context.plants.toy:toy_outer_noise_free",
            "pendulum = explore_context.plants.pendulum:Pendulum",
            "mountain_car = explore_context.plants.mountain_car:MountainCar",
        ],
    },
)
