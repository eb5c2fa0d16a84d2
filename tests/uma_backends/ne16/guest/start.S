/* SPDX-License-Identifier: Apache-2.0 */
  .section .text.start, "ax"
  .globl _start
_start:
  li sp, 0x1000F800
  j guest_main
