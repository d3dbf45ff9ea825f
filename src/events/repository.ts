import { and, eq, gt, gte, inArray, lt, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { nameFilter, type PageRequest, pagesBy } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import type { Range } from '../kernel/range'
import { allOf, command, query, type Reader, type Tx } from '../kernel/store'
import type { EventId } from './schema'
import { type BusEventRow, busEvents, eventSubscriptions } from './table'

/** Maximum number of words used for a lookup. More words do not narrow the index further. */
const MAX_WORDS = 4

/** The words of a pattern before its first `*`, four at most. They are its index key, which is empty for `*`. */
export const stemOf = (pattern: string): string => {
  const words = pattern.split('.')
  const star = words.indexOf('*')
  return words.slice(0, Math.min(star < 0 ? words.length : star, MAX_WORDS)).join('.')
}

/** The index keys of all patterns that can match a name, always five: `''`, `order`, `order.created`. */
function stemsOf(type: string): Record<'s0' | 's1' | 's2' | 's3' | 's4', string> {
  const words = type.split('.')
  const first = (count: number) => words.slice(0, count).join('.')
  return { s0: '', s1: first(1), s2: first(2), s3: first(3), s4: first(4) }
}

/**
 * Whether a pattern matches the name of an event (docs/api.md 11.1). `*` alone matches all names, in the middle one
 * word, at the end one or more words. With `prefix`, a pattern without `*` also matches names that start with it:
 * `share` matches `share.accepted`.
 */
export function matchesPattern(pattern: string, type: string, { prefix }: { prefix: boolean }): boolean {
  if (pattern === '*' || pattern === type) return true
  const [wanted, words] = [pattern.split('.'), type.split('.')]
  const isOpen = wanted.at(-1) === '*'
  const fits = wanted.every((word, index) => index < words.length && (word === '*' || word === words[index]))
  if (!fits) return false
  return words.length === wanted.length || isOpen || (prefix && !pattern.includes('*'))
}

const newestFirst = pagesBy(busEvents, 'created_at')

const insertEvent = command<BusEventRow>()((tx, p) => tx.insert(tx.of(busEvents)).values(allOf(tx.of(busEvents), p)))

/** One row per pattern with all its targets, because rows determine the cost. No target contains a space. */
const interested = query<{ owner: OwnerScope } & ReturnType<typeof stemsOf>>()((db, p) => {
  const t = db.of(eventSubscriptions)
  const ofOwner = and(eq(t.owner, p.owner), inArray(t.stem, [p.s0, p.s1, p.s2, p.s3, p.s4]))
  const targets = sql<string>`string_agg(${t.target}, ' ')`
  const found = db.select({ subscriber: t.subscriber, pattern: t.pattern, targets }).from(t).where(ofOwner)
  return found.groupBy(t.subscriber, t.pattern)
})

type Listed = PageRequest & { type?: string | undefined; range: Range }

/** Stored events. Each read takes the owner, or null for all owners. */
export const eventRepository = {
  insert: async (tx: Tx, row: BusEventRow): Promise<void> => void (await insertEvent(tx, row)),

  /** Newest first. */
  list(db: Reader, owner: OwnerScope | null, { type, range, ...wanted }: Listed): Promise<Page<BusEventRow>> {
    const t = db.of(busEvents)
    const ownerFilter = owner === null ? undefined : eq(t.owner, owner)
    const since = range.from === null ? undefined : gte(t.created_at, range.from)
    const until = range.to === null ? undefined : lt(t.created_at, range.to)
    return newestFirst(db, wanted, ownerFilter, nameFilter(t.type, type), since, until)
  },

  /** The number of events since a given time that other events caused, counted up to `max`. */
  async countStarted(tx: Tx, owner: OwnerScope, since: number, max: number): Promise<number> {
    const t = tx.of(busEvents)
    const started = and(eq(t.owner, owner), gte(t.created_at, since), gt(t.depth, 0))
    return (await tx.select({ id: t.id }).from(t).where(started).limit(max)).length
  },

  async envelopes(db: Reader, ids: readonly EventId[]): Promise<Map<EventId, string>> {
    if (!ids.length) return new Map()
    const t = db.of(busEvents)
    const found = db
      .select({ id: t.id, envelope: t.envelope })
      .from(t)
      .where(inArray(t.id, [...ids]))
    return new Map((await found).map(({ id, envelope }) => [id, envelope]))
  },
}

/** The kinds of event subscribers. Only webhooks match a pattern without `*` exactly (docs/api.md 14.1). */
export type Subscriber = 'webhook' | 'hook' | 'workflow' | 'skill'

type Target = { owner: OwnerScope; subscriber: Subscriber; target: string }

/** Types of events without subscribers, by owner. Every paid call emits events, and most owners have no subscriber. */
type Silence = { known: Map<OwnerScope, Set<string>>; changes: number }

const MAX_KNOWN = 50_000

/** Keyed by connection, on SQLite only, because on Postgres another process may subscribe. */
const silences = new WeakMap<object, Silence>()

function silenceOf({ prepared }: Tx): Silence | null {
  if (!prepared) return null
  const found = silences.get(prepared) ?? { known: new Map(), changes: 0 }
  silences.set(prepared, found)
  return found
}

/** Replaces the patterns of a target. An empty list ends the subscription. */
export async function subscribe(tx: Tx, { owner, subscriber, target }: Target, patterns: readonly string[]) {
  const silence = silenceOf(tx)
  if (silence) {
    silence.changes += 1
    silence.known.clear()
  }
  const t = tx.of(eventSubscriptions)
  await tx.delete(t).where(and(eq(t.subscriber, subscriber), eq(t.target, target)))
  for (const pattern of new Set(patterns)) {
    await tx.insert(t).values({ owner, subscriber, target, pattern, stem: stemOf(pattern) })
  }
}

type Reached = ReadonlyMap<Subscriber, string[]>

const NOBODY: Reached = new Map()

/** True if it is known that an event of this type reaches nobody. */
export const hasNoSubscriber = (tx: Tx, owner: OwnerScope, type: string): boolean =>
  silenceOf(tx)?.known.get(owner)?.has(type) ?? false

/** The targets of an owner that an event of this type reaches, by kind of subscriber. */
export async function subscribersOf(tx: Tx, owner: OwnerScope, type: string): Promise<Reached> {
  if (hasNoSubscriber(tx, owner, type)) return NOBODY
  const silence = silenceOf(tx)
  const found = await interested(tx, { owner, ...stemsOf(type) })
  if (silence && !found.length) keepOnceCommitted(tx, silence, owner, type)
  return reachedBy(found, type)
}

/** The number of an owner's webhooks that an event of this type would reach now. */
export async function webhooksFor(reader: Reader, owner: OwnerScope, type: string): Promise<number> {
  const found = await interested(reader, { owner, ...stemsOf(type) })
  return reachedBy(found, type).get('webhook')?.length ?? 0
}

function reachedBy(patterns: Awaited<ReturnType<typeof interested>>, type: string): Reached {
  const found = new Map<Subscriber, Set<string>>()
  for (const { subscriber, targets, pattern } of patterns) {
    if (!matchesPattern(pattern, type, { prefix: subscriber !== 'webhook' })) continue
    const all = found.get(subscriber) ?? new Set()
    for (const target of targets.split(' ')) all.add(target)
    found.set(subscriber, all)
  }
  return new Map([...found].map(([subscriber, targets]) => [subscriber, [...targets]]))
}

/** Caches only after the commit, because the transaction may roll back or another subscription may precede it. */
function keepOnceCommitted(tx: Tx, silence: Silence, owner: OwnerScope, type: string): void {
  const { changes } = silence
  tx.afterCommit(() => {
    if (silence.changes !== changes) return
    if (silence.known.size >= MAX_KNOWN) silence.known.clear()
    const types = silence.known.get(owner) ?? new Set()
    silence.known.set(owner, types.add(type))
  })
}
