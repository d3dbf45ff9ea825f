import { Failure, readEvents } from '../shared/http'
import type { createTranscript, Row } from './transcript'
import type { Visitor } from './visitor'
import type { Attachment, Message, Status } from './wire'
import { WORDS } from './words'

type Options = {
  visitor: Pick<Visitor, 'send'>
  transcript: ReturnType<typeof createTranscript>
  /** The server's copy of a sent message. */
  took(message: Message): void
  /** Address to which the owner redirects the chat. */
  redirected(reply: Message, url: string): void
  /** Who answers from now on. */
  changed(status: Status): void
  answering(isComing: boolean): void
  /** A shown answer now has this id. */
  arrived(reply: Message): void
  followUps(prompts: { label: string; prompt: string }[]): void
  /** The session started or continues, so its events can be followed. */
  begun(): void
  /** A failure that concerns the whole chat. */
  failed(failure: Failure): void
  /** Reads messages of the server that this page does not know yet. */
  catchUp(): Promise<unknown>
}

type Input = { text: string; attachments: Attachment[]; row: Row }

/**
 * Sends messages one after the other. Without a network they wait, and are sent in order when it is back. Before a
 * broken call is repeated, checks whether it had arrived, so that nothing is sent twice.
 */
export function createSending(options: Options) {
  const { visitor, transcript, took, redirected, changed, answering, arrived, followUps, begun, failed, catchUp } =
    options
  const queue: Input[] = []
  let isBusy = false
  let mayHaveArrived = false
  let stop: AbortController | null = null

  function add(text: string, attachments: Attachment[]): void {
    const row = transcript.add('user', text)
    row.note(navigator.onLine ? WORDS.sending : WORDS.kept)
    queue.push({ text, attachments, row })
    void drain()
  }

  async function drain(): Promise<void> {
    if (isBusy || !navigator.onLine) return
    isBusy = true
    try {
      if (mayHaveArrived) {
        await catchUp()
        mayHaveArrived = false
      }
      while (queue[0] && navigator.onLine) {
        const input = queue[0]
        // An event already reported the message, so it had arrived.
        if (input.row.id() !== null) queue.shift()
        else if (!(await sent(input))) break
      }
    } catch (error) {
      if (error instanceof Failure) failed(error)
    } finally {
      isBusy = false
    }
  }

  /** Returns false when the rest must wait. */
  async function sent(input: Input): Promise<boolean> {
    const { text, attachments, row } = input
    row.note(WORDS.sending)
    const abort = new AbortController()
    stop = abort
    try {
      const result = await visitor.send(text, attachments, abort.signal)
      begun()
      queue.shift()
      row.note('')
      if ('answer' in result) {
        const { message, reply, takeover_status, redirect_url } = result.answer
        if (row.id() === null) row.identify(message.id)
        if (reply) took(reply)
        if (reply && redirect_url) redirected(reply, redirect_url)
        changed(takeover_status)
      } else await answered(result.stream, row, abort.signal)
      return true
    } catch (error) {
      const failure = error instanceof Failure ? error : null
      if (failure?.code === 'offline') {
        mayHaveArrived = true
        row.note(WORDS.kept)
        failed(failure)
        return false
      }
      if (queue[0] === input) queue.shift()
      const retry = () => {
        row.remove()
        add(text, attachments)
      }
      row.note(abort.signal.aborted ? WORDS.stopped : WORDS.notSent, { label: WORDS.again, run: retry })
      if (failure) failed(failure)
      return true
    } finally {
      stop = null
      answering(false)
    }
  }

  async function answered(stream: Response, mine: Row, signal: AbortSignal): Promise<void> {
    answering(true)
    transcript.setTyping(WORDS.writing)
    let row: Row | null = null
    let text = ''
    const grow = () => {
      row ??= transcript.add('assistant', '', { grows: true })
      return row
    }
    try {
      await readEvents(stream, ({ name, data }) => {
        const event = data as {
          token?: string
          content?: string
          follow_ups?: { label: string; prompt: string }[]
          artifacts?: Message['artifacts']
          takeover_status?: Status
          error?: { code: string; message: string }
        }
        if (name === 'token') {
          if (text === '') transcript.setTyping('')
          text += event.token ?? ''
          grow().write(text)
        } else if (name === 'reply') {
          // The stored answer, with the id under which it also appears in other tabs.
          const { message, reply, takeover_status } = data as {
            message: Message
            reply: Message | null
            takeover_status: Status
          }
          if (mine.id() === null) mine.identify(message.id)
          if (reply && grow().id() === null) grow().identify(reply.id)
          if (reply) arrived(reply)
          changed(takeover_status)
        } else if (name === 'done') {
          text = event.content ?? text
          if (text) grow().write(text)
          row?.addLinks(linksOf(event.artifacts))
          followUps(event.follow_ups ?? [])
        } else if (name === 'error') throw new Failure(0, event.error?.code ?? '', event.error?.message ?? WORDS.failed)
      })
    } catch (error) {
      if (signal.aborted) grow().note(WORDS.stopped)
      else grow().note(error instanceof Failure ? error.message : WORDS.failed)
      if (!(error instanceof Failure) && !signal.aborted) void catchUp().catch(() => undefined)
    } finally {
      transcript.setTyping('')
      ;(row as Row | null)?.finish()
    }
  }

  return { add, drain, stop: () => stop?.abort(), waits: () => queue.length > 0 }
}

/** Files of an answer, as links. */
export const linksOf = (artifacts: Message['artifacts'] = []): { label: string; url: string }[] =>
  artifacts.flatMap(({ url, title, filename }) => (url ? [{ label: title ?? filename ?? url, url }] : []))
