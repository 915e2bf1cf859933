# What genista needs from Debian 12, in one place, and the function that installs what is missing. Sourced by ./run and
# ./test; nothing else in the repository names a package.
#
# A package is asked for by name with dpkg-query (milliseconds), so a second call installs nothing and needs neither root
# nor a network. Everything comes from Debian's own archive.

# To build the library, the tool and the tests: what ./run needs.
packages_to_build=(
    g++                 # the compiler of the release, debug and tsan presets (its sanitizers come with it)
    cmake               # 3.25 or newer
    ninja-build
    pkg-config          # finds libsodium for the tests; the consumer test asks it for our own flags
    libcli11-dev        # tools/: arguments
    libfmt-dev          # tools/: printed tables
    nlohmann-json3-dev  # tools/ and lab/: --json
    librocksdb-dev      # stores/rocksdb
    libjs-chart.js      # lab/report: the chart library inside a report
    zlib1g-dev          # lab/: gzip files of keys and traces
    libxxhash-dev       # hash/: XXH3-128 for trusted keys
    libsodium-dev       # tests: an independent SipHash-2-4 to compare with
    libgtest-dev        # tests
    libgmock-dev        # tests
)

# To pass the tests as well: what ./test needs on top.
packages_to_check=(
    clang               # the second compiler, of the asan preset
    libclang-rt-14-dev  # libFuzzer and clang's sanitizers
    llvm                # llvm-symbolizer: names instead of addresses in a finding
    clang-format
    clang-tidy
    chromium-headless-shell  # opens the reports
)

# Runs "$@" as root, or says in words why it cannot.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif ! command -v sudo >/dev/null; then
        echo "genista: installing packages needs root, and there is no sudo here; as root, run:" >&2
        echo "    apt-get install --no-install-recommends ${missing_packages[*]}" >&2
        return 1
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@" # without a terminal no password can be typed: fail at once instead of waiting
    fi
}

# install_missing LOG PACKAGE...: installs those that are not there. apt's own words go to LOG, and to the reader only
# when it fails.
install_missing() {
    local log=$1 installed package
    shift
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "genista: no apt here, so nothing is installed; the build needs: $*" >&2
        return 0
    fi
    installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package} \n' "$@" 2>/dev/null || true)
    missing_packages=()
    for package in "$@"; do
        [[ $installed == *"ii $package "* ]] || missing_packages+=("$package")
    done
    [ ${#missing_packages[@]} -gt 0 ] || return 0

    echo "genista: installing ${missing_packages[*]}" >&2
    mkdir -p "$(dirname "$log")"
    if ! { as_root apt-get -qq update &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 \
            install --no-install-recommends "${missing_packages[@]}"; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        echo "genista: could not install the packages; the whole log is $log" >&2
        return 1
    fi
}
