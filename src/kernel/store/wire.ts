import type { SQL } from 'bun'
import { systemClock } from '../clock'
import { connect } from './postgres-client'
import type { Client } from './postgres-line'

/** What the processes of one database tell each other at once. Nothing is kept: what is lost is lost. */
export type Wire = {
  /** Rejects where the text cannot be sent. At most 7,000 bytes. */
  send(text: string): Promise<void>
  /**
   * Hears what any process sends, this one included, until the returned function is called. `again` is called when the
   * connection is new, also the first time: what was sent before it may have been missed.
   */
  hear(text: (text: string) => void, again: () => void): Promise<() => Promise<void>>
  /** Whether it hears now; where it does not, `hear` is to be called again. */
  hearing(): boolean
}

const CHANNEL = 'svc_live'
/** What is sent to hear whether the wire still hears. */
const BEAT = ''
/** After so long a silence a beat is sent; the connection that does not hear it in time is given up. */
const BEAT_MS = 4_000
const DEAF_MS = 5_000
const LISTEN_MS = 2_000

/**
 * Over LISTEN and NOTIFY: `client` sends, and a connection of its own hears, which is opened with the first use and
 * reconnects by itself. `drop` gives that one up.
 */
export function createPostgresWire(url: string, client: Client) {
  let ear: SQL | null = null
  let hears = false
  let heardAt = 0
  let beatAt = 0

  const drop = (): void => {
    const gone = ear
    ear = null
    hears = false
    void gone?.close({ timeout: 0 }).catch(() => undefined)
  }

  const send = async (text: string): Promise<void> => {
    await client.rows('SELECT pg_notify($1, $2)', [CHANNEL, text])
  }

  const wire: Wire = {
    send,
    async hear(text, again) {
      drop()
      const mine = connect(url)
      ear = mine
      const over = new AbortController()
      const late = systemClock.sleep(LISTEN_MS, over.signal).then(() => {
        if (!over.signal.aborted && ear === mine) drop()
      })
      const heard = await mine
        .listen(
          CHANNEL,
          (sent) => {
            heardAt = systemClock.monotonic()
            if (sent !== BEAT) text(sent)
          },
          again,
        )
        .finally(() => over.abort())
      await late
      heardAt = systemClock.monotonic()
      hears = ear === mine
      return async () => {
        if (ear !== mine) return
        hears = false
        await heard.unlisten()
      }
    },
    hearing() {
      const now = systemClock.monotonic()
      if (hears && beatAt > heardAt && now - beatAt > DEAF_MS) drop()
      if (hears && beatAt <= heardAt && now - heardAt > BEAT_MS) {
        beatAt = now
        send(BEAT).catch(() => undefined)
      }
      return hears
    },
  }
  return { wire, drop, close: async () => void (await ear?.close({ timeout: 2 })) }
}
