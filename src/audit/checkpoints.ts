import { type Clock, iso } from '../kernel/clock'
import { type Loop, nextTurn, startLoop } from '../kernel/loop'
import { isSignedBy, type SigningKey } from '../kernel/signing'
import type { Reader, Store } from '../kernel/store'
import { GENESIS } from './chain'
import type { CheckpointBook } from './checkpoint-book'
import { isEvent } from './integrity'
import { endOfSlice, headOf, headsSince } from './repository'
import type { ChainScope, Checkpoint } from './schema'
import type { AuditHeadRow } from './table'

const LOOK_EVERY_MS = 5_000

/** After a pass the loop pauses 50 times as long as the pass took, so that many chains use at most 2 % of the time. */
const REST = 50

type CheckpointLoopDeps = { checkpoints: Checkpoints; clock: Clock; onError(name: string, error: unknown): void }

type Claim = Omit<Checkpoint, 'signature'>

/**
 * The signed text: every member except the signature, as canonical JSON (RFC 8785). The members are listed explicitly,
 * so that no other member of the object is signed.
 */
const signedText = ({ hash, object, public_key, scope, seq, signed_at }: Claim): string =>
  JSON.stringify({ hash, object, public_key, scope, seq, signed_at })

/** Whether the signature matches the public key in the checkpoint. The caller decides whether to trust that key. */
export const isAuthentic = (checkpoint: Checkpoint): boolean =>
  isSignedBy(checkpoint.public_key, signedText(checkpoint), checkpoint.signature)

type Deps = {
  store: Store
  clock: Clock
  key: SigningKey
  book: CheckpointBook
  /** Called when a chain no longer contains the event of its checkpoint: tampering, or an old database was restored. */
  onBroken(checkpoint: Checkpoint): void
}

const EVERY_EVENTS = 1_000
const EVERY_MS = 60_000
/** How far each pass looks back, because nodes' clocks differ, and transactions commit after their events are dated. */
const LOOK_BACK_MS = 600_000
/** Number of heads read per turn of the event loop. */
const HEADS_PER_SLICE = 20_000
const MAX_VIOLATIONS = 100

export type Checkpoints = ReturnType<typeof createCheckpoints>

/** Signed statements of each chain's `seq` and hash at a time, kept outside the database (docs/api.md 19). */
export function createCheckpoints({ store, clock, key, book, onBroken }: Deps) {
  /** Start of the last complete pass (epoch ms). It considered every earlier change. */
  let lastPassAt: number | null = null
  const reported = new Set<string>()

  return { newest, signDue, verify }

  /** The newest checkpoint of a chain. Signs one if there is none, so that callers always get one. */
  async function newest(scope: ChainScope): Promise<Checkpoint> {
    const existing = await book.newest(scope)
    if (existing) return existing
    const [head] = await headOf(store.read, { scope })
    const made = sign(scope, head ?? { seq: 0, hash: GENESIS })
    // An empty chain is not stored, because otherwise any visitor could add lines to the file.
    if (head) await book.append([made])
    return made
  }

  /**
   * Signs every chain that grew by 1,000 events, or that grew and was last signed 60 seconds ago. With `all`, signs
   * every chain that grew. Returns their number. A chain that lost its last signed event is reported instead of signed.
   */
  async function signDue({ all = false } = {}): Promise<number> {
    const now = clock.now()
    lastPassAt ??= Date.parse((await book.signedUntil()) ?? iso(0))
    let signed = 0
    for await (const heads of changedSince(Math.min(lastPassAt, now) - LOOK_BACK_MS)) {
      const due: Checkpoint[] = []
      for (const head of heads) {
        const last = await book.newest(head.scope)
        if (!isDue(head, last, now, all)) continue
        if (await isEvent(store.read, head.scope, last)) due.push(sign(head.scope, head))
        else {
          if (!reported.has(last!.scope)) onBroken(last!)
          reported.add(last!.scope)
        }
      }
      if (due.length) await book.append(due)
      signed += due.length
      await nextTurn()
    }
    lastPassAt = now
    return signed
  }

  function sign(scope: ChainScope, { seq, hash }: { seq: number; hash: string }): Checkpoint {
    return signCheckpoint(key, { scope, seq, hash }, iso(clock.now()))
  }

  async function* changedSince(since: number): AsyncGenerator<AuditHeadRow[]> {
    for (let after = ''; ; ) {
      const [end] = await endOfSlice(store.read, { scope: after, length: HEADS_PER_SLICE })
      // Scopes begin with a lower-case letter, so '~' sorts after all of them.
      const upTo = end?.scope ?? '~'
      yield await headsSince(store.read, { after, upTo, since })
      if (!end) return
      after = end.scope
    }
  }

  /**
   * Compares every stored checkpoint with its chain and returns a sentence for each mismatch: the chain was rewritten,
   * cut or restored from an older copy, or the checkpoint file was edited (docs/promises.md I20).
   */
  async function verify(reader: Reader): Promise<string[]> {
    const violations: string[] = []
    let read = 0
    for await (const { where, checkpoint } of book.lines()) {
      if (++read % 200 === 0) await nextTurn()
      const fault = await faultOf(reader, checkpoint)
      if (fault) violations.push(`${where}: ${fault}`)
      if (violations.length >= MAX_VIOLATIONS) return [...violations, 'checkpoints: and more']
    }
    return violations
  }

  async function faultOf(reader: Reader, checkpoint: Checkpoint | null): Promise<string | null> {
    if (checkpoint === null) return 'is not a checkpoint'
    const { scope, seq, public_key, signed_at } = checkpoint
    if (!isAuthentic(checkpoint)) return `the signature for ${scope} #${seq} is not genuine`
    if (public_key !== key.publicKey) return `${scope} #${seq} was signed with a key other than this server's`
    if (await isEvent(reader, scope as ChainScope, checkpoint)) return null
    return `audit ${scope} #${seq}: is not the event that was signed at ${signed_at}`
  }
}

function isDue(head: AuditHeadRow, last: Checkpoint | null, now: number, all: boolean): boolean {
  if (head.seq === 0) return false
  if (last === null) return true
  if (head.seq === last.seq && head.hash === last.hash) return false
  return all || head.seq - last.seq >= EVERY_EVENTS || Math.abs(now - Date.parse(last.signed_at)) >= EVERY_MS
}

/** Signs that a chain had this `seq` and `hash` at time `at` (ISO 8601). */
export function signCheckpoint(key: SigningKey, head: Pick<Checkpoint, 'scope' | 'seq' | 'hash'>, at: string) {
  const claim: Claim = { object: 'audit_checkpoint', ...head, signed_at: at, public_key: key.publicKey }
  return { ...claim, signature: key.sign(signedText(claim)) } satisfies Checkpoint
}

/** Signs due checkpoints every few seconds, and at shutdown signs every chain that has changed (docs/api.md 19). */
export function startCheckpointLoop({ checkpoints, clock, onError }: CheckpointLoopDeps): Loop {
  const name = 'audit checkpoints'
  let restUntil = 0
  const tick = async () => {
    const began = clock.monotonic()
    if (began < restUntil) return 0
    await checkpoints.signDue()
    const ended = clock.monotonic()
    restUntil = ended + (ended - began) * REST
    return 0
  }
  const loop = startLoop({ name, tick, idleMs: LOOK_EVERY_MS, clock, onError })
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      await checkpoints.signDue({ all: true }).catch((error) => onError(name, error))
    },
  }
}
