# cmake -D how=find_package|pkg_config -D build=... -D scratch=... -D compiler=... -P check.cmake
#
# Installs the build tree `build` below `scratch`, moves the installed copy elsewhere (a package must not depend on where it
# was built or first installed), builds consumer.cpp against it and runs it. Any step that fails is the test's failure.
file(REMOVE_RECURSE ${scratch})
file(MAKE_DIRECTORY ${scratch})

function(step)
    execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

step(${CMAKE_COMMAND} --install ${build} --prefix ${scratch}/first)
set(prefix ${scratch}/moved)
file(RENAME ${scratch}/first ${prefix})

# Nothing of the static libraries may be exported by a shared library that links them.
file(GLOB_RECURSE archives ${prefix}/libgenista*.a)
foreach(archive IN LISTS archives)
    execute_process(COMMAND readelf --symbols --wide ${archive} OUTPUT_FILE ${scratch}/symbols COMMAND_ERROR_IS_FATAL ANY)
    file(STRINGS ${scratch}/symbols hidden REGEX "HIDDEN +[0-9]+ _ZNK?7genista" LIMIT_COUNT 1)
    file(STRINGS ${scratch}/symbols exported REGEX "(GLOBAL|WEAK) +(DEFAULT|PROTECTED) +[0-9]+ _ZNK?7genista")
    if(NOT hidden OR exported)
        message(FATAL_ERROR "${archive}: symbols that are not hidden: ${exported}")
    endif()
endforeach()

if(how STREQUAL "find_package")
    step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${scratch}/build -G Ninja -D CMAKE_BUILD_TYPE=Release
         -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_PREFIX_PATH=${prefix})
    step(${CMAKE_COMMAND} --build ${scratch}/build)
    step(${scratch}/build/consumer)
elseif(how STREQUAL "pkg_config")
    find_program(pkg_config NAMES pkg-config pkgconf)
    if(NOT pkg_config)
        message(FATAL_ERROR "pkg-config is missing; ./test installs it")
    endif()
    file(GLOB_RECURSE package ${prefix}/genista.pc)
    cmake_path(GET package PARENT_PATH folder)
    set(ENV{PKG_CONFIG_PATH} ${folder})
    execute_process(COMMAND ${pkg_config} --cflags --libs genista OUTPUT_VARIABLE flags
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    step(${compiler} ${CMAKE_CURRENT_LIST_DIR}/consumer.cpp ${flags} -o ${scratch}/consumer)
    step(${scratch}/consumer)
else()
    message(FATAL_ERROR "how is '${how}', allowed are find_package and pkg_config")
endif()
