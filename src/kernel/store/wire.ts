import type { SQL } from 'bun'
import { connect } from './postgres-client'

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

/** Over LISTEN and NOTIFY, on connections of its own that are opened with the first use; reconnects by itself. */
export function createPostgresWire(url: string): { wire: Wire; close(): Promise<void> } {
  let client: SQL | null = null
  let hears = false
  const opened = () => {
    client ??= connect(url)
    return client
  }
  return {
    wire: {
      async send(text) {
        await opened().notify(CHANNEL, text)
      },
      async hear(text, again) {
        const heard = await opened().listen(CHANNEL, text, again)
        hears = true
        return async () => {
          hears = false
          await heard.unlisten()
        }
      },
      hearing: () => hears,
    },
    close: async () => {
      await client?.close({ timeout: 2 })
    },
  }
}
