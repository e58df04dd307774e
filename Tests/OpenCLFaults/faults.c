#include "OpenCLFaults.h"

#include <semaphore.h>
#include <stdatomic.h>

static bg_opencl_functions real;
static atomic_int calls, failing, fired, live;
static cl_int failing_status;

static sem_t turn;

__attribute__((constructor)) static void prepare(void) { sem_init(&turn, 0, 1); }

// A semaphore, since a test may end on another thread than it began on.
void opencl_faults_begin(void) {
    while (sem_wait(&turn))
        ;
}

void opencl_faults_end(void) { sem_post(&turn); }

// Counts a call; true when it is the one to fail.
static int fails(void) {
    if (atomic_fetch_add(&calls, 1) + 1 != atomic_load(&failing))
        return 0;
    atomic_store(&fired, 1);
    return 1;
}

// A call that makes nothing.
#define PLAIN(name, parameters, arguments)                                                                             \
    static cl_int CL_API_CALL name##_wrapped parameters { return fails() ? failing_status : real.name arguments; }

// A call that makes a handle.
#define MAKES(type, name, parameters, arguments)                                                                       \
    static type CL_API_CALL name##_wrapped parameters {                                                                \
        if (fails()) {                                                                                                 \
            if (status)                                                                                                \
                *status = failing_status;                                                                              \
            return NULL;                                                                                               \
        }                                                                                                              \
        type made = real.name arguments;                                                                               \
        if (made)                                                                                                      \
            atomic_fetch_add(&live, 1);                                                                                \
        return made;                                                                                                   \
    }

#define RELEASES(name, type)                                                                                           \
    static cl_int CL_API_CALL name##_wrapped(type handle) {                                                            \
        atomic_fetch_sub(&live, 1);                                                                                    \
        return real.name(handle);                                                                                      \
    }

PLAIN(clGetPlatformIDs, (cl_uint n, cl_platform_id *ids, cl_uint *count), (n, ids, count))
PLAIN(clGetPlatformInfo, (cl_platform_id id, cl_platform_info what, size_t size, void *value, size_t *used),
      (id, what, size, value, used))
PLAIN(clGetDeviceIDs, (cl_platform_id id, cl_device_type type, cl_uint n, cl_device_id *ids, cl_uint *count),
      (id, type, n, ids, count))
PLAIN(clGetDeviceInfo, (cl_device_id id, cl_device_info what, size_t size, void *value, size_t *used),
      (id, what, size, value, used))
MAKES(cl_context, clCreateContext,
      (const cl_context_properties *properties, cl_uint n, const cl_device_id *ids,
       void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *status),
      (properties, n, ids, notify, data, status))
RELEASES(clReleaseContext, cl_context)
MAKES(cl_command_queue, clCreateCommandQueue,
      (cl_context context, cl_device_id id, cl_command_queue_properties properties, cl_int *status),
      (context, id, properties, status))
RELEASES(clReleaseCommandQueue, cl_command_queue)
MAKES(cl_mem, clCreateBuffer, (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status),
      (context, flags, size, host, status))
RELEASES(clReleaseMemObject, cl_mem)
MAKES(cl_program, clCreateProgramWithSource,
      (cl_context context, cl_uint n, const char **strings, const size_t *lengths, cl_int *status),
      (context, n, strings, lengths, status))
MAKES(cl_program, clCreateProgramWithBinary,
      (cl_context context, cl_uint n, const cl_device_id *ids, const size_t *lengths, const unsigned char **binaries,
       cl_int *binary_status, cl_int *status),
      (context, n, ids, lengths, binaries, binary_status, status))
PLAIN(clBuildProgram,
      (cl_program program, cl_uint n, const cl_device_id *ids, const char *options,
       void(CL_CALLBACK *notify)(cl_program, void *), void *data),
      (program, n, ids, options, notify, data))
PLAIN(clGetProgramInfo, (cl_program program, cl_program_info what, size_t size, void *value, size_t *used),
      (program, what, size, value, used))
PLAIN(clGetProgramBuildInfo,
      (cl_program program, cl_device_id id, cl_program_build_info what, size_t size, void *value, size_t *used),
      (program, id, what, size, value, used))
RELEASES(clReleaseProgram, cl_program)
MAKES(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *status), (program, name, status))
PLAIN(clGetKernelWorkGroupInfo,
      (cl_kernel kernel, cl_device_id id, cl_kernel_work_group_info what, size_t size, void *value, size_t *used),
      (kernel, id, what, size, value, used))
PLAIN(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value), (kernel, index, size, value))
RELEASES(clReleaseKernel, cl_kernel)
PLAIN(clEnqueueNDRangeKernel,
      (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
       const size_t *local, cl_uint n, const cl_event *events, cl_event *event),
      (queue, kernel, dimensions, offset, global, local, n, events, event))
PLAIN(clEnqueueReadBuffer,
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *bytes, cl_uint n,
       const cl_event *events, cl_event *event),
      (queue, buffer, blocking, offset, size, bytes, n, events, event))
PLAIN(clEnqueueWriteBuffer,
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void *bytes,
       cl_uint n, const cl_event *events, cl_event *event),
      (queue, buffer, blocking, offset, size, bytes, n, events, event))
MAKES(void *, clEnqueueMapBuffer,
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset, size_t size,
       cl_uint n, const cl_event *events, cl_event *event, cl_int *status),
      (queue, buffer, blocking, flags, offset, size, n, events, event, status))
PLAIN(clFlush, (cl_command_queue queue), (queue))
PLAIN(clFinish, (cl_command_queue queue), (queue))

// The region is given back even when the call is to fail: no caller could try again.
static cl_int CL_API_CALL clEnqueueUnmapMemObject_wrapped(
    cl_command_queue queue, cl_mem buffer, void *pointer, cl_uint n, const cl_event *events, cl_event *event) {
    atomic_fetch_sub(&live, 1);
    return fails() ? (real.clEnqueueUnmapMemObject(queue, buffer, pointer, n, events, event), failing_status)
                   : real.clEnqueueUnmapMemObject(queue, buffer, pointer, n, events, event);
}

bg_opencl_functions opencl_faults_wrap(bg_opencl_functions functions) {
    real = functions;
    bg_opencl_functions wrapped = functions;
#define WRAP(name) wrapped.name = name##_wrapped;
    WRAP(clGetPlatformIDs) WRAP(clGetPlatformInfo) WRAP(clGetDeviceIDs) WRAP(clGetDeviceInfo)
    WRAP(clCreateContext) WRAP(clReleaseContext) WRAP(clCreateCommandQueue) WRAP(clReleaseCommandQueue)
    WRAP(clCreateBuffer) WRAP(clReleaseMemObject) WRAP(clCreateProgramWithSource) WRAP(clCreateProgramWithBinary)
    WRAP(clBuildProgram) WRAP(clGetProgramInfo) WRAP(clGetProgramBuildInfo) WRAP(clReleaseProgram)
    WRAP(clCreateKernel) WRAP(clGetKernelWorkGroupInfo) WRAP(clSetKernelArg) WRAP(clReleaseKernel)
    WRAP(clEnqueueNDRangeKernel) WRAP(clEnqueueReadBuffer) WRAP(clEnqueueWriteBuffer) WRAP(clEnqueueMapBuffer)
    WRAP(clEnqueueUnmapMemObject) WRAP(clFlush) WRAP(clFinish)
#undef WRAP
    return wrapped;
}

void opencl_faults_arm(int failing_call, cl_int status) {
    atomic_store(&calls, 0);
    atomic_store(&fired, 0);
    failing_status = status;
    atomic_store(&failing, failing_call);
}

int opencl_faults_calls(void) { return atomic_load(&calls); }
int opencl_faults_fired(void) { return atomic_load(&fired); }
int opencl_faults_live(void) { return atomic_load(&live); }
