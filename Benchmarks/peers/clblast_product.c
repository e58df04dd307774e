// The rate of CLBlast's single-precision product of matrices on the first OpenCL device, as bgrun-bench device has bgrun's own.
//
//   gcc -O2 clblast_product.c -o clblast_product -lclblast -lOpenCL && ./clblast_product      (Debian: libclblast-dev)
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <clblast_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(int status, const char *what) {
    if (status != 0) {
        fprintf(stderr, "%s: %d\n", what, status);
        exit(1);
    }
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    char name[200];
    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL), "name");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "queue");
    printf("%s\n", name);
    const size_t sizes[][3] = {{1024, 1024, 1024}, {4096, 4096, 4096}, {6304, 768, 768}}; // rows, columns, depth
    for (int s = 0; s < 3; ++s) {
        const size_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
        const size_t elements[3] = {m * k, k * n, m * n};
        cl_mem buffers[3];
        for (int b = 0; b < 3; ++b) {
            float *values = malloc(elements[b] * sizeof(float));
            for (size_t i = 0; i < elements[b]; ++i)
                values[i] = (float)(i * 37 % 101) / 101 - 0.5f;
            buffers[b] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, elements[b] * sizeof(float), values,
                                        &status);
            check(status, "buffer");
            free(values);
        }
        double best = 1e9;
        for (int run = 0; run < 11; ++run) { // the first compiles
            const double start = seconds();
            check(CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m, n, k, 1, buffers[0], 0, k,
                               buffers[1], 0, n, 0, buffers[2], 0, n, &queue, NULL),
                  "CLBlastSgemm");
            check(clFinish(queue), "finish");
            const double taken = seconds() - start;
            if (run > 0 && taken < best)
                best = taken;
        }
        printf("product %zu x %zu x %zu: %.0f GFLOP/s\n", m, k, n, 2e-9 * m * n * k / best);
        for (int b = 0; b < 3; ++b)
            clReleaseMemObject(buffers[b]);
    }
    return 0;
}
