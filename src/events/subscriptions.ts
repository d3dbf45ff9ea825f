import type { OwnerScope } from '../kernel/caller'
import type { Reader, Tx } from '../kernel/store'
import { matchesPattern, stemOf, stemsOf } from './patterns'
import { subscriptionRepository as rows } from './repository'

/** What may subscribe to events. Only webhooks take a pattern without `*` as one name (contract 14.1). */
export type Subscriber = 'webhook' | 'hook' | 'workflow' | 'skill'

type Target = { owner: OwnerScope; subscriber: Subscriber; target: string }

/** Has a target receive what these patterns match, and nothing else; none ends it. */
export async function subscribe(tx: Tx, { owner, subscriber, target }: Target, patterns: readonly string[]) {
  await rows.remove(tx, subscriber, target)
  for (const pattern of new Set(patterns)) {
    await rows.insert(tx, { owner, subscriber, target, pattern, stem: stemOf(pattern) })
  }
}

/** The targets of an owner that an event of this type reaches, by kind of subscriber. */
export async function subscribersOf(
  reader: Reader,
  owner: OwnerScope,
  type: string,
): Promise<Map<Subscriber, string[]>> {
  const found = new Map<Subscriber, string[]>()
  for (const { subscriber, target, pattern } of await rows.interested(reader, { owner, ...stemsOf(type) })) {
    if (!matchesPattern(pattern, type, { prefix: subscriber !== 'webhook' })) continue
    const targets = found.get(subscriber) ?? []
    if (!targets.includes(target)) found.set(subscriber, [...targets, target])
  }
  return found
}
