# build_preset: configure and build one preset of CMakePresets.json, silent unless it fails. Sourced by ./run and ./test.
#
# The whole story goes to build.log in the build folder; on failure its end is shown, because that is where the error is. A
# terminal shows how far the build is, a log gets a line a minute.

# folder_of PRESET: where a preset is built. In `./test --long` the preset asan has more tests, and a folder of its own.
folder_of() {
    if [ -n "${GENISTA_LONG-}" ] && [ "$1" = asan ]; then echo build/long-asan; else echo "build/$1"; fi
}

# Megabytes that this process may take: what the machine has free, or less if its control group (a container) has a limit.
available_megabytes() {
    local own old file megabytes limit
    megabytes=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || true)
    own=$(sed -n 's/^0:://p' /proc/self/cgroup 2>/dev/null || true)
    old=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup 2>/dev/null || true)
    for file in "/sys/fs/cgroup$own/memory.max" /sys/fs/cgroup/memory.max \
        "/sys/fs/cgroup/memory$old/memory.limit_in_bytes" /sys/fs/cgroup/memory/memory.limit_in_bytes; do
        limit=$(cat "$file" 2>/dev/null || true)
        [[ $limit =~ ^[0-9]{1,18}$ ]] || continue
        limit=$((limit / 1048576))
        [ -n "$megabytes" ] && [ "$megabytes" -le "$limit" ] || megabytes=$limit
    done
    echo "${megabytes:-0}"
}

# A compiler takes up to a gigabyte for a unity file: as many at once as there are cores and memory for, and one at least.
build_jobs() {
    local cores room
    cores=$(nproc)
    room=$(($(available_megabytes) / 1200))
    [ "$room" -ge 1 ] || room=1
    echo $((room < cores ? room : cores))
}

# build_preset PRESET [TARGET...]: from the root of the repository.
build_preset() {
    local preset=$1 folder
    folder=$(folder_of "$1")
    shift
    mkdir -p "$folder"
    if ! {
        configure_preset "$preset" "$folder" && cmake --build "$folder" --parallel "$(build_jobs)" ${1:+--target "$@"}
    } 2>&1 | tee "$folder/build.log" | show_build "$preset"; then
        tail -n 40 "$folder/build.log" >&2
        echo "genista: the $preset preset does not build; the whole log is $folder/build.log" >&2
        return 1
    fi
}

# Ninja notices by itself when CMake has to run again, except after a change of the presets. Where CMake has not come to its
# end before, it begins afresh: what it remembers of a package that was missing would stay wrong.
configure_preset() {
    local ninja=$2/build.ninja fresh= options=()
    [ ! "$ninja" -nt CMakePresets.json ] || return 0
    [ -e "$ninja" ] || fresh=--fresh
    if [ "$2" = build/long-asan ]; then
        options=(-D GENISTA_TOOLS_UNUSED=OFF -D GENISTA_EVERY_TEST=ON)
    fi
    cmake $fresh --preset "$1" -B "$2" ${options[@]+"${options[@]}"}
}

# Ninja's [12/345] as one line that rewrites itself on a terminal; elsewhere a line a minute.
show_build() {
    local line spoken=$SECONDS
    while IFS= read -r line; do
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        if [ -t 2 ]; then
            printf '\r\033[Kgenista: building %s, step %d of %d' "$1" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
        elif [ $((SECONDS - spoken)) -ge 60 ]; then
            printf 'genista: building %s, step %d of %d\n' "$1" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
            spoken=$SECONDS
        fi
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
}
