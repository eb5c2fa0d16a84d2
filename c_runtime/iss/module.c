/* SPDX-License-Identifier: Apache-2.0
 *
 * An empty Python module: its shared object carries the simulator, which Python opens with ctypes. */
#ifdef Py_LIMITED_API
#include <Python.h>

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_iss", "The virtual platform, opened with ctypes.", -1,
                                        NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__iss(void) { return PyModule_Create(&definition); }
#else
typedef int iss_built_without_python;
#endif
