// A function table that passes every call on to a real one, counts the handles that are held, and fails one call.
#pragma once

#include <COpenCL.h>

// The counts belong to the process: a test that uses a wrapped table does so between these two.
void opencl_faults_begin(void);
void opencl_faults_end(void);

// Wraps `real`.
bg_opencl_functions opencl_faults_wrap(bg_opencl_functions real);

// Starts counting calls at 0 and fails the call numbered `failing_call` (from 1) with `status`; 0 fails none.
// Releases are never failed, and not counted as calls.
void opencl_faults_arm(int failing_call, cl_int status);

// Calls since opencl_faults_arm.
int opencl_faults_calls(void);

// Whether the call to fail was reached.
int opencl_faults_fired(void);

// Handles made and not released: contexts, queues, buffers, programs, kernels, and mapped regions.
int opencl_faults_live(void);
