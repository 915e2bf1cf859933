# build_preset: configure and build one preset of CMakePresets.json, silent unless it fails. Sourced by ./run and ./test.
#
# The whole story goes to build/PRESET/build.log; on failure its end is shown, because that is where the error is. Whoever sits at a
# terminal sees how far it is.

# build_preset PRESET [TARGET...]: from the root of the repository. Ninja notices by itself when CMake has to run again,
# except after a change of the presets.
build_preset() {
    local preset=$1 log=build/$1/build.log
    shift
    mkdir -p "build/$preset"
    : >"$log"
    if ! {
        { [ "build/$preset/build.ninja" -nt CMakePresets.json ] || cmake --preset "$preset"; } &&
            cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"}
    } 2>&1 | tee -a "$log" | show_build "$preset"; then
        tail -n 40 "$log" >&2
        echo "genista: the $preset preset does not build; the whole log is $log" >&2
        return 1
    fi
}

# Ninja's [12/345] as one line that rewrites itself; nothing where nobody looks.
show_build() {
    local line
    if [ ! -t 2 ]; then
        cat >/dev/null
        return
    fi
    while IFS= read -r line; do
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
            printf '\r\033[Kgenista: building %s, step %d of %d' "$1" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
        fi
    done
    printf '\r\033[K' >&2
}
