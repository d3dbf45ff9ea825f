import { type OwnerScope, TIERS, type Tier } from '../../../kernel/caller'
import type { KeyId, UserId } from '../../../kernel/ids'
import type { Reader, Tx } from '../../../kernel/store'
import { keyRepository as rows } from '../repository'
import { ownerOfKey } from '../rules'
import type { KeyRow } from '../table'
import type { KeyDeps } from './deps'

/** The keys whose tier changes: one key, or every personal key of a user. */
export type TierSubject = { keyId: KeyId } | { userId: UserId }

/** A key as the rate-limits room sees it. */
export type TieredKey = { id: KeyId; tier: Tier; scope: OwnerScope }

/**
 * For the rate-limits room, which owns tiers and records their changes: the working keys of a subject, and the tier
 * change itself, which applies from the key's next request.
 */
export const retierKeys = ({ clock, lookup }: Pick<KeyDeps, 'clock' | 'lookup'>) => ({
  /** Lowest tier first. */
  async inForce(reader: Reader, subject: TierSubject): Promise<TieredKey[]> {
    const found = await rows.inForce(reader, subject, clock.now())
    return found.map(toTiered).sort((a, b) => TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier))
  },

  async set(tx: Tx, id: KeyId, tier: Tier): Promise<void> {
    await rows.update(tx, id, { tier })
    const hashes = await rows.hashesOf(tx, id)
    tx.afterCommit(() => hashes.forEach(lookup.forget))
  },
})

const toTiered = (row: KeyRow): TieredKey => ({ id: row.id, tier: row.tier, scope: ownerOfKey(row) })
