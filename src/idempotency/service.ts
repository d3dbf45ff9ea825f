import type { Once } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { seal, open as unseal } from '../kernel/crypto'
import { failpoint } from '../kernel/failpoint'
import type { UserId } from '../kernel/ids'
import type { Reader, Store, Tx } from '../kernel/store'
import { stillRunning, takenOver, usedOtherwise } from './errors'
import { idempotencyRepository as rows } from './repository'
import { assertKey, KEPT_MS, written } from './rules'
import type { IdempotencyRow } from './table'

type Deps = { store: Store; clock: Clock; masterKey: Uint8Array }

/** A request that carries a key. `status` is what its route answers when all goes well. */
export type Request = { userId: UserId; key: string; requestId: string; fingerprint: string; status: number }

/** An answer given before: its status, and its body byte for byte. */
export type Replay = { readonly status: number; readonly body: string }

/** The right to run a request. It ends with an answer kept, or given back. */
export type Ticket = Once & {
  readonly status: number
  /** The answer, once it is durable. */
  answered(): string | null
  /** Keeps an answer whose route changed nothing here, so that no unit of work took it along. */
  keepAlone(answer: unknown): { text: string; keeping: Promise<void> }
  /** The request failed: its key is free again, unless an effect has committed with its answer. */
  giveBack(): Promise<void>
}

export type Idempotency = ReturnType<typeof createIdempotency>

/**
 * How long a process that has died keeps others waiting (I11). On SQLite there are no others: one process has
 * the folder, and whatever it does not know to be running is not, wherever the wall clock stands.
 */
const LEASE_MS = 2_000
const ATTEMPTS = 3
const MOST_VERIFIED = 1_000

/**
 * Keys of requests (contract 1.7). Exactly-once rests on one thing: the answer is written by the same unit
 * of work as the effect, under a primary key of (user, key), by whoever still holds the key. Two effects of
 * one key cannot both commit, and an effect cannot commit without its answer (I2, I10).
 */
export function createIdempotency({ store, clock, masterKey }: Deps) {
  const running = new Map<string, Running>()
  const leaseEnd = () => (store.dialect === 'sqlite' ? 0 : clock.now() + LEASE_MS)

  return { begin, renewLeases, removeExpired, verify }

  /**
   * The answer this request got before, or a ticket to run it. Throws 400 `validation_error` for a malformed
   * key, 409 `idempotency_conflict` while the key is in use or when it stands for another request.
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
      const times = { now, lease_until: leaseEnd(), expires_at: now + KEPT_MS }
      const ours = await store.writeSoon((tx) => rows.claim(tx, { user_id, key, request_id, fingerprint, ...times }))
      if (ours) return null
      // Somebody was faster: look again at what they made of it.
      if (attempt === ATTEMPTS) throw stillRunning(key, 0)
    }
  }

  /** Null when the row is nobody's any more. */
  function replayOf(row: IdempotencyRow, request: Request): Replay | null {
    const now = clock.now()
    const isFree = row.expires_at <= now || (row.status === null && row.lease_until <= now)
    if (isFree) return null
    if (row.status === null || row.body === null || row.fingerprint !== request.fingerprint) {
      throw refusalOf(request, { fingerprint: row.fingerprint, startedAt: row.expires_at - KEPT_MS })
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
      const text = written(value, request_id)
      const body = seal(masterKey, contextOf(request), text)
      const expires_at = clock.now() + KEPT_MS
      if (!(await rows.answer(tx, { user_id, key, request_id, status: as, body, expires_at }))) throw takenOver(key)
      tx.afterCommit(() => {
        answer = text
        status = as
        failpoint('answer_kept_before_ack')
        end()
      })
    }

    return {
      get status() {
        return status
      },
      answered: () => answer,
      keep,
      keepAlone: (value) => ({
        text: written(value, request_id),
        keeping: store.write((tx) => keep(tx, value)),
      }),
      async giveBack() {
        if (answer !== null) return
        try {
          await store.writeSoon((tx) => rows.release(tx, { user_id, key, request_id }))
        } finally {
          end()
        }
      },
    }
  }

  /** Says of everything that runs here that it still does. Answers how many. */
  async function renewLeases(): Promise<number> {
    const ids = [...running.values()].map(({ requestId }) => requestId)
    if (ids.length && store.dialect === 'postgres') await store.write((tx) => rows.renew(tx, ids, leaseEnd()))
    return ids.length
  }

  /** Kept answers that this master key does not open, as after a restore without its `secrets.json`; empty when sound. */
  async function verify(reader: Reader): Promise<string[]> {
    const kept = await rows.answered(reader, { now: clock.now(), limit: MOST_VERIFIED })
    const closed = kept.filter((row) => !opens(row))
    return closed.length
      ? [
          `${closed.length} of the ${kept.length} newest answers under Idempotency-Keys cannot be opened with secrets.json`,
        ]
      : []
  }

  function opens({ user_id: userId, key, body }: { user_id: UserId; key: string; body: string | null }): boolean {
    try {
      unseal(masterKey, contextOf({ userId, key }), body ?? '')
      return true
    } catch {
      return false
    }
  }

  /** Forgets one batch of keys that are older than a day. Answers how many. */
  function removeExpired(limit: number): Promise<number> {
    return store.write((tx) => rows.removeExpired(tx, clock.now(), limit))
  }
}

type Running = Request & { startedAt: number }

/** Binds a sealed answer to its row. */
const contextOf = ({ userId, key }: Pick<Request, 'userId' | 'key'>): string => `idempotency ${userId} ${key}`
