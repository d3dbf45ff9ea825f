import { storeAnswer } from '../../../idempotency'
import { type Call, type Caller, keyIdOf } from '../../../kernel/caller'
import { iso } from '../../../kernel/clock'
import type { Tx } from '../../../kernel/store'
import { keyOver } from '../errors'
import { keyRepository as rows } from '../repository'
import { assertRotatable, isLive } from '../rules'
import type { KeyRotation, RotatedKey } from '../schema'
import type { KeyRow } from '../table'
import { KEY_LABELS, mintSecret } from '../token'
import { assertUnbound } from './bounds'
import { type KeyDeps, recordChange } from './deps'
import { findOwnLocked, presentSpent } from './read'

const DEFAULT_GRACE_S = 86_400

/**
 * `POST /keys/{id}/rotate`: the new secret is in this answer only; the old one works until the grace period is over,
 * with 0 it stops at once. Throws 404, 403 `missing_scope` when the key has scopes the caller's key lacks, 403
 * `forbidden` for a colleague's key and when a key with bounds rotates another key, 409 `conflict` for a key that is
 * revoked or expired.
 */
export const rotateKey =
  (deps: KeyDeps) =>
  (call: Call, id: string, input: KeyRotation): Promise<RotatedKey> =>
    deps.store.write(async (tx) => {
      const before = await findOwnLocked(deps, tx, call.caller, id)
      assertRotatable(call.caller, before)
      if (keyIdOf(call.caller) !== before.id) await assertUnbound(tx, call.caller, 'rotate other keys')
      return storeAnswer(tx, call, await rotateIn(deps, tx, call, before, input))
    })

/** The same for a key the caller is already known to manage. Secrets of earlier rotations expire with the last one. */
export async function rotateIn(
  deps: KeyDeps,
  tx: Tx,
  call: Call<Caller>,
  before: KeyRow,
  { grace_period_seconds = DEFAULT_GRACE_S }: KeyRotation,
): Promise<RotatedKey> {
  const now = deps.clock.now()
  if (!isLive(before, now))
    throw before.revoked_at === null
      ? keyOver('expired', iso(before.expires_at!))
      : keyOver('was revoked', iso(before.revoked_at))
  const secret = mintSecret(before.prefix.startsWith(KEY_LABELS.test) ? KEY_LABELS.test : KEY_LABELS.live)
  const until = Math.min(now + grace_period_seconds * 1000, before.expires_at ?? Infinity)
  await rows.replaceSecret(tx, before.id, secret.hash, { now, until })
  const row = await rows.update(tx, before.id, { prefix: secret.prefix, rotating_until: until > now ? until : null })
  await recordChange(deps, tx, call, row, { action: 'key.rotated', metadata: { grace_period_seconds } })
  return { ...(await presentSpent(deps, tx, row)), key: secret.token, previous_key_expires_at: iso(until) }
}
