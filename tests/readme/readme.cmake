# The snippets of README.md and docs/ compile without a warning: check.sh has the rule. Once, by the compiler of the release
# preset.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT GENISTA_SANITIZE)
    set(with_rocksdb OFF)
    if(TARGET genista_rocksdb)
        set(with_rocksdb ON)
    endif()
    add_test(NAME readme.snippets_compile
             COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/check.sh ${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR}
                     ${CMAKE_CURRENT_BINARY_DIR}/readme ${with_rocksdb})
    set_tests_properties(readme.snippets_compile PROPERTIES LABELS house)
endif()
