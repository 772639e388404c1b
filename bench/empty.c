// empty.c - a program that does nothing, for bench_start.c.

int main(void)
{
    return 0;
}
