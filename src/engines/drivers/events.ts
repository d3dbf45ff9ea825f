import { EngineFailure } from '../engine'

/** Most characters of one event. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024

const CARRIAGE_RETURN = 13

/** One server-sent event: its data as it came, and the JSON in it. */
export type WireEvent = { raw: string; value: unknown }

/**
 * Splits a stream of server-sent events into events of JSON, up to `[DONE]`. Servers part events by one line end or
 * two, and send empty ones to keep the connection: so a line of data that is whole JSON is an event by itself, and one
 * that is not goes on in the next line. Throws `too-large` for an event over 4 MB, `malformed` for one that is no JSON.
 */
export function createEventSplitter() {
  let line = ''
  let data = ''
  let events: WireEvent[] = []
  let done = false

  function takeLine(text: string): void {
    if (text === '') {
      if (data !== '') flush()
      return
    }
    const isBare = text.startsWith('{')
    if (!isBare && !text.startsWith('data:')) return
    const raw = isBare ? text : text.slice(text[5] === ' ' ? 6 : 5)
    const isObject = raw.startsWith('{')
    if (!isObject && raw.trim() === '[DONE]') done = true
    else if (data !== '') data += `\n${raw}`
    else {
      const value = parsed(raw)
      if (value === undefined) data = raw
      else events.push({ raw, value })
    }
  }

  function flush(): void {
    const raw = data
    data = ''
    if (raw.trim() === '') return
    const value = parsed(raw)
    if (value === undefined) throw new EngineFailure('malformed', 'an event of the stream is not JSON')
    events.push({ raw, value })
  }

  return {
    /** `[DONE]` came: what follows is ignored. */
    get isDone() {
      return done
    },
    /** The events that this text completes. */
    take(text: string): WireEvent[] {
      events = []
      let from = 0
      // Only new text is searched: an event in many small pieces costs no more than one in a few.
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        const piece = text.slice(from, text.charCodeAt(end - 1) === CARRIAGE_RETURN && end > from ? end - 1 : end)
        // The line end itself may have come in two pieces.
        const whole = piece === '' && line.endsWith('\r') ? line.slice(0, -1) : line + piece
        if (whole.length > MAX_EVENT_CHARS) throw tooLarge()
        if (!done) takeLine(whole)
        line = ''
        from = end + 1
      }
      line += from === 0 ? text : text.slice(from)
      if (line.length + data.length > MAX_EVENT_CHARS) throw tooLarge()
      return events
    },
    /** The event that the end of the stream completes. */
    end(): WireEvent[] {
      return this.take('\n\n')
    },
  }
}

const tooLarge = () => new EngineFailure('too-large', 'one event of the upstream is too large')

/** Undefined for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
