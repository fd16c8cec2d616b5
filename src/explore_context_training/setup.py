"""Install explore_context_training."""

from setuptools import find_packages, setup

PACKAGE = "explore_context_training"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={"": ["*.yaml", "*.html", "py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="explore_context maintainers",
    maintainer_email="maintainers@explore-context.invalid",
    description="Train and export the learned models of explore_context.",
    license="Apache-2.0",
)
