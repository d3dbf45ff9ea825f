import type { Once } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { seal, sha256Hex, open as unseal } from '../kernel/crypto'
import { failpoint } from '../kernel/failpoint'
import type { UserId } from '../kernel/ids'
import type { Reader, Store, Tx } from '../kernel/store'
import { contextOf } from './context'
import { stillRunning, takenOver, usedOtherwise } from './errors'
import { idempotencyRepository as rows } from './repository'
import { assertKey, RETENTION_MS, responseBody } from './rules'
import type { IdempotencyRow } from './table'

type Deps = { store: Store; clock: Clock; masterKey: Uint8Array }

/** A request with an Idempotency-Key. `status` is the success status of its route. */
export type Request = { userId: UserId; key: string; requestId: string; fingerprint: string; status: number }

/** A stored answer: its status, and its body byte for byte. */
export type Replay = { readonly status: number; readonly body: string }

/** The right to run a request, held until its answer is stored or the key is released. */
export type Ticket = Once & {
  readonly status: number
  /** The body that was stored, once the transaction has committed; null before. */
  answered(): string | null
  /** Stores the answer of a route that changed nothing here and so had no transaction of its own. */
  keepAlone(answer: unknown): { text: string; keeping: Promise<void> }
  /** The request failed: releases its key, unless an effect has already committed with its answer. */
  release(): Promise<void>
}

export type Idempotency = ReturnType<typeof createIdempotency>

/**
 * How long a dead process blocks its keys (I11). On SQLite the lease is 0: one process holds the data folder, so a
 * request that this process is not running is not running at all.
 */
const LEASE_MS = 2_000
const ATTEMPTS = 3
const MOST_VERIFIED = 1_000

/**
 * Idempotency keys of requests (contract 1.7). Exactly-once holds because the answer is written in the transaction
 * of the effect, under the primary key (user, key), and only by the request that still holds the key: two effects of
 * one key cannot both commit, and no effect commits without its answer (I2, I10).
 */
export function createIdempotency({ store, clock, masterKey }: Deps) {
  const running = new Map<string, Running>()
  const leaseEnd = () => (store.dialect === 'sqlite' ? 0 : clock.now() + LEASE_MS)

  return { hasLeases: store.dialect === 'postgres', begin, renewLeases, removeExpired, dueAt: rows.soonest, verify }

  /**
   * Returns the stored answer of this request, or a ticket to run it. Throws 400 `validation_error` for a malformed
   * key, 409 `idempotency_conflict` while the key is in use or when it belongs to another request.
   */
  async function begin(request: Request): Promise<Replay | Ticket> {
    assertKey(request.key)
    const id = `${request.userId} ${request.key}`
    const other = running.get(id)
    if (other) throw refusalOf(request, other)
    running.set(id, { ...request, startedAt: clock.now() })
    try {
      const replay = await claim(request)
      if (!replay) return createTicket(request, () => running.delete(id))
      running.delete(id)
      return replay
    } catch (error) {
      running.delete(id)
      throw error
    }
  }

  async function claim(request: Request): Promise<Replay | null> {
    const { userId: user_id, key, requestId: request_id, fingerprint } = request
    for (let attempt = 1; ; attempt++) {
      const [row] = await rows.find(store.read, { user_id, key })
      const replay = row ? replayOf(row, request) : null
      if (replay) return replay
      const now = clock.now()
      const times = { now, lease_until: leaseEnd(), expires_at: now + RETENTION_MS }
      const ours = await store.writeSoon((tx) => rows.claim(tx, { user_id, key, request_id, fingerprint, ...times }))
      if (ours) return null
      // Another process claimed the key first: read the row again.
      if (attempt === ATTEMPTS) throw stillRunning(key, 0)
    }
  }

  /** The stored answer; null when the row is expired or its lease has lapsed, so that the key can be claimed. */
  function replayOf(row: IdempotencyRow, request: Request): Replay | null {
    const now = clock.now()
    const isFree = row.expires_at <= now || (row.status === null && row.lease_until <= now)
    if (isFree) return null
    if (row.status === null || row.body === null || row.fingerprint !== request.fingerprint) {
      throw refusalOf(request, { fingerprint: row.fingerprint, startedAt: row.expires_at - RETENTION_MS })
    }
    return { status: row.status, body: unseal(masterKey, contextOf(request), row.body) }
  }

  function refusalOf({ key, fingerprint }: Request, other: Pick<Running, 'fingerprint' | 'startedAt'>) {
    return other.fingerprint === fingerprint ? stillRunning(key, clock.now() - other.startedAt) : usedOtherwise(key)
  }

  function createTicket(request: Request, end: () => void): Ticket {
    const { userId: user_id, key, requestId: request_id } = request
    let { status } = request
    let answer: string | null = null

    async function keep(tx: Tx, value: unknown, as = status): Promise<void> {
      const text = responseBody(value, request_id)
      const body = seal(masterKey, contextOf(request), text)
      const expires_at = clock.now() + RETENTION_MS
      if (!(await rows.answer(tx, { user_id, key, request_id, status: as, body, expires_at }))) throw takenOver(key)
      tx.afterCommit(() => {
        answer = text
        status = as
        failpoint('answer_kept_before_ack')
        end()
      })
    }

    return {
      id: sha256Hex(contextOf(request)),
      get status() {
        return status
      },
      answered: () => answer,
      keep,
      keepAlone: (value) => ({
        text: responseBody(value, request_id),
        keeping: store.write((tx) => keep(tx, value)),
      }),
      async release() {
        if (answer !== null) return
        try {
          await store.writeSoon((tx) => rows.release(tx, { user_id, key, request_id }))
        } finally {
          end()
        }
      },
    }
  }

  /** Renews the leases of all requests that run in this process. Returns how many run. */
  async function renewLeases(): Promise<number> {
    const ids = [...running.values()].map(({ requestId }) => requestId)
    if (ids.length && store.dialect === 'postgres') await store.write((tx) => rows.renew(tx, ids, leaseEnd()))
    return ids.length
  }

  /** Stored answers that the master key cannot open, as after a restore without `secrets.json`; empty when sound. */
  async function verify(reader: Reader): Promise<string[]> {
    const rowsToCheck = await rows.answered(reader, { now: clock.now(), limit: MOST_VERIFIED })
    const unreadable = rowsToCheck.filter((row) => !canDecrypt(row))
    return unreadable.length
      ? [
          `${unreadable.length} of the ${rowsToCheck.length} newest answers stored for Idempotency-Keys cannot be decrypted with secrets.json`,
        ]
      : []
  }

  function canDecrypt({ user_id: userId, key, body }: { user_id: UserId; key: string; body: string | null }): boolean {
    try {
      unseal(masterKey, contextOf({ userId, key }), body!)
      return true
    } catch {
      return false
    }
  }

  /** Deletes one batch of expired keys. Returns how many. */
  function removeExpired(limit: number): Promise<number> {
    return store.write((tx) => rows.removeExpired(tx, clock.now(), limit))
  }
}

type Running = Request & { startedAt: number }
