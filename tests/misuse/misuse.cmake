# What must not compile does not, and its neighbours do; by the compiler of the preset.
if(NOT GENISTA_SANITIZE OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_test(NAME misuse.of_keys_does_not_compile
             COMMAND ${CMAKE_COMMAND} -D compiler=${CMAKE_CXX_COMPILER} -D include=${PROJECT_SOURCE_DIR}/include
                     -P ${CMAKE_CURRENT_LIST_DIR}/check.cmake)
    set_tests_properties(misuse.of_keys_does_not_compile PROPERTIES LABELS house)
endif()
