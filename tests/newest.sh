#!/usr/bin/env bash
# The C tests and the default suite on the newest Debian there is (sid): its compilers, C library, GMP,
# MPFR and Python, and the newest of everything from PyPI. As root, on Debian or Ubuntu:
#
#     tests/newest.sh [--quick] [FOLDER]
#
# --quick runs, of the default suite, what depends on Python, the C library and the compiler most. FOLDER
# holds the system and can be used again (2 GB); else it is a temporary one. Not in CI: sid breaks.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tests=(tests)
if [[ ${1-} == --quick ]]; then
    tests=(tests/test_{build,cells,isochronous,fork,imports,interrupt,laws,leaks,memory_limits,threads,twin,vectors,wiped}.py)
    shift
fi
if (($#)); then
    system=$1
else
    system=$(mktemp -d)
    trap 'rm -rf --one-file-system "$system"' EXIT
fi
packages=gcc,g++,clang,make,cmake,git,ca-certificates,procps,python3,python3-dev,python3-venv,libgmp-dev,libmpfr-dev

inside() {
    # mounts of its own, which end with the command
    unshare --mount bash -c 'system=$1; shift
        mount -t proc proc "$system/proc"
        mount --rbind /dev "$system/dev"
        mount --rbind /sys "$system/sys"
        exec env --default-signal=INT,PIPE HOME=/root chroot "$system" "$@"' - "$system" "$@"
}

if [[ ! -e $system/usr/bin/python3 ]]; then
    command -v debootstrap >/dev/null || apt-get -qq install -y --no-install-recommends debootstrap
    debootstrap --variant=minbase "--include=$packages" sid "$system" >"$system.log" ||
        { tail "$system.log"; exit 1; }
    rm -f "$system.log"
fi
cp /etc/resolv.conf /etc/hosts "$system/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/"

rm -rf "$system/root/clone"
mkdir "$system/root/clone"
git -C "$root" ls-files -z --cached --others --exclude-standard |
    tar -C "$root" --null --files-from=- -cf - | tar -C "$system/root/clone" -xf -

inside bash -euo pipefail -c '
    cd /root/clone
    gcc --version | sed -n 1p
    clang --version | sed -n 1p
    ldd --version | sed -n 1p
    for compiler in gcc clang; do
        cmake -S . -B "/root/build-$compiler" -DCMAKE_C_COMPILER="$compiler" -DDG_GMP=SYSTEM -DDG_TESTS=ON -DDG_WERROR=ON \
            -DDG_CHECKS=ON >/dev/null
        cmake --build "/root/build-$compiler" -j "$(nproc)" >/dev/null
        ctest --test-dir "/root/build-$compiler" --output-on-failure -j "$(nproc)"
    done
    export PIP_ROOT_USER_ACTION=ignore
    python3 -m venv /root/venv
    /root/venv/bin/pip install -qq --upgrade --upgrade-strategy eager ".[test]"
    /root/venv/bin/python -c "import sys, discretegauss; print(sys.version, discretegauss.build_info())"
    /root/venv/bin/python -m pytest -q "$@"' - "${tests[@]}"
