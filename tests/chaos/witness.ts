import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'

/** A paid answer that reached a client whole. */
export type AnswerAck = { requestId: string; costCents: number }

export type KeyAck = { id: string; name: string; secret: string }

export type Turn = { prompt: string; answer: string }

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
  const conversations: Known[] = []
  let unsynced: string[] = []
  let acks = 0

  return {
    answers,
    keys,
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
