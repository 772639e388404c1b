// kernels.h - hot loops that are compiled once per instruction set and chosen at run time.
//
// A set of loops is a struct of functions, one constant of it for each instruction set:
//
//     typedef struct rh_agent__kernels {...} rh_agent__kernels;    in src/agent/kernel.h, then
//     RH_KERNELS(rh_agent__kernels);
//     RH_KERNEL_TABLE(rh_agent__kernels) = {...};                  at the end of kernel.c
//
// CMakeLists.txt compiles every kernel.c and *_kernel.c once for each RH_ISA.

#ifndef REHEARSE_NUMERIC_KERNELS_H
#define REHEARSE_NUMERIC_KERNELS_H

// Instruction sets: 0 baseline; on x86, 1 AVX2 with FMA, 2 AVX-512.
int rh_isa__count(void);   // how many this machine can run
int rh_isa__best(void);    // the last of them that is allowed
void rh_isa__limit(int n); // for tests: allow the first n only; 0: all

#if defined(__x86_64__)
#define RH_KERNELS__LIST(type) &type##_baseline, &type##_avx2, &type##_avx512
#else
#define RH_KERNELS__LIST(type) &type##_baseline
#endif

// Declare type_at(i), the loops of an instruction set, 0 .. rh_isa__count() - 1, and
// type_best(), those of the best one.
#define RH_KERNELS(type)                                                                       \
    extern const type type##_baseline, type##_avx2, type##_avx512;                             \
    static inline const type *type##_at(int isa)                                               \
    {                                                                                          \
        static const type *const table[] = {RH_KERNELS__LIST(type)};                           \
        return table[isa];                                                                     \
    }                                                                                          \
    static inline const type *type##_best(void)                                                \
    {                                                                                          \
        return type##_at(rh_isa__best());                                                      \
    }                                                                                          \
    extern const type type##_baseline /* takes the semicolon */

#define RH_KERNELS__JOIN2(a, b) a##_##b
#define RH_KERNELS__JOIN(a, b) RH_KERNELS__JOIN2(a, b)
#define RH_KERNELS__TEXT2(x) #x
#define RH_KERNELS__TEXT(x) RH_KERNELS__TEXT2(x)

// Bytes of its vectors.
#if defined(__AVX512F__)
#define RH_KERNEL_BYTES 64
#elif defined(__AVX2__)
#define RH_KERNEL_BYTES 32
#else
#define RH_KERNEL_BYTES 16
#endif

// Define the loops of RH_ISA, and name it.
#define RH_KERNEL_TABLE(type) const type RH_KERNELS__JOIN(type, RH_ISA)
#define RH_KERNEL_NAME RH_KERNELS__TEXT(RH_ISA)

#endif
