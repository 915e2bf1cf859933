# The house as tests: every public header compiles alone, clang-format and clang-tidy have nothing to say. (What is checked
# in C++, the include arrow and the style of files, is in tests/house/*_test.cpp.)
#
# Formatting and tidiness do not depend on the compiler, so each is asked once: format in the optimised presets, headers and
# clang-tidy in the preset asan, whose compile commands it reads: it is clang's. Both come from ./test's list of packages; without them
# the tests fail and say what is missing.

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND GENISTA_SANITIZE)
    # One translation unit a header, which includes it twice: it must bring what it uses, and guard itself.
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
         ${PROJECT_SOURCE_DIR}/include/genista/*.hpp)
    set(header_units)
    foreach(header IN LISTS headers)
        string(REGEX REPLACE "[/.]" "_" stem ${header})
        set(unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${stem}.cpp)
        file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n#include \"${header}\"\n" @ONLY)
        list(APPEND header_units ${unit})
    endforeach()
    add_library(genista_headers_alone OBJECT ${header_units})
    target_link_libraries(genista_headers_alone PRIVATE genista::genista)
    genista_house_options(genista_headers_alone)
    target_compile_options(genista_headers_alone PRIVATE -O0 -g0 -fno-sanitize=all)  # nobody runs them
endif()

if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT GENISTA_SANITIZE)
    add_test(NAME house.clang_format COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/clang_format.sh ${PROJECT_SOURCE_DIR})
    set_tests_properties(house.clang_format PROPERTIES LABELS house)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND GENISTA_SANITIZE)
    add_test(NAME house.clang_tidy
             COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/clang_tidy.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
    set_tests_properties(house.clang_tidy PROPERTIES LABELS house PROCESSORS ${cores} TIMEOUT 1800)
endif()
