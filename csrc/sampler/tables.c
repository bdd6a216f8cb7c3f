#include "sampler/tables.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    SLOTS = 256, /* the first budget over a small table */
    STATE_BITS = 20,
    EMPTY = 0,
    IDLE = 1,
    CHANGING = (1 << STATE_BITS) - 1
};

typedef struct slot {
    _Alignas(64) _Atomic uint64_t word; /* stamp 2^STATE_BITS + state */
    _Atomic uint64_t last_use;          /* the clock then */
    _Atomic size_t bytes;               /* 0: no table */
    /* written while CHANGING: */
    dg_table *table;
    dg_law *law; /* which it refers to, so that it may outlive its sampler */
} slot;

static slot slots[SLOTS];
/* Twice how many tables were ever kept. So it is read, not written, by those who draw: threads share its
 * cache line. The odd number between is the use of the table that was kept. */
static _Atomic uint64_t uses_clock;
static _Atomic size_t budget = (size_t)64 << 20;

static uint64_t state_of(uint64_t word)
{
    return word & CHANGING;
}

static uint64_t stamp_of(uint64_t word)
{
    return word >> STATE_BITS;
}

static slot *slot_of(dg_ticket ticket)
{
    return &slots[ticket % SLOTS];
}

const dg_table *dg_tables_enter(dg_ticket ticket)
{
    slot *at = slot_of(ticket);
    uint64_t word = atomic_load_explicit(&at->word, memory_order_relaxed);
    do {
        if (ticket == 0 || stamp_of(word) != stamp_of(ticket) || state_of(word) == EMPTY ||
            state_of(word) >= CHANGING - 1) {
            return NULL;
        }
    } while (!atomic_compare_exchange_weak_explicit(&at->word, &word, word + 1,
                                                    memory_order_acquire, memory_order_relaxed));
    const uint64_t now = atomic_load_explicit(&uses_clock, memory_order_relaxed);
    if (atomic_load_explicit(&at->last_use, memory_order_relaxed) != now) {
        atomic_store_explicit(&at->last_use, now, memory_order_relaxed);
    }
    return at->table;
}

void dg_tables_leave(dg_ticket ticket)
{
    (void)atomic_fetch_sub_explicit(&slot_of(ticket)->word, 1, memory_order_release);
}

/** Become the only one to change a slot, if its word still is `word`. Requires: that is EMPTY or IDLE. */
static bool begin_change(slot *at, uint64_t word)
{
    const uint64_t changing = (stamp_of(word) + 1) << STATE_BITS | CHANGING;
    return atomic_compare_exchange_strong_explicit(&at->word, &word, changing, memory_order_acquire,
                                                   memory_order_relaxed);
}

/** Put a table, or NULL, in the place of the one that is there, which is freed, and let others in.
 *  Returns: the new word. */
static uint64_t end_change(slot *at, dg_table *table, dg_law *law, uint64_t state, uint64_t use)
{
    const uint64_t stamp = stamp_of(atomic_load_explicit(&at->word, memory_order_relaxed));
    const uint64_t word = stamp << STATE_BITS | state;
    dg_table *old_table = at->table;
    dg_law *old_law = at->law;
    at->table = table;
    at->law = law;
    atomic_store(&at->bytes, table == NULL ? 0 : dg_table_bytes(table)); /* see (5) */
    atomic_store_explicit(&at->last_use, use, memory_order_relaxed);
    atomic_store_explicit(&at->word, word, memory_order_release);
    dg_table_release(old_table); /* NULL where it was empty, as the law is */
    dg_law_release(old_law);
    return word;
}

/** Give up a slot's table: otherwise as begin_change. */
static void empty_slot(slot *at, uint64_t word)
{
    if (begin_change(at, word)) {
        (void)end_change(at, NULL, NULL, EMPTY, 0);
    }
}

/** The slot in a state that was not used for longest, and its word; NULL: there is none. */
static slot *oldest(uint64_t state, uint64_t *word)
{
    slot *found = NULL;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < SLOTS; i++) {
        const uint64_t its = atomic_load_explicit(&slots[i].word, memory_order_relaxed);
        const uint64_t use = atomic_load_explicit(&slots[i].last_use, memory_order_relaxed);
        if (state_of(its) == state && use < least) {
            found = &slots[i];
            least = use;
            *word = its;
        }
    }
    return found;
}

size_t dg_tables_bytes(void)
{
    size_t sum = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        sum += atomic_load(&slots[i].bytes);
    }
    return sum;
}

/** Give up tables, the oldest first, until all are within the budget or those left are in use. */
static void keep_to_budget(void)
{
    slot *old = NULL;
    uint64_t word;
    while (dg_tables_bytes() > atomic_load(&budget) && (old = oldest(IDLE, &word)) != NULL) {
        empty_slot(old, word);
    }
}

dg_ticket dg_tables_keep(dg_table *table, dg_law *law)
{
    slot *at = NULL;
    uint64_t word = 0;
    const bool has_room = dg_table_bytes(table) <= atomic_load(&budget);
    while (has_room) { /* again only if another thread was faster, and so has got on */
        at = oldest(EMPTY, &word);
        if (at == NULL) {
            at = oldest(IDLE, &word);
        }
        if (at == NULL || begin_change(at, word)) {
            break;
        }
    }
    dg_ticket ticket = 0;
    if (at != NULL) {
        const uint64_t use = atomic_fetch_add_explicit(&uses_clock, 2, memory_order_relaxed) + 1;
        dg_law_hold(law);
        const uint64_t kept = end_change(at, table, law, IDLE + 1, use);
        ticket = stamp_of(kept) << STATE_BITS | (uint64_t)(at - slots);
    }
    keep_to_budget();
    return ticket;
}

void dg_tables_give_up(dg_ticket ticket)
{
    if (ticket != 0) {
        empty_slot(slot_of(ticket), stamp_of(ticket) << STATE_BITS | IDLE);
    }
}

size_t dg_tables_budget(void)
{
    return atomic_load(&budget);
}

void dg_tables_set_budget(size_t n_bytes)
{
    atomic_store(&budget, n_bytes);
    keep_to_budget();
}
