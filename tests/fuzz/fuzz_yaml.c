// fuzz_yaml.c - any bytes as YAML: refused with one line, or a tree whose texts are written by
// rh_text__yaml() and read back.

#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "base/text.h"
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

// Write a tree in flow style.
static void write_node(rh_text *text, const rh_yaml *node)
{
    if (node->kind == RH_YAML_TEXT) {
        rh_text__yaml(text, node->text);
        return;
    }
    bool map = node->kind == RH_YAML_MAP;
    rh_text__add(text, map ? "{" : "[");
    for (int i = 0; i < node->n; i++) {
        if (map) {
            rh_text__add(text, "? ");
            rh_text__yaml(text, node->key[i]->text);
            rh_text__add(text, " : ");
        }
        write_node(text, node->item[i]);
        rh_text__add(text, ", ");
    }
    rh_text__add(text, map ? "}" : "]");
}

static void same(const rh_yaml *a, const rh_yaml *b, int depth)
{
    require(a->kind == b->kind && a->n == b->n && depth <= 16);
    require(a->kind != RH_YAML_TEXT || strcmp(a->text, b->text) == 0);
    for (int i = 0; i < a->n; i++) {
        require(a->kind != RH_YAML_MAP || strcmp(a->key[i]->text, b->key[i]->text) == 0);
        same(a->item[i], b->item[i], depth + 1);
    }
}

static void look_at(const rh_yaml *node)
{
    char shown[RH_YAML__SHOWN];
    double x;
    uint64_t n;
    bool yes;
    rh_yaml__show(node, shown);
    require(strlen(shown) < sizeof shown && !strchr(shown, '\n'));
    rh_yaml__number(node, &x);
    rh_yaml__whole(node, &n);
    rh_yaml__truth(node, &yes);
    rh_yaml__nothing(node);
    for (int i = 0; i < node->n; i++)
        look_at(node->item[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_yaml *tree = NULL, *again = NULL;
    rh_status rc = rh_yaml__parse(&tree, data, size, "file", &err);
    require((rc == RH_OK) == (tree != NULL));
    require(rc == RH_OK || (strncmp(err.text, "file:", 5) == 0 && !strchr(err.text, '\n')));
    if (tree) {
        rh_text text = {0};
        look_at(tree);
        write_node(&text, tree);
        if (rh_yaml__parse(&again, text.data, text.n, "file", &err) == RH_OK)
            same(tree, again, 1);
        else
            require(false);
        rh_text__clear(&text);
    }
    rh_yaml__destroy(tree);
    rh_yaml__destroy(again);
    require(rh_base__alloc_live() == live);
    return 0;
}
