import type { LiveMessage } from '../cluster'
import { type Loop, startLoop } from '../kernel/loop'
import { sseFrame } from '../kernel/stream'
import type { Deps } from './deps'
import { tooFast } from './errors'
import { presentMessage, sessionRepository as rows } from './repository'
import type { ChatEvent, WidgetSessionId } from './schema-sessions'
import type { MessageRow, SessionRow } from './table'
import { CHAT } from './transcript'

/** The median. Null without values. */
export function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null
}

export const chatFrame = (notice: ChatEvent): string => sseFrame(notice)

type Write = (notice: ChatEvent) => void | Promise<void>
type Watcher = { seen: number; look(words?: boolean): void }

const LOOK_EVERY_MS = 2_000
/** Maximum streams per chat in this process: several tabs of one visitor, and lost connections not noticed yet. */
const MAX_OF_CHAT = 20
const RETRY_S = 10
/** Pause of the loop while nobody listens. The first listener wakes it. */
const NOBODY_MS = 60_000
/** Looks back further than one interval, because of slow commits and differing clocks. */
const BACK_MS = 15_000
/** A visitor without a listener for this long has left. */
const [LEFT_MS, MAX_LEAVING] = [5_000, 500]
/** Number of latest waits from which the median gives the usual wait. */
const WAITS = 20

/** The listeners of chats in this process. A loop looks for changes, in case live notices are lost. */
export function createHub({ store, clock, live, recent, onError }: Deps) {
  const watched = new Map<string, Set<Watcher>>()
  /** Chats that lost their last listener here, and when. */
  const leaving = new Map<WidgetSessionId, number>()
  let loop: Loop | null = null
  return { follow, assertMayFollow, start, open: () => watched.size }

  /** Throws 429 when a chat has the maximum number of streams here. Otherwise its token could hold too many. */
  function assertMayFollow({ id }: Pick<SessionRow, 'id'>): void {
    if ((watched.get(id)?.size ?? 0) >= MAX_OF_CHAT)
      throw tooFast(RETRY_S, `This chat is already open in ${MAX_OF_CHAT} places.`)
  }

  /**
   * Writes a chat's events until it closes or the signal aborts: first who answers, then the messages after number
   * `after`, then everything new. Throws when the reader has left.
   */
  function follow(session: SessionRow, after: number | null, write: Write, signal: AbortSignal): Promise<void> {
    const over = Promise.withResolvers<void>()
    let sentUpTo = after ?? session.message_count
    let state = ''
    let looking = false
    let again = false
    /** True if only messages were announced, so that the chat itself need not be read. */
    let onlyWords = false
    /** Number of the last announced message. */
    let last = sentUpTo
    let isBehind = false
    const watcher: Watcher = { seen: session.changed_at, look }
    const unhear = live.subscribe(CHAT, session.id, heard)
    leaving.delete(session.id)
    const ofChat = watched.get(session.id) ?? new Set()
    watched.set(session.id, ofChat.add(watcher))
    if (watched.size === 1) loop?.wake()
    if (session.left_at !== null) comeBack()
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    look()
    return over.promise.finally(() => {
      signal.removeEventListener('abort', leave)
      unhear()
      remove(session.id, watcher)
    })

    function leave(): void {
      over.resolve()
    }

    /** Marks the visitor as present, even if this or another process just marked them as left. */
    function comeBack(): void {
      const write = store.write(async (tx) => {
        await rows.change(tx, session.id, { left_at: null, changed_at: clock.now() })
        tx.afterCommit(() => live.publish(CHAT, session.id, { what: 'back', widget: session.config_id }))
      })
      write.catch((error: unknown) => onError('widget.presence', error))
    }

    function heard(word: LiveMessage | null): void {
      if (word?.what === 'left') comeBack()
      if (word?.what === 'typing') {
        if (word.role !== 'user') tellTyping(String(word.role))
      } else {
        last = Math.max(last, Number(word?.seq ?? 0))
        look(word?.what === 'message')
      }
    }

    /** Skips readers that are behind, so that only stored events queue up for them. */
    function tellTyping(role: string): void {
      if (isBehind) return
      isBehind = true
      void Promise.resolve(write({ event: 'typing', data: { role } })).then(() => {
        isBehind = false
      }, over.resolve)
    }

    function look(words = false): void {
      onlyWords = words && (onlyWords || !again)
      again = true
      if (looking) return
      looking = true
      void read().catch(over.reject)
    }

    async function read(): Promise<void> {
      while (again) {
        again = false
        await (onlyWords ? tellMessages() : once()).catch(missed)
      }
      looking = false
    }

    async function once(): Promise<void> {
      const [row] = await rows.byIds(store.read, [session.id])
      if (row) {
        watcher.seen = row.changed_at
        await tellState(row)
        last = Math.max(last, row.message_count)
        await tellMessages()
      }
      if (row && row.status === 'open') return
      await write({ event: 'closed', data: {} })
      over.resolve()
    }

    async function tellState({ takeover_status, operator_name }: SessionRow): Promise<void> {
      const now = `${takeover_status} ${operator_name}`
      if (now === state) return
      state = now
      const operator = takeover_status === 'human' ? { name: operator_name ?? '' } : null
      const waits = takeover_status === 'requested' ? await rows.waits(store.read, session.config_id, WAITS) : []
      const usual = median(waits)
      const wait = usual === null ? {} : { usual_wait_s: Math.round(usual / 1_000) }
      await write({ event: 'takeover', data: { takeover_status, operator, ...wait } })
    }

    async function tellMessages(): Promise<void> {
      for (let known = recent.after(session.id, sentUpTo); known; known = recent.after(session.id, sentUpTo))
        await tell(known)
      if (sentUpTo >= last) return
      for (const message of await rows.messages(store.read, session.id, sentUpTo)) await tell(message)
      last = sentUpTo
    }

    async function tell(message: MessageRow): Promise<void> {
      sentUpTo = message.seq
      watcher.seen = Math.max(watcher.seen, message.created_at)
      await write({ event: 'message', id: message.seq, data: presentMessage(message) })
    }

    /** Retries after a database failure. If the reader is gone, ends the stream. */
    function missed(error: unknown): void {
      if (signal.aborted || (error as Error).name === 'ReaderLeft') over.resolve()
      else {
        watcher.seen = 0
        onError('widget.events', error)
      }
    }
  }

  function remove(id: WidgetSessionId, watcher: Watcher): void {
    const ofChat = watched.get(id)
    ofChat?.delete(watcher)
    if (ofChat?.size) return
    watched.delete(id)
    leaving.set(id, clock.now())
    loop?.wake()
  }

  /** Marks visitors as left who have not come back for a while. A reloaded page is back at once. */
  async function tellLeft(): Promise<void> {
    const now = clock.now()
    const gone = [...leaving].filter(([, at]) => now - at >= LEFT_MS).map(([id]) => id)
    for (const id of gone) leaving.delete(id)
    if (!gone.length) return
    await store.write(async (tx) => {
      const found = await rows.left(tx, gone.slice(0, MAX_LEAVING), now)
      tx.afterCommit(() => {
        for (const { id, config_id: widget } of found) live.publish(CHAT, id, { what: 'left', widget })
      })
    })
  }

  /** One loop for all listeners of this process. */
  function start(): Loop {
    loop = startLoop({
      name: 'widget.events',
      idleMs: () => (watched.size || leaving.size ? LOOK_EVERY_MS : NOBODY_MS),
      clock,
      onError,
      tick: async () => {
        await tellLeft()
        if (!watched.size) return 0
        for (const { id, changed_at } of await rows.changedSince(store.read, clock.now() - BACK_MS)) {
          for (const watcher of watched.get(id) ?? []) if (watcher.seen < changed_at) watcher.look()
        }
        return 0
      },
    })
    return loop
  }
}

export const lastEventOf = (header: string | null): number | null =>
  header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null
