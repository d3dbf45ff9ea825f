import type { AuditLog } from '../audit'
import { storeAnswer } from '../idempotency'
import type { Call, Caller } from '../kernel/caller'
import { storageUnavailable } from '../kernel/errors'
import type { Store, Tx } from '../kernel/store'
import { type Desk, together } from './desk'
import { holderIdOf } from './names'
import { presentMessage } from './present'
import type { Said } from './schema-sessions'
import type { SessionRow } from './table'

type Deps = { store: Store; audit: AuditLog; desk: Pick<Desk, 'reply'> }
type Reply = { call: Call<Caller>; session: SessionRow; content: string }
type Waiting = Reply & { resolve(said: Said): void; reject(error: unknown): void }

const MOST_TOGETHER = 64

/**
 * What people say in chats. The record of an owner is one chain, so commits of its people come one after the other: what
 * comes while one is under way goes with the next, together. Nothing is answered before it is committed.
 */
export function createReplies({ store, audit, desk }: Deps) {
  /** By owner; there while one is under way. */
  const queues = new Map<SessionRow['owner'], Waiting[]>()
  return { say }

  /** Throws 404, and 409 unless the chat is open and the caller's. */
  function say(reply: Reply): Promise<Said> {
    const { owner } = reply.session
    const { promise, resolve, reject } = Promise.withResolvers<Said>()
    const queue = queues.get(owner)
    if (queue) queue.push({ ...reply, resolve, reject })
    else {
      const first = [{ ...reply, resolve, reject }]
      queues.set(owner, first)
      void drain(owner, first)
    }
    return promise
  }

  async function drain(owner: SessionRow['owner'], queue: Waiting[]): Promise<void> {
    while (queue.length) await commit(owner, queue.splice(0, MOST_TOGETHER))
    queues.delete(owner)
  }

  /** One that is refused takes no other with it: then each is tried alone. */
  async function commit(owner: SessionRow['owner'], batch: Waiting[]): Promise<void> {
    try {
      const said = await store.write((tx) => writeAll(tx, owner, batch))
      for (const [at, { resolve }] of batch.entries()) resolve(said[at]!)
    } catch (error) {
      const isAway = (error as { code?: unknown }).code === storageUnavailable.code
      if (batch.length === 1 || isAway) for (const { reject } of batch) reject(error)
      else for (const one of batch) await commit(owner, [one])
    }
  }

  /** Chats are locked in one order by every process, and the head of the record last and shortest. */
  async function writeAll(tx: Tx, owner: SessionRow['owner'], batch: readonly Reply[]): Promise<Said[]> {
    const said = new Map<Reply, Said>()
    const ordered = batch.toSorted((a, b) => (a.session.id < b.session.id ? -1 : Number(a.session.id > b.session.id)))
    const written = ordered.map(async (reply) => {
      const { call, session, content } = reply
      const message = await desk.reply(tx, session, { holderId: holderIdOf(call.caller), content })
      said.set(reply, await storeAnswer(tx, call, { message: presentMessage(message) }))
    })
    await together(written)
    const acts = ordered.map(({ call, session: { id } }) => ({
      call,
      entry: { action: 'widget.message_sent' as const, entityType: 'widget_session' as const, entityId: id },
    }))
    await audit.recordAll(tx, owner, acts)
    return batch.map((reply) => said.get(reply)!)
  }
}
