import type { OwnerScope } from '../kernel/caller'
import type { Reader, Tx } from '../kernel/store'
import { matchesPattern, stemOf, stemsOf } from './patterns'
import { subscriptionRepository as rows } from './repository'

/** What may subscribe to events. Only webhooks take a pattern without `*` as one name (contract 14.1). */
export type Subscriber = 'webhook' | 'hook' | 'workflow' | 'skill'

type Target = { owner: OwnerScope; subscriber: Subscriber; target: string }

/** What nobody is subscribed to, as owner and type. Every paid call emits, and most owners have no subscriber. */
type Silence = { known: Set<string>; changes: number }

const MAX_KNOWN = 50_000

/** By connection, and so on SQLite alone: on Postgres another process may subscribe. */
const silences = new WeakMap<object, Silence>()

function silenceOf({ prepared }: Tx): Silence | null {
  if (!prepared) return null
  const found = silences.get(prepared) ?? { known: new Set(), changes: 0 }
  silences.set(prepared, found)
  return found
}

/** Has a target receive what these patterns match, and nothing else; none ends it. */
export async function subscribe(tx: Tx, { owner, subscriber, target }: Target, patterns: readonly string[]) {
  const silence = silenceOf(tx)
  if (silence) {
    silence.changes += 1
    silence.known.clear()
  }
  await rows.remove(tx, subscriber, target)
  for (const pattern of new Set(patterns)) {
    await rows.insert(tx, { owner, subscriber, target, pattern, stem: stemOf(pattern) })
  }
}

type Reached = ReadonlyMap<Subscriber, string[]>

const NOBODY: Reached = new Map()

/** The targets of an owner that an event of this type reaches, by kind of subscriber. At once where it is known: none. */
export function subscribersOf(tx: Tx, owner: OwnerScope, type: string): Reached | Promise<Reached> {
  const silence = silenceOf(tx)
  const place = `${owner} ${type}`
  return silence?.known.has(place) ? NOBODY : askFor(tx, owner, type, silence, place)
}

async function askFor(
  tx: Tx,
  owner: OwnerScope,
  type: string,
  silence: Silence | null,
  place: string,
): Promise<Reached> {
  const interested = await rows.interested(tx, { owner, ...stemsOf(type) })
  if (silence && !interested.length) keepOnceCommitted(tx, silence, place)
  return reachedBy(interested, type)
}

/** How many webhooks of an owner an event of this type would reach now. */
export async function webhooksFor(reader: Reader, owner: OwnerScope, type: string): Promise<number> {
  const interested = await rows.interested(reader, { owner, ...stemsOf(type) })
  return reachedBy(interested, type).get('webhook')?.length ?? 0
}

function reachedBy(interested: Awaited<ReturnType<typeof rows.interested>>, type: string): Reached {
  const found = new Map<Subscriber, Set<string>>()
  for (const { subscriber, targets, pattern } of interested) {
    if (!matchesPattern(pattern, type, { prefix: subscriber !== 'webhook' })) continue
    const all = found.get(subscriber) ?? new Set()
    for (const target of targets.split(' ')) all.add(target)
    found.set(subscriber, all)
  }
  return new Map([...found].map(([subscriber, targets]) => [subscriber, [...targets]]))
}

/** An end of a subscription that this unit saw may still be undone, and another may begin before the commit. */
function keepOnceCommitted(tx: Tx, silence: Silence, place: string): void {
  const { changes } = silence
  tx.afterCommit(() => {
    if (silence.changes !== changes) return
    if (silence.known.size >= MAX_KNOWN) silence.known.clear()
    silence.known.add(place)
  })
}
