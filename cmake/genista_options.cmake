# The compiler options of the house, in one place: warnings, sanitizers. No -march anywhere: release binaries run on any
# x86-64, and kernels for larger instruction sets are chosen at run time (include/genista/base/cpu.hpp).
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

# For the command line and the lab: where they are not run, they are compiled only for the warnings.
function(genista_tool_options target)
    genista_house_options(${target})
    if(GENISTA_TOOLS_UNUSED)
        target_compile_options(${target} PRIVATE -O0 -g0 -fno-sanitize=all)
    endif()
endfunction()
