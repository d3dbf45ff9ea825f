import type { Frame } from './frame'

type Listener = (detail: unknown) => void

export type WidgetApi = ReturnType<typeof createApi>

/** `window.svcWidget`: the functions that the host's page may call. Calls before a frame exists wait for it. */
export function createApi() {
  const frames = new Map<string, Frame>()
  const listeners = new Map<string, Set<Listener>>()
  const early: ((frame: Frame) => void)[] = []

  const each = (act: (frame: Frame) => void): void => {
    if (frames.size === 0) early.push(act)
    for (const frame of frames.values()) act(frame)
  }

  const calls = {
    open: () => each((frame) => frame.open()),
    close: () => each((frame) => frame.send('close')),
    toggle: () => each((frame) => (frame.isOpen() ? frame.send('close') : frame.open())),
    show: () => each((frame) => frame.show(true)),
    hide: () => each((frame) => frame.show(false)),
    /** Opens the chat and sends a text as the visitor's message. */
    send: (text: unknown) => each((frame) => frame.send('send', { text: String(text) })),
    /** The visitor's identity: `{name, email, external_id, hash}`. Only the host server's hash proves it. */
    identify: (who: unknown) => each((frame) => frame.send('identify', { who })),
    setContext: (context: unknown) => each((frame) => frame.send('context', { context })),
    on(event: string, listener: Listener): () => void {
      const heard = listeners.get(event) ?? new Set()
      listeners.set(event, heard.add(listener))
      return () => heard.delete(listener)
    },
    destroy(): void {
      for (const frame of frames.values()) frame.remove()
      frames.clear()
    },
  }

  return {
    ...calls,
    /** Whether a chat is on the page. A site that swaps its whole body takes the frame away with it. */
    has(id: string): boolean {
      const frame = frames.get(id)
      if (!frame || frame.isPlaced()) return Boolean(frame)
      frame.remove()
      return !frames.delete(id)
    },
    add(id: string, frame: Frame): void {
      frames.set(id, frame)
      for (const act of early.splice(0)) act(frame)
    },
    emit(event: string, detail: unknown): void {
      for (const listener of listeners.get(event) ?? []) {
        try {
          listener(detail)
        } catch {
          // An error in a listener of the host is the host's own.
        }
      }
    },
    /** For pages that call before the script is loaded: `(window.svcWidget ||= []).push(['open'])`. */
    push(input: unknown): void {
      const [name, ...values] = Array.isArray(input) ? (input as unknown[]) : []
      if (typeof name === 'string' && Object.hasOwn(calls, name))
        (calls[name as keyof typeof calls] as (...values: unknown[]) => unknown)(...values)
    },
  }
}
