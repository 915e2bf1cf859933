# The compiler options of the house, in one place: warnings, sanitizers. No -march anywhere: release binaries run on any
# x86-64, and kernels for larger instruction sets are chosen at run time (src/base/cpu.hpp).
# Instrumented or lightly optimised, g++ 12 takes libstdc++'s own moves for uses of what was never set, and its own copies of
# short strings for overruns.
set(genista_false_alarms)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(genista_false_alarms -Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
        -Wno-stringop-overread)
endif()

function(genista_house_options target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
        -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference -Wdouble-promotion)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # -Wnull-dereference in g++ 12 reports paths inside libstdc++ and GoogleTest when it inlines them.
        target_compile_options(${target} PRIVATE -Wno-null-dereference)
    endif()
    if(GENISTA_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(GENISTA_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${GENISTA_SANITIZE} -fno-omit-frame-pointer
            -fno-sanitize-recover=all)
        target_compile_options(${target} PRIVATE ${genista_false_alarms})
        target_link_options(${target} PUBLIC -fsanitize=${GENISTA_SANITIZE})
    endif()
endfunction()

# genista_hidden(TARGET): a shared library of a user that links the static TARGET does not export it. Two such libraries in one
# process, each with a genista of its own, then do not get into each other's way.
function(genista_hidden target)
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# genista_unity(TARGET FILES): compiles TARGET so many files at a time. Most of a file's time is spent on the headers that its
# neighbours read too: in a unity build the lab compiles in a third of the time. Files that hold kernels stay apart, each is
# large enough by itself and compiled once for every instruction set.
function(genista_unity target files)
    if(NOT GENISTA_UNITY)
        return()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    foreach(source IN LISTS sources)
        file(STRINGS ${source} kernels REGEX "#include \".*(foreach_isa\\.hpp|\\.inl)\"" LIMIT_COUNT 1)
        if(kernels)
            set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        endif()
    endforeach()
endfunction()

# For the command line and the lab: where they are not run, they are compiled only for the warnings.
function(genista_tool_options target)
    genista_house_options(${target})
    if(GENISTA_TOOLS_UNUSED)
        target_compile_options(${target} PRIVATE -O0 -g0 -fno-sanitize=all)
    endif()
endfunction()
