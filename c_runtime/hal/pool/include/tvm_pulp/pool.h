/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses and sizes of a pool of tiles, for C and assembly. */
#ifndef TVM_PULP_POOL_H
#define TVM_PULP_POOL_H

/* Control registers, the DMA's, and the simulation's console. */
#define POOL_END 0x40000000 /* (code << 1) | 1 ends the run */
#define POOL_WAKE_UP 0x40000004
#define POOL_ALL 0xFFFFFFFFu
#define POOL_WAKE_UP_GROUP 0x40000028 /* mask of groups; not on all chips */
#define POOL_DMA_SOURCE 0x40010000
#define POOL_DMA_TARGET 0x40010004
#define POOL_DMA_BYTES 0x40010008
#define POOL_DMA_START 0x40010014 /* by reading it */
#define POOL_DMA_DONE 0x40010018
#define POOL_CONSOLE 0xC0000000

/* Numbers in which chips of the family differ: programs are built with those of theirs. The linker script is made from
 * the same description. */
#ifndef TVM_PULP_L1_BYTES
#define TVM_PULP_L1_BYTES 0x100000
#endif
#ifndef TVM_PULP_HARDWARE_CORES
#define TVM_PULP_HARDWARE_CORES 256
#endif
#ifndef TVM_PULP_STACK_BYTES
#define TVM_PULP_STACK_BYTES 512 /* per core */
#endif
#ifndef POOL_TILES
#define POOL_TILES 64
#endif
#ifndef POOL_TILE_CORES
#define POOL_TILE_CORES 4
#endif
#ifndef POOL_TILE_BANKS
#define POOL_TILE_BANKS 16
#endif
#ifndef POOL_GROUPS
#define POOL_GROUPS 4
#endif
#ifndef POOL_WAKE_MASKS
#define POOL_WAKE_MASKS 0 /* whether groups can be woken */
#endif

/* Tiles of a group, and those of them that have cores. */
#define POOL_GROUP_TILES (POOL_TILES / POOL_GROUPS)
#define POOL_CORE_TILES (TVM_PULP_HARDWARE_CORES / POOL_TILE_CORES / POOL_GROUPS)

/* Places of cores in all tiles, each with room for a stack; tiles of accelerators have none. */
#define TVM_PULP_HARTS (POOL_TILES * POOL_TILE_CORES)
#define POOL_CORES_OF_GROUP (POOL_CORE_TILES * POOL_TILE_CORES)
#define POOL_PLACES_OF_GROUP (POOL_GROUP_TILES * POOL_TILE_CORES)
#define TVM_PULP_STACKS TVM_PULP_HARTS /* that end with a guard */

#endif /* TVM_PULP_POOL_H */
