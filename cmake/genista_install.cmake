# `cmake --install`: headers, the library, and what find_package(genista) and pkg-config look for.
include(CMakePackageConfigHelpers)
install(TARGETS genista EXPORT genista_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET genista_rocksdb)
    install(TARGETS genista_rocksdb EXPORT genista_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
# The headers over RocksDB come with the library over RocksDB.
set(genista_left_out)
if(NOT TARGET genista_rocksdb)
    set(genista_left_out PATTERN stores EXCLUDE)
endif()
install(DIRECTORY include/genista DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${genista_left_out})
install(EXPORT genista_targets NAMESPACE genista:: FILE genista-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/genista)
configure_package_config_file(cmake/genista-config.cmake.in ${PROJECT_BINARY_DIR}/genista-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/genista)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/genista-config-version.cmake COMPATIBILITY SameMinorVersion)
# Relative to where the .pc file lies, so that the package can be moved or installed elsewhere than configured.
file(RELATIVE_PATH genista_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/genista.pc.in ${PROJECT_BINARY_DIR}/genista.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/genista-config.cmake ${PROJECT_BINARY_DIR}/genista-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/genista)
install(FILES ${PROJECT_BINARY_DIR}/genista.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# The manual and the completion come with the programs (tools/CMakeLists.txt).
if(GENISTA_TOOLS AND NOT GENISTA_TOOLS_UNUSED)
    file(GLOB genista_man_pages CONFIGURE_DEPENDS tools/man/*.1)
    install(FILES ${genista_man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES tools/completion/genista.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
            RENAME genista)
endif()
