import { and, desc, eq, gt, gte, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { recurring } from '../jobs'
import { type Call, type Once, ownerOf, SCOPES, type TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { seal, sha256Hex, open as unseal } from '../kernel/crypto'
import { defineErrors, invalidInput, quoted } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import type { UserId } from '../kernel/ids'
import { inBatches, type Loop, startLoop } from '../kernel/loop'
import { rowsOf } from '../kernel/rows'
import { command, counted, query, type Reader, type Store, type Tx } from '../kernel/store'
import { contextOf, type IdempotencyRow, idempotencyKeys } from './table'

const idempotencyKeyRows = rowsOf(idempotencyKeys)

const HEADER = 'Idempotency-Key'

const idempotencyErrors = defineErrors('idempotency_conflict', {
  stillRunning: (key: string, forMs: number) =>
    `A request with ${HEADER} "${quoted(key)}" has been running for ${Math.max(0, Math.round(forMs / 1000))} s. Wait for it; the same request then gets its answer with X-Idempotent-Replay: true.`,
  usedOtherwise: (key: string) =>
    `${HEADER} "${quoted(key)}" was used within 24 h for a request with another method, path or body, or with other rights. Send this request with a new key.`,
  /** This process missed its lease and another process took over the key, so its transaction is rolled back. */
  takenOver: (key: string) =>
    `A request with ${HEADER} "${quoted(key)}" was started again in another process while this one was stalled. This one changed nothing; send the same request again to get the answer.`,
})

type IdempotencyLoopDeps = { idempotency: Idempotency; clock: Clock; onError(name: string, error: unknown): void }

/** A quarter of the lease, so that one late renewal does not lose it. */
const RENEW_MS = 500

/** Half the lease, so that a request that begins meanwhile is still renewed in time. */
const NONE_RUNS_MS = 1_000

const EXPIRY_MS = 60_000

/** Job that deletes expired keys. */
export const expiredKeys = ({ removeExpired, dueAt }: Pick<Idempotency, 'removeExpired' | 'dueAt'>) => {
  return recurring('idempotency.expiry', EXPIRY_MS, (signal) => inBatches(removeExpired, signal), { dueAt })
}

type Holder = { user_id: UserId; key: string; request_id: string }

type Claim = Holder & Pick<IdempotencyRow, 'fingerprint' | 'lease_until' | 'expires_at'> & { now: number }

const find = query<{ user_id: UserId; key: string }>()((db, p) => {
  const t = db.of(idempotencyKeys)
  return db
    .select()
    .from(t)
    .where(and(eq(t.user_id, p.user_id), eq(t.key, p.key)))
})

/** Stored answers that have not expired, newest first. */
const answered = query<{ now: number; limit: number }>()((db, p) => {
  const t = db.of(idempotencyKeys)
  return db
    .select({ user_id: t.user_id, key: t.key, body: t.body })
    .from(t)
    .where(and(gt(t.expires_at, p.now), isNotNull(t.status)))
    .orderBy(desc(t.expires_at))
    .limit(p.limit)
})

/** Claims a key that is new, expired, or has a lapsed lease. Returns 1 when the claim succeeded. */
const claimRepository = counted<Claim>()((tx, p) => {
  const t = tx.of(idempotencyKeys)
  const { user_id, key, request_id, fingerprint, lease_until, expires_at } = p
  const begun = { request_id, fingerprint, status: sql`NULL`, body: sql`NULL`, lease_until, expires_at }
  return tx
    .insert(t)
    .values({ user_id, key, ...begun } as never)
    .onConflictDoUpdate({
      target: [t.user_id, t.key],
      set: begun as never,
      setWhere: or(lte(t.expires_at, p.now), and(isNull(t.status), lte(t.lease_until, p.now))),
    })
})

/** Stores the answer. Returns 0 when this request no longer holds the key. */
const answerRepository = counted<Holder & { status: number; body: string; expires_at: number }>()((tx, p) => {
  const t = tx.of(idempotencyKeys)
  return tx
    .update(t)
    .set({ status: p.status, body: p.body, expires_at: p.expires_at } as never)
    .where(heldBy(t, p))
})

const release = command<Holder>()((tx, p) => {
  const t = tx.of(idempotencyKeys)
  return tx.delete(t).where(heldBy(t, p))
})

type Places = Record<'user_id' | 'key' | 'request_id', Parameters<typeof sql>[1]>

const heldBy = (t: typeof idempotencyKeys.sqlite, p: Places) =>
  and(eq(t.user_id, p.user_id), eq(t.key, p.key), eq(t.request_id, p.request_id), isNull(t.status))

/** Extends the leases of the requests that run in this process. */
const renew = (tx: Tx, requestIds: readonly string[], leaseUntil: number) =>
  idempotencyKeyRows.update(tx, { request_id: requestIds, status: null }, { lease_until: leaseUntil })

/**
 * Deletes the keys that expired first since `from`: `limit` keys, and those that expired at the same time as the last.
 * Returns their expiry times.
 */
const removeExpiredRepository = async (tx: Tx, now: number, limit: number, from: number): Promise<number[]> => {
  const t = tx.of(idempotencyKeys)
  const due = await tx
    .select({ at: t.expires_at })
    .from(t)
    .where(and(gte(t.expires_at, from), lte(t.expires_at, now)))
    .orderBy(t.expires_at)
    .limit(limit)
  const last = due.at(-1)
  if (last) await tx.delete(t).where(and(gte(t.expires_at, from), lte(t.expires_at, last.at)))
  return due.map(({ at }) => at)
}

/** When the first key expires, in epoch milliseconds. Null when there are no keys. */
const soonest = async (db: Reader): Promise<number | null> => {
  const t = db.of(idempotencyKeys)
  const [first] = await db.select({ at: t.expires_at }).from(t).orderBy(t.expires_at).limit(1)
  return first?.at ?? null
}

const idempotencyRepository = {
  soonest,
  find,
  answered,
  claim: claimRepository,
  answer: answerRepository,
  release,
  renew,
  removeExpired: removeExpiredRepository,
}

/** How long a key and its answer are kept (docs/api.md 1.7). */
const RETENTION_MS = 24 * 60 * 60_000

const KEY = /^[A-Za-z0-9\-_.:]{1,256}$/

/** A request with an Idempotency-Key. `status` is the success status of its route. */
export type Request = { userId: UserId; key: string; requestId: string; fingerprint: string; status: number }

/** A stored answer: its status, and its body byte for byte. */
export type Replay = { readonly status: number; readonly body: string }

/** The right to run a request, held until its answer is stored or the key is released. */
export type Ticket = Once & {
  readonly status: number
  /** The stored body after the transaction has committed. Null before. */
  answered(): string | null
  /** Stores the answer of a route that changed nothing here and so had no transaction. */
  keepAlone(answer: unknown): { text: string; keeping: Promise<void> }
  /** The request failed: releases its key, unless an effect has already committed with its answer. */
  release(): Promise<void>
}

export type Idempotency = ReturnType<typeof createIdempotency>

/**
 * How long a dead process blocks its keys (docs/promises.md I11). On SQLite the lease is 0, because one process holds
 * the data folder. A request that this process is not running is not running at all.
 */
const LEASE_MS = 2_000
const ATTEMPTS = 3
const MAX_VERIFIED = 1_000

/**
 * Idempotency keys of requests (docs/api.md 1.7). Exactly-once holds because the answer is written in the transaction
 * of the effect, under the primary key (user, key), and only by the request that still holds the key: two effects of
 * one key cannot both commit, and no effect commits without its answer (docs/promises.md I2, I10).
 */
export function createIdempotency({ store, clock, masterKey }: { store: Store; clock: Clock; masterKey: Uint8Array }) {
  const running = new Map<string, Running>()
  const leaseEnd = () => (store.dialect === 'sqlite' ? 0 : clock.now() + LEASE_MS)

  return {
    hasLeases: store.dialect === 'postgres',
    begin,
    renewLeases,
    removeExpired,
    dueAt: idempotencyRepository.soonest,
    verify,
  }

  /**
   * Returns the stored answer of this request, or a ticket to run it. Throws 400 `validation_error` for a malformed
   * key, 409 `idempotency_conflict` while the key is in use or when it belongs to another request.
   */
  async function begin(request: Request): Promise<Replay | Ticket> {
    // Throws 400 `validation_error` for an invalid key. Repeated headers arrive joined by a comma, which is invalid.
    if (!KEY.test(request.key))
      throw invalidInput(
        HEADER,
        `${HEADER} is "${quoted(request.key)}"; send 1 to 256 characters of A-Z, a-z, 0-9, "-", "_", "." and ":".`,
      )
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
      const [row] = await idempotencyRepository.find(store.read, { user_id, key })
      const replay = row ? replayOf(row, request) : null
      if (replay) return replay
      const now = clock.now()
      const times = { now, lease_until: leaseEnd(), expires_at: now + RETENTION_MS }
      const ours = await store.writeSoon((tx) =>
        idempotencyRepository.claim(tx, { user_id, key, request_id, fingerprint, ...times }),
      )
      if (ours) return null
      // Another process claimed the key first, so the row is read again.
      if (attempt === ATTEMPTS) throw idempotencyErrors.stillRunning(key, 0)
    }
  }

  /** The stored answer. Null when the row is expired or its lease has lapsed, so that the key can be claimed. */
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
    return other.fingerprint === fingerprint
      ? idempotencyErrors.stillRunning(key, clock.now() - other.startedAt)
      : idempotencyErrors.usedOtherwise(key)
  }

  function createTicket(request: Request, end: () => void): Ticket {
    const { userId: user_id, key, requestId: request_id } = request
    let { status } = request
    let answer: string | null = null

    async function keep(tx: Tx, value: unknown, as = status): Promise<void> {
      const text = responseBody(value, request_id)
      const body = seal(masterKey, contextOf(request), text)
      const expires_at = clock.now() + RETENTION_MS
      if (!(await idempotencyRepository.answer(tx, { user_id, key, request_id, status: as, body, expires_at })))
        throw idempotencyErrors.takenOver(key)
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
          await store.writeSoon((tx) => idempotencyRepository.release(tx, { user_id, key, request_id }))
        } finally {
          end()
        }
      },
    }
  }

  /** Renews the leases of all requests that run in this process. Returns their number. */
  async function renewLeases(): Promise<number> {
    const ids = [...running.values()].map(({ requestId }) => requestId)
    if (ids.length && store.dialect === 'postgres')
      await store.write((tx) => idempotencyRepository.renew(tx, ids, leaseEnd()))
    return ids.length
  }

  /**
   * A sentence about stored answers that the master key cannot open, for example after a restore without
   * `secrets.json`. Empty when all can be opened.
   */
  async function verify(reader: Reader): Promise<string[]> {
    const rowsToCheck = await idempotencyRepository.answered(reader, { now: clock.now(), limit: MAX_VERIFIED })
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

  /** Deletes one batch of expired keys, beginning at `from`. Returns their expiry times. */
  function removeExpired(limit: number, from: number): Promise<number[]> {
    return store.write((tx) => idempotencyRepository.removeExpired(tx, clock.now(), limit, from))
  }
}

type Running = Request & { startedAt: number }

/**
 * Hash that identifies a request: method, path and body, for the same owner and the same scopes. Scopes are included
 * because a stored answer may contain a secret, which must not be replayed to a weaker key of the user or the team.
 */
export function fingerprintOf(caller: TenantCaller, method: string, path: string, body: Uint8Array): string {
  const scopes = caller.type === 'key' ? SCOPES.filter((scope) => caller.scopes.includes(scope)) : SCOPES
  return sha256Hex(`${ownerOf(caller)} ${scopes} ${method} ${path} ${sha256Hex(body)}`)
}

/** The response body as sent. Objects get the request id (docs/api.md 1.4). */
function responseBody(answer: unknown, requestId: string): string {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return JSON.stringify(answer)
  const { request_id = requestId } = answer as { request_id?: string }
  return JSON.stringify({ ...answer, request_id })
}

/**
 * Call this at the end of a transaction. Stores the answer with its effect when the request has an Idempotency-Key, and
 * returns it. `answer` is the route's whole body without `request_id`. Pass `status` if the route has several success
 * statuses.
 */
export async function storeAnswer<T>(tx: Tx, { once }: Pick<Call, 'once'>, answer: T, status?: number): Promise<T> {
  if (once) await once.keep(tx, answer, status)
  return answer
}

/** Renews the leases of the requests that run in this process (Postgres). */
export function startIdempotencyLoop({ idempotency, clock, onError }: IdempotencyLoopDeps): Loop {
  let running = 0
  // SQLite has no leases, so frequent wake-ups would be useless.
  const napMs = () => (running ? RENEW_MS : NONE_RUNS_MS)
  return startLoop({
    name: 'idempotency-leases',
    idleMs: idempotency.hasLeases ? napMs : EXPIRY_MS,
    clock,
    onError,
    tick: async () => {
      running = await idempotency.renewLeases()
      return 0
    },
  })
}
