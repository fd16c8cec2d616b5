#!/usr/bin/env bash
# The one entry point of the workspace: ./ws help
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
CALLED_FROM=$PWD
cd "$ROOT"
# shellcheck source=scripts/environment.sh
source scripts/environment.sh

PYTHON_PACKAGES=()      # all that are in src/: a user's own too
for file in src/*/setup.py; do file=${file#src/}; PYTHON_PACKAGES+=("${file%/setup.py}"); done

usage() {
    cat <<'TEXT'
usage: ./ws VERB [arguments]

  demo [options]        the main job: calibrate a simulated pendulum, live in the terminal
  test [pytest args]    lint and all tests; --slow adds the paper's experiments; other arguments go to pytest, without lint
  lint                  ruff and mypy
  build                 set up and build the workspace, nothing else
  shell                 a shell with the environment of the workspace
  ros2 ...              the ros2 command
  python ...            Python with everything installed (training and development too)
  train ...             train a learned model          (train.py)
  export ...            export a checkpoint to ONNX    (export.py)
  evaluate ...          the paper's experiments, tables and figures
  bench [name]          benchmarks
  clean [--all]         remove build, install and log; --all: the environment cache too
  help                  this page

Every verb first does what set-up is missing, once. Environment variables:
  EXPLORE_CONTEXT_CACHE   folder of the environments (default: ~/.cache/explore_context)
  EXPLORE_CONTEXT_PYTHON  interpreter to use (default: a suitable python3 of the PATH)
Where a ROS 2 Jazzy is sourced, that one is used and no ROS wheel is installed.
TEXT
}

interfaces_hash() {
    { printf '%s\n' "$ENVIRONMENT"; find src/explore_context_interfaces -type f -print0 | sort -z | xargs -0 sha256sum; } |
        sha256sum | cut -c1-12
}

# Everything that makes a rebuild necessary. Python modules, launch and config files are links: only new names count.
build_hash() {
    {
        printf '%s\n' "$ENVIRONMENT" "$ROOT" "$1"
        sha256sum src/*/package.xml src/*/setup.py src/*/setup.cfg
        { find launch config models -type f -not -path '*/.*' -not -path '*/__pycache__/*' 2>/dev/null || true; } | sort
    } | sha256sum
}

is_built() {        # hash
    local package calibrator=install/explore_context/lib/explore_context/calibrator
    # A plain `colcon build` in between leaves scripts of another Python.
    head -n 3 $calibrator 2>/dev/null | grep -qF "$ENVIRONMENT/base/bin/python" || return
    [[ $(cat build/.hash 2>/dev/null) == "$1" && -d install/explore_context_interfaces ]] || return
    for package in "${PYTHON_PACKAGES[@]}"; do
        [[ -d build/$package/$package.egg-info && -d install/$package ]] || return
    done
}

run_colcon() {      # log file, arguments of colcon build
    local log=$1; shift
    mkdir -p "$(dirname "$log")"
    python -m colcon --log-base log build --event-handlers console_cohesion+ "$@" >"$log" 2>&1
}

explain_colcon_failure() {      # log file
    if grep -q 'No space left on device' "$1"; then die "the disk is full; free some space and try again."; fi
    tail -n 40 "$1" >&2
    die "colcon build failed (log: $1)."
}

# The generated messages are the slow part and equal in every clone: built once into the cache, copied from there.
install_interfaces() {
    local hash=$1 name=explore_context_interfaces stored=$ENVIRONMENT/interfaces-$1
    lock 9 "$ENVIRONMENT/.lock"
    if [[ ! -e $stored/.complete ]]; then
        need_system_packages
        say "building the messages (once, half a minute)"
        rm -rf "$stored"
        run_colcon "$stored/build.log" --base-paths src/$name --build-base "$stored/build" --install-base "$stored/install" \
            --cmake-args -DPython3_EXECUTABLE="$(command -v python)" || explain_colcon_failure "$stored/build.log"
        rm -rf "$stored/build"
        touch "$stored/.complete"
    fi
    unlock 9
    rm -rf install/$name
    cp -a "$stored/install/$name" install/$name ||
        { rm -rf install/$name; die "cannot copy the messages to $ROOT/install (is the disk full?); mend that and try again."; }
    grep -rlIF "$stored/install/$name" install/$name | xargs -r sed -i "s|$stored/install/$name|$ROOT/install/$name|g"
    printf '%s\n' "$hash" >install/$name/.hash
}

build() {
    local interfaces hash
    interfaces=$(interfaces_hash)
    if is_built "$(build_hash "$interfaces")"; then return; fi
    mkdir -p build install log || die "cannot write to $ROOT."
    touch build/COLCON_IGNORE install/COLCON_IGNORE log/COLCON_IGNORE
    lock 8 build/.lock
    if [[ $(cat install/explore_context_interfaces/.hash 2>/dev/null) != "$interfaces" ]]; then
        install_interfaces "$interfaces"
    fi
    hash=$(build_hash "$interfaces")
    if ! is_built "$hash"; then
        rm -f build/.hash
        say "building the workspace"
        build_python_packages || build_python_packages ||       # a file that came or went meanwhile: the second try fits
            explain_colcon_failure "$ROOT/log/build.log"
        printf '%s\n' "$hash" >build/.hash
    fi
    unlock 8
}

build_python_packages() {
    find -L {build,install}/explore_context -type l -delete 2>/dev/null || true     # links to files that are gone
    PYTHONWARNINGS=ignore run_colcon "$ROOT/log/build.log" --symlink-install --packages-select "${PYTHON_PACKAGES[@]}"
}

# What sourcing install/setup.bash would do, without its second of start-up time.
prepend() { export "$1=$2${!1:+:${!1}}"; }
enter_environment() {
    local base=$ENVIRONMENT/base folder
    if [[ ! $SYSTEM_ROS ]]; then
        export EXPLORE_CONTEXT_WHEELS=1 ROS_DISTRO=jazzy ROS_VERSION=2 ROS_PYTHON_VERSION=3 _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
        export RMW_IMPLEMENTATION=${RMW_IMPLEMENTATION:-rmw_fastrtps_cpp}
        export AMENT_PREFIX_PATH=$base CMAKE_PREFIX_PATH=$base
        for folder in "$base"/lib/python3*/site-packages/ros_*.libs "$base/lib"; do prepend LD_LIBRARY_PATH "$folder"; done
    fi
    export EXPLORE_CONTEXT_BASE=$base
    prepend PATH "$base/bin"
}
enter_workspace() {
    local folder package
    if ! has_real_launch; then
        prepend PYTHONPATH "$ROOT/src/ros2_mini"
        prepend PATH "$ROOT/scripts/bin"
    fi
    for folder in install/explore_context_interfaces/lib/python3*/site-packages; do prepend PYTHONPATH "$ROOT/$folder"; done
    prepend LD_LIBRARY_PATH "$ROOT/install/explore_context_interfaces/lib"
    prepend AMENT_PREFIX_PATH "$ROOT/install/explore_context_interfaces"
    for package in "${PYTHON_PACKAGES[@]}"; do
        prepend PYTHONPATH "$ROOT/build/$package"
        prepend AMENT_PREFIX_PATH "$ROOT/install/$package"
    done
    export PATH=$PATH:$ROOT/install/explore_context/lib/explore_context
}
has_real_launch() {
    local prefix
    if [[ ! $SYSTEM_ROS ]] || ! command -v ros2 >/dev/null; then return 1; fi
    for prefix in ${AMENT_PREFIX_PATH//:/ }; do
        if [[ -e $prefix/share/launch_ros/package.xml ]]; then return 0; fi
    done
    return 1
}

lint() {
    local failed=0
    ruff check . || failed=1
    mypy || failed=1
    return $failed
}

# tests/conftest.py makes the surroundings (private ROS domain, log folder), so that plain pytest has them too.
run_tests() {
    local failed=0
    if ! command -v chromium chromium-browser google-chrome >/dev/null; then
        ( install_debian chromium ) || say "the browser tests will be skipped"
    fi
    if [[ -z "${*/--slow/}" ]]; then lint || failed=1; fi       # arguments that choose tests: only those
    python -m pytest "$@" || failed=1
    return $failed
}

# Bash start-up files often put other Pythons first on the PATH, or source another ROS: the workspace's own comes back after.
open_shell() {
    local name restore=()
    if (( $# )); then exec bash "$@"; fi
    for name in PATH PYTHONPATH LD_LIBRARY_PATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH ROS_DISTRO RMW_IMPLEMENTATION; do
        if [[ -v $name ]]; then restore+=("export $name=$(printf %q "${!name}")"); else restore+=("unset $name"); fi
    done
    say "the environment of the workspace; exit leaves it"
    exec bash --rcfile <(printf '%s\n' "[ ! -f ~/.bashrc ] || . ~/.bashrc" "${restore[@]}" "PS1=\"(explore_context) \$PS1\"") -i
}

clean() {
    rm -rf build install log
    if [[ ${1:-} == --all ]]; then
        rm -rf "$CACHE"/*-py3.* "$CACHE"/*.log
        rmdir "$CACHE" 2>/dev/null || true
    fi
}

prepare() {         # base | extra | best: base, and extra where it is already there
    ensure_environment "${1/best/base}"
    enter_environment
    build
    enter_workspace
    if [[ $1 == extra || ( $1 == best && -e $ENVIRONMENT/extra/.complete ) ]]; then prepend PATH "$ENVIRONMENT/extra/bin"; fi
}

verb=${1:-help}
if (( $# )); then shift; fi
case $verb in
    demo)       prepare base;  exec python -m explore_context.demo "$@" ;;
    test)       prepare extra; run_tests "$@" ;;
    lint)       prepare extra; lint ;;
    build)      prepare base;  say "built: $ROOT/install" ;;
    shell)      prepare best;  cd "$CALLED_FROM"; open_shell "$@" ;;
    ros2)       prepare base;  cd "$CALLED_FROM"; exec ros2 "$@" ;;
    python)     prepare extra; cd "$CALLED_FROM"; exec python "$@" ;;
    train)      prepare extra; exec python train.py "$@" ;;
    export)     prepare extra; exec python export.py "$@" ;;
    evaluate)   prepare extra; exec python -m explore_context_evaluation "$@" ;;
    bench)      prepare extra; exec python -m explore_context_evaluation.benchmarks "$@" ;;
    clean)      clean "$@" ;;
    help|-h|--help) usage ;;
    *)          say "unknown verb '$verb'"; usage >&2; exit 2 ;;
esac
