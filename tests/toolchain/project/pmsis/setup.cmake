# A stand-in for an SDK's set-up: the archive's own compiler, start-up code and linker script.
set(SDK ${CMAKE_CURRENT_LIST_DIR})
set(HAL ${CMAKE_SOURCE_DIR}/../runtime/hal)
set(CMAKE_TOOLCHAIN_FILE ${CMAKE_SOURCE_DIR}/../cmake/zig.cmake)

# An SDK's script knows nothing of the network's part of L1.
file(READ ${HAL}/link.ld SCRIPT)
string(REGEX REPLACE "tvm_pulp_l1_arena[a-z_]* = [^;]*;" "" SCRIPT "${SCRIPT}")
file(WRITE ${CMAKE_BINARY_DIR}/link.ld "${SCRIPT}")

function(setupos TARGET)
  get_target_property(DEFINITIONS ${TARGET} COMPILE_DEFINITIONS)
  add_library(sdk OBJECT ${SDK}/runtime.c ${HAL}/start.S ${HAL}/../libc/memory.c)
  target_include_directories(sdk PRIVATE ${SDK} ${HAL} ${HAL}/include ${HAL}/../libc)
  target_compile_definitions(sdk PRIVATE ${DEFINITIONS})
  target_compile_options(sdk PRIVATE -O2 -ffreestanding -Wall -Wextra -Werror)
  target_include_directories(${TARGET} PRIVATE ${SDK})
  target_compile_options(${TARGET} PRIVATE -Werror)
  target_link_libraries(${TARGET} PRIVATE sdk)
  target_link_options(${TARGET} PRIVATE -Wl,-T,${CMAKE_BINARY_DIR}/link.ld -Wl,--gc-sections)
endfunction()
