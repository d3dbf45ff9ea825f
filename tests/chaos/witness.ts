import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import type { Json } from './client'
import type { PurchaseAck } from './purchases'

/** A paid answer that reached a client whole. */
export type AnswerAck = { requestId: string; costCents: number }

/** `rotations`: how often it was given a new secret; `rotating` while one more may have happened. */
export type KeyAck = { id: string; name: string; secret: string; rotations: number; rotating: boolean }

export type OrgAck = { id: string; name: string }

/** Something with a name that no other has. `deleting` while nobody knows whether it went. */
export type Made = { path: string; id: string; name: string; deleted: boolean; deleting: boolean }

/** A POST under a key of its own: what was sent, and what to do with the answer when it comes. */
export type Keyed = {
  kind: string
  key: string
  path: string
  body: unknown
  note(answer: Json, requestId: string): void
}

type Turn = { prompt: string; answer: string }

/** A conversation as its one client knows it. `pending` is what was in flight when the server died. */
export type Known = {
  id: string
  turns: Turn[]
  /** The last acknowledged name; null while the server's own stands. */
  title: string | null
  deleted: boolean
  pending: { turn?: string; title?: string; deletion?: true }
}

export type Witness = ReturnType<typeof createWitness>

/**
 * What clients were told, kept outside the server: in memory for the checks, and in a log of its own
 * with its own fsync, so that what was promised can be read even after this process is gone.
 */
export function createWitness(logPath: string) {
  const file = openSync(logPath, 'a')
  const answers: AnswerAck[] = []
  const keys: KeyAck[] = []
  const orgs: OrgAck[] = []
  const made: Made[] = []
  const settings: string[] = []
  const purchases: PurchaseAck[] = []
  const events: string[] = []
  const runs: string[] = []
  const conversations: Known[] = []
  let unsynced: string[] = []
  let acks = 0
  let replays = 0

  return {
    answers,
    keys,
    orgs,
    made,
    purchases,
    /** Ids of published events. */
    events,
    /** Ids of runs of workflows that were completed. */
    runs,
    /** Request ids of acknowledged changes of settings. */
    settings,
    /** Requests whose connection died: they happened or they did not. */
    unfinished: [] as Keyed[],
    /** Requests that were answered since the last start, with the bytes of the answer. */
    answered: [] as (Keyed & { text: string })[],
    /** Answers that came from before a kill to a client that had not heard them. */
    replays: () => replays,
    replayed: () => {
      replays += 1
    },
    conversations,
    acks: () => acks,
    /** One acknowledged write: what it was, and the hash of the body that said so. */
    acked(kind: string, requestId: string, body: unknown): void {
      acks += 1
      const hash = Bun.hash(JSON.stringify(body)).toString(16)
      unsynced.push(JSON.stringify({ kind, requestId, hash }))
    },
    sync(): void {
      if (!unsynced.length) return
      writeSync(file, `${unsynced.join('\n')}\n`)
      fdatasyncSync(file)
      unsynced = []
    },
    close: () => closeSync(file),
  }
}
