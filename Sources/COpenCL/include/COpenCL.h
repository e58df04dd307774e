// The part of OpenCL 1.2 that this package calls, as a table filled at run time.
//
// Nothing here links against OpenCL: a program with this target starts on a machine without it. The table is also the
// place where tests put their own functions.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <stddef.h>
#include <stdint.h>

// Every function of the table. X(name) is used once to declare the fields and once to look the symbols up.
#define BG_OPENCL_FUNCTIONS(X)                                                                                         \
    X(clGetPlatformIDs)                                                                                                \
    X(clGetPlatformInfo)                                                                                               \
    X(clGetDeviceIDs)                                                                                                  \
    X(clGetDeviceInfo)                                                                                                 \
    X(clCreateContext)                                                                                                 \
    X(clReleaseContext)                                                                                                \
    X(clCreateCommandQueue)                                                                                            \
    X(clReleaseCommandQueue)                                                                                           \
    X(clCreateBuffer)                                                                                                  \
    X(clReleaseMemObject)                                                                                              \
    X(clCreateProgramWithSource)                                                                                       \
    X(clCreateProgramWithBinary)                                                                                       \
    X(clBuildProgram)                                                                                                  \
    X(clGetProgramInfo)                                                                                                \
    X(clGetProgramBuildInfo)                                                                                           \
    X(clReleaseProgram)                                                                                                \
    X(clCreateKernel)                                                                                                  \
    X(clGetKernelWorkGroupInfo)                                                                                        \
    X(clSetKernelArg)                                                                                                  \
    X(clReleaseKernel)                                                                                                 \
    X(clEnqueueNDRangeKernel)                                                                                          \
    X(clEnqueueReadBuffer)                                                                                             \
    X(clEnqueueWriteBuffer)                                                                                            \
    X(clEnqueueMapBuffer)                                                                                              \
    X(clEnqueueUnmapMemObject)                                                                                         \
    X(clFlush)                                                                                                         \
    X(clFinish)                                                                                                        \
    X(clWaitForEvents)                                                                                                 \
    X(clReleaseEvent)

typedef struct bg_opencl_functions {
#define BG_OPENCL_FIELD(name) cl_api_##name name;
    BG_OPENCL_FUNCTIONS(BG_OPENCL_FIELD)
#undef BG_OPENCL_FIELD
} bg_opencl_functions;

// What became of bg_opencl_load.
typedef enum bg_opencl_load_status {
    BG_OPENCL_LOADED = 0,
    // dlopen refused; `reason` has its words.
    BG_OPENCL_NO_LIBRARY = 1,
    // The library lacks a function; `reason` has its name.
    BG_OPENCL_NO_SYMBOL = 2,
} bg_opencl_load_status;

// Opens `library` and fills `functions`. The library stays open for the life of the process: drivers start threads that
// do not survive unloading. On failure `functions` is all null, and `reason` is a C string cut to `reason_size` bytes.
bg_opencl_load_status bg_opencl_load(
    const char *library, bg_opencl_functions *functions, char *reason, size_t reason_size);

// Tries to open a driver library the way the loader would, running its constructors.
// Returns 0, or 1 with dlopen's words in `reason`.
int bg_opencl_try_library(const char *library, char *reason, size_t reason_size);
