#!/usr/bin/env bash
# The C tests and the test vectors on other machines, under qemu's user emulation:
#
#     tests/cross.sh [--quick] [s390x] [armhf] [i386] [arm64]        (default: s390x armhf)
#
# --quick runs the vectors, and of the C tests those that byte order or word size could upset.
# s390x is big-endian; armhf and i386 have 32-bit words and no 128-bit integers. Debian or Ubuntu on
# another machine than those; as root it installs the compilers and qemu, else they must be there
# already. GMP and MPFR for the other machines are fetched into a temporary directory, by an apt with
# a state of its own: what is installed here is not touched.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
chmod 755 "$work" # apt downloads as a user of its own
trap 'rm -rf "$work"' EXIT

only=.
if [[ ${1-} == --quick ]]; then
    only='vectors|cells_law|chacha20|limits|source|wide|wiped'
    shift
fi
architectures=("$@")
(($#)) || architectures=(s390x armhf)

# Sets triplet (Debian's directories), prefix (of the compiler), emulator and libc.
describe() {
    case $1 in
    s390x) triplet=s390x-linux-gnu prefix=$triplet emulator=s390x libc=s390x ;;
    armhf) triplet=arm-linux-gnueabihf prefix=$triplet emulator=arm libc=armhf ;;
    i386) triplet=i386-linux-gnu prefix=i686-linux-gnu emulator=i386 libc=i386 ;;
    arm64) triplet=aarch64-linux-gnu prefix=$triplet emulator=aarch64 libc=arm64 ;;
    *) echo "cross.sh: no such architecture: $1 (s390x, armhf, i386, arm64)" >&2; exit 2 ;;
    esac
}

install_tools() {
    local architecture missing=()
    for architecture in "${architectures[@]}"; do
        describe "$architecture"
        command -v "$prefix-gcc" >/dev/null || missing+=("gcc-$prefix" "libc6-dev-$libc-cross")
        command -v "qemu-$emulator-static" >/dev/null || missing+=(qemu-user-static)
    done
    ((${#missing[@]})) || return 0
    echo "installing: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends "${missing[@]}" >"$work/apt.log" 2>&1 ||
        { cat "$work/apt.log"; return 1; }
}

# libgmp-dev and libmpfr-dev of every architecture, unpacked into $work/ARCHITECTURE.
fetch_libraries() {
    local architecture package options
    mkdir -p "$work"/apt/{lists/partial,archives/partial} "$work/packages"
    touch "$work/apt/status"
    options=(-o "Dir::State=$work/apt" -o "Dir::State::status=$work/apt/status"
        -o "Dir::Cache=$work/apt" -o APT::Sandbox::User=root)
    options+=(-o "APT::Architectures::=$(dpkg --print-architecture)")
    for architecture in "${architectures[@]}"; do
        options+=(-o "APT::Architectures::=$architecture")
    done
    apt-get -qq "${options[@]}" update || echo "(goes on with what apt could fetch)"
    for architecture in "${architectures[@]}"; do
        (cd "$work/packages" && apt-get -qq "${options[@]}" download \
            "libgmp-dev:$architecture" "libmpfr-dev:$architecture")
        for package in "$work"/packages/*_"$architecture".deb; do
            dpkg -x "$package" "$work/$architecture"
        done
    done
}

# Statically linked, so that the emulator needs no libraries.
build_and_test() {
    local build=$work/build-$1 here=$work/$1/usr
    describe "$1"
    cmake -S "$root" -B "$build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$emulator" \
        -DCMAKE_C_COMPILER="$prefix-gcc" -DCMAKE_EXE_LINKER_FLAGS=-static \
        -DCMAKE_CROSSCOMPILING_EMULATOR="$(command -v "qemu-$emulator-static")" \
        -DCMAKE_FIND_ROOT_PATH="$here" -DCMAKE_LIBRARY_ARCHITECTURE="$triplet" \
        -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY \
        -DCMAKE_FIND_LIBRARY_SUFFIXES=.a -DDG_GMP=SYSTEM -DDG_TESTS=ON -DDG_CHECKS=ON -DDG_WERROR=ON \
        >"$build.log" 2>&1 || { cat "$build.log"; return 1; }
    cmake --build "$build" -j "$(nproc)" >"$build.log" 2>&1 || { cat "$build.log"; return 1; }
    (cd "$build" && ctest --output-on-failure -j "$(nproc)" -R "$only")
}

install_tools
fetch_libraries
for architecture in "${architectures[@]}"; do
    start=$SECONDS
    echo "--- $architecture"
    build_and_test "$architecture"
    echo "--- $architecture: passed in $((SECONDS - start)) s"
done
