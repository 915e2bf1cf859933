# A project of its own installs genista and builds against it, once with find_package and once with pkg-config.
#
# Label `native`: a project that does not know of the instrumentation cannot link an instrumented library.
foreach(how find_package pkg_config)
    add_test(NAME consumer.${how}
             COMMAND ${CMAKE_COMMAND} -D how=${how} -D build=${PROJECT_BINARY_DIR}
                     -D scratch=${CMAKE_CURRENT_BINARY_DIR}/consumer/${how} -D compiler=${CMAKE_CXX_COMPILER}
                     -P ${CMAKE_CURRENT_LIST_DIR}/consumer/check.cmake)
    # `cmake --install` writes install_manifest.txt into the build tree: one at a time.
    set_tests_properties(consumer.${how} PROPERTIES LABELS "consumer;native" RESOURCE_LOCK install_manifest)
endforeach()
