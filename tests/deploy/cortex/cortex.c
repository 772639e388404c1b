// cortex.c - drive.h on a Cortex-M of qemu (mps2-an385, mps2-an386) without an operating
// system.
//
// Semihosting prints and ends. The timer of the system counts instructions: with `-icount
// shift=0` one is a nanosecond, and the timer has 25 MHz.

#include "drive.h"

#define SYST_CSR (*(volatile uint32_t *)0xe000e010)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018)
#define CPACR (*(volatile uint32_t *)0xe000ed88)
#define TICK 40 // instructions

extern uint32_t data_from, data_begin, data_end, bss_begin, bss_end, stack_end;
int main(void);
void reset(void);
void fault(void);
void *memset(void *to, int c, unsigned n);
void *memcpy(void *to, const void *from, unsigned n);

static uint64_t spent;

// What the compiler may call.
void *memset(void *to, int c, unsigned n)
{
    volatile uint8_t *byte = to;
    while (n--)
        *byte++ = (uint8_t)c;
    return to;
}

void *memcpy(void *to, const void *from, unsigned n)
{
    volatile uint8_t *byte = to;
    const uint8_t *other = from;
    while (n--)
        *byte++ = *other++;
    return to;
}

static int semihosting(int what, const void *with)
{
    register int r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = with;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void print(const char *line)
{
    semihosting(4, line);
}

static void begin(void)
{
    SYST_CVR = 0; // counts down from 2^24 - 1
}

static void end(void)
{
    spent += 0x00ffffff - SYST_CVR;
}

int main(void)
{
    char line[] = "instructions a step: 0x00000000\n";
    SYST_RVR = 0x00ffffff;
    SYST_CSR = 5;
    drive(begin, end, print);
    drive_put(line + 23, spent * TICK / DRIVE_STEPS, 8);
    print(line);
    semihosting(0x18, (void *)0x20026); // the program has ended
    return 0;
}

void reset(void)
{
    uint32_t *from = &data_from;
#if defined(__ARM_FP)
    CPACR |= 0xf << 20; // the floating-point unit on
#endif
    for (uint32_t *to = &data_begin; to < &data_end;)
        *to++ = *from++;
    for (uint32_t *to = &bss_begin; to < &bss_end;)
        *to++ = 0;
    (void)main();
}

void fault(void)
{
    print("fault\n");
    semihosting(0x18, (void *)0x20023);
    for (;;)
        continue;
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_end,    (void *)reset, (void *)fault, (void *)fault,
    (void *)fault, (void *)fault, (void *)fault,
};
