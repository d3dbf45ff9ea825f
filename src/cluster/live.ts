import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { Wire } from '../kernel/store'

/** Ids and short codes of an event. Listeners read the rows themselves. */
export type LiveMessage = Readonly<Record<string, string | number | boolean | null>>
/** Called with null if events may have been lost, so that it reads again. Must not throw or block. */
type Listener = (heard: LiveMessage | null) => void

type Deps = {
  /** Null if there is no other process. */
  wire: Wire | null
  /** The wire that all processes hear even if another one is down. Default: `wire`. */
  surest?: Wire | null
  /** Id of this process. */
  node: string
  clock: Clock
  onError(name: string, error: unknown): void
}

type Notice = [topic: string, id: string, heard: LiveMessage]

export type Live = ReturnType<typeof createLive>

/** Bytes of one message on the wire; Postgres takes no more than 8,000. */
const MAX_BYTES = 6_000
/** Events queued for a wire that does not accept them. Older ones are dropped. */
const MAX_WAITING = 10_000
const LOOK_EVERY_MS = 1_000
const EVERYTHING = '*'

/**
 * Sends events to listeners in this process directly, and to those in other processes over the wire. Events may be
 * lost: a listener that must not miss any reads again when it is called with null, and from time to time.
 *
 *     tx.afterCommit(() => live.publish('widget.session', id, { what: 'message' }))
 *     const stop = live.subscribe('widget.session', id, (heard) => …)
 */
export function createLive({ wire, surest = wire, node, clock, onError }: Deps) {
  const listeners = new Map<string, Set<Listener>>()
  const send = wire && sendingOver(wire)
  const sendSurely = surest && sendingOver(surest)
  return {
    publish,
    publishToOthers,
    subscribe,
    start,
    listening: (topic: string, id: string) => listeners.has(keyOf(topic, id)),
  }

  /** Call after the commit, for example in `tx.afterCommit`. Never throws. */
  function publish(topic: string, id: string, heard: LiveMessage = {}): void {
    deliver([topic, id, heard])
    send?.([topic, id, heard])
  }

  /** Sends only to other processes, including those that reach nothing but the database. */
  function publishToOthers(topic: string, id: string, heard: LiveMessage): void {
    sendSurely?.([topic, id, heard])
  }

  /** Listens to one id, or to a whole topic with `*`, until the returned function is called. */
  function subscribe(topic: string, id: string, listener: Listener): () => void {
    const key = keyOf(topic, id)
    const ofKey = listeners.get(key) ?? new Set()
    listeners.set(key, ofKey.add(listener))
    return () => {
      ofKey.delete(listener)
      if (!ofKey.size && listeners.get(key) === ofKey) listeners.delete(key)
    }
  }

  /** Starts to listen to other processes. Retries while the wire is down. */
  function start(): Loop {
    if (!wire) return NOTHING
    let leave: (() => Promise<void>) | null = null
    const loop = startLoop({
      name: 'live',
      idleMs: LOOK_EVERY_MS,
      longestNapMs: LOOK_EVERY_MS,
      clock,
      onError,
      tick: async () => {
        if (!wire.hearing()) leave = await wire.hear(received, missed)
        return 0
      },
    })
    return {
      wake: loop.wake,
      async stop() {
        await loop.stop()
        await leave?.().catch(() => undefined)
      },
    }
  }

  function deliver([topic, id, heard]: Notice): void {
    for (const key of [keyOf(topic, id), keyOf(topic, EVERYTHING)]) {
      for (const listener of listeners.get(key) ?? []) contain(listener, { ...heard, id })
    }
  }

  /** Queues events while a message is being sent, and then sends them together. */
  function sendingOver(over: Wire): (notice: Notice) => void {
    let waiting: Notice[] = []
    let sending = false
    return (notice) => {
      waiting.push(notice)
      if (waiting.length > MAX_WAITING) waiting = waiting.slice(MAX_WAITING / 2)
      if (!sending) void sendAll()
    }

    async function sendAll(): Promise<void> {
      sending = true
      await undefined
      while (waiting.length) {
        const batch = firstOf(waiting)
        waiting = waiting.slice(batch.length)
        await over.send(JSON.stringify({ node, notify: batch })).catch((error) => onError('live', error))
      }
      sending = false
    }
  }

  function received(text: string): void {
    const read = readMessage(text)
    if (!read || read.node === node) return
    for (const notice of read.notify) deliver(notice)
  }

  function missed(): void {
    for (const ofKey of [...listeners.values()]) for (const listener of [...ofKey]) contain(listener, null)
  }

  function contain(listener: Listener, heard: LiveMessage | null): void {
    try {
      listener(heard)
    } catch (error) {
      onError('live', error)
    }
  }
}

/** The first events that fit into one message, at least one. */
function firstOf(waiting: readonly Notice[]): Notice[] {
  let bytes = 0
  const max = waiting.findIndex((notice) => {
    bytes += Buffer.byteLength(JSON.stringify(notice)) + 1
    return bytes > MAX_BYTES
  })
  return max < 0 ? [...waiting] : waiting.slice(0, Math.max(1, max))
}

/** For a single process, which needs no wire. */
const NOTHING: Loop = { wake: () => undefined, stop: async () => undefined }

const keyOf = (topic: string, id: string): string => `${topic} ${id}`

/** Checks the form, because any client of the database may publish on the channel. */
function readMessage(text: string): { node: string; notify: Notice[] } | null {
  try {
    const { node, notify: notices } = JSON.parse(text) as { node: string; notify: Notice[] }
    const fits = Array.isArray(notices) && notices.every((one) => Array.isArray(one) && one.length === 3)
    return fits ? { node, notify: notices } : null
  } catch {
    return null
  }
}

/**
 * Combines two wires. It sends over the second if the first fails, and listens to both, so that losing the first loses
 * no event. Errors of the first are not reported here.
 */
export function eitherWire(first: Wire, second: Wire): Wire {
  const leaves = new Map<Wire, () => Promise<void>>()
  return {
    send: (text) => (first.hearing() ? first.send(text).catch(() => second.send(text)) : second.send(text)),
    async hear(text, again) {
      if (!second.hearing()) leaves.set(second, await second.hear(text, again))
      if (!first.hearing()) {
        const leave = await first.hear(text, again).catch(() => null)
        if (leave) leaves.set(first, leave)
      }
      return async () => {
        await Promise.all([...leaves.values()].map((leave) => leave()))
      }
    },
    hearing: () => first.hearing() && second.hearing(),
  }
}
