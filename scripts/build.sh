# build_preset: configure and build one preset of CMakePresets.json, silent unless it fails. Sourced by ./run and ./test.
#
# The whole story goes to build/PRESET/build.log; on failure its end is shown, because that is where the error is.

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
    } >>"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "genista: the $preset preset does not build; the whole log is $log" >&2
        return 1
    fi
}
