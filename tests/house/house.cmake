# Style checks as tests: every public header compiles alone, and clang-format and clang-tidy find nothing. (The checks written in
# C++, the include arrow and the style of files, are in tests/house/*_test.cpp.)
#
# Formatting and clang-tidy do not depend on the compiler, so each runs once: the format in the optimised presets, headers and
# clang-tidy in the preset asan, whose compile commands clang-tidy reads. clang-tidy and the headers check the files of the
# change, in ./test --long all files. Without the programs the tests fail and name what is missing.

if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT GENISTA_SANITIZE)
    add_test(NAME house.clang_format
             COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/clang_format.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    set_tests_properties(house.clang_format PROPERTIES LABELS house)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND GENISTA_SANITIZE)
    add_test(NAME house.clang_tidy
             COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/clang_tidy.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
    add_test(NAME house.headers_alone
             COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/headers_alone.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    set_tests_properties(house.clang_tidy house.headers_alone PROPERTIES LABELS house PROCESSORS ${cores} TIMEOUT 3600)
endif()
