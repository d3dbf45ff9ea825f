import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { Wire } from '../kernel/store'

/** Ids and small words of what happened; listeners read the rows. */
export type Heard = Readonly<Record<string, string | number | boolean | null>>
/** Null: something may have been missed, so read again. Must not throw, nor wait. */
type Listener = (heard: Heard | null) => void

type Deps = {
  /** Null where there is no other process. */
  wire: Wire | null
  /** The one that every other process hears whatever else is away; `wire` if not given. */
  surest?: Wire | null
  /** Id of this process. */
  node: string
  clock: Clock
  onError(name: string, error: unknown): void
}

type Notice = [topic: string, id: string, heard: Heard]

export type Live = ReturnType<typeof createLive>

/** Bytes of one message on the wire; Postgres takes no more than 8,000. */
const MAX_BYTES = 6_000
/** So many are kept for a wire that does not take them; older ones are dropped. */
const MAX_WAITING = 10_000
const LOOK_EVERY_MS = 1_000
const EVERYTHING = '*'

/**
 * Tells what happened to listeners of this process directly, and to those of others over the wire. It may be lost on
 * the way: a listener that must not miss anything reads again when told null, and now and then by itself.
 *
 *     tx.afterCommit(() => live.tell('widget.session', id, { what: 'message' }))
 *     const stop = live.hear('widget.session', id, (heard) => …)
 */
export function createLive({ wire, surest = wire, node, clock, onError }: Deps) {
  const listeners = new Map<string, Set<Listener>>()
  const send = wire && sendingOver(wire)
  const sendSurely = surest && sendingOver(surest)
  return { tell, tellOthers, hear, start, listening: (topic: string, id: string) => listeners.has(keyOf(topic, id)) }

  /** Call it once the change is committed, as in `tx.afterCommit`. Never throws. */
  function tell(topic: string, id: string, heard: Heard = {}): void {
    deliver([topic, id, heard])
    send?.([topic, id, heard])
  }

  /** The same to other processes alone, also to those that hear the database and nothing else. */
  function tellOthers(topic: string, id: string, heard: Heard): void {
    sendSurely?.([topic, id, heard])
  }

  /** Listens to one id, or with `*` to all of a topic, until the returned function is called. */
  function hear(topic: string, id: string, listener: Listener): () => void {
    const key = keyOf(topic, id)
    const ofKey = listeners.get(key) ?? new Set()
    listeners.set(key, ofKey.add(listener))
    return () => {
      ofKey.delete(listener)
      if (!ofKey.size && listeners.get(key) === ofKey) listeners.delete(key)
    }
  }

  /** Hears the other processes from now on; tries again while the wire is away. */
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

  /** What waits goes out together while an earlier message is under way. */
  function sendingOver(over: Wire): (notices: Notice) => void {
    let waiting: Notice[] = []
    let sending = false
    return (notices) => {
      waiting.push(notices)
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
    for (const notices of read.notify) deliver(notices)
  }

  function missed(): void {
    for (const ofKey of [...listeners.values()]) for (const listener of [...ofKey]) contain(listener, null)
  }

  function contain(listener: Listener, heard: Heard | null): void {
    try {
      listener(heard)
    } catch (error) {
      onError('live', error)
    }
  }
}

/** As many as fit one message, and at least one. */
function firstOf(waiting: readonly Notice[]): Notice[] {
  let bytes = 0
  const max = waiting.findIndex((notices) => {
    bytes += Buffer.byteLength(JSON.stringify(notices)) + 1
    return bytes > MAX_BYTES
  })
  return max < 0 ? [...waiting] : waiting.slice(0, Math.max(1, max))
}

/** One process alone hears itself. */
const NOTHING: Loop = { wake: () => undefined, stop: async () => undefined }

const keyOf = (topic: string, id: string): string => `${topic} ${id}`

/** Every client of the database may publish on its channel. */
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
 * Two wires as one: what cannot go over the first goes over the second, and both are heard, so that losing the first
 * loses nothing. What is wrong with the first is not told here.
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
