const FENCES: ReadonlySet<string> = new Set(['```', '~~~'])

/** A line that opens a fence, with its language; the JSON may begin in the same line. */
const OPENING = /\n[ \t]*(?:`{3}|~{3})[\w+-]{0,20}[ \t]*(?:\r?\n|(?=[[{]))/

/** Longer is no opening line. */
const MAX_OPENING_CHARS = 60

/** A line that closes a fence. In JSON line ends are between values only, so none is in a text. */
const CLOSING = /\n[ \t]*(?:`{3}|~{3})/

/**
 * Takes a text in pieces and gives it up to the first of these texts in it, whichever way it is cut into pieces: what
 * may be the beginning of one is held back.
 */
export function createStopFilter(stops: readonly string[]) {
  const longest = Math.max(...stops.map(({ length }) => length))
  let waiting = ''
  let hit: string | null = null

  return {
    add(piece: string): string {
      if (hit !== null) return ''
      const text = waiting + piece
      const found = stops
        .map((stop) => ({ stop, at: text.indexOf(stop) }))
        .filter(({ at }) => at >= 0)
        .sort((a, b) => a.at - b.at || b.stop.length - a.stop.length)[0]
      if (found) {
        hit = found.stop
        waiting = ''
        return text.slice(0, found.at)
      }
      let held = Math.min(longest - 1, text.length)
      while (held > 0 && !stops.some((stop) => stop.startsWith(text.slice(-held)))) held -= 1
      waiting = held ? text.slice(-held) : ''
      return held ? text.slice(0, -held) : text
    },
    /** What was held back, at the end of the text. */
    end(): string {
      const rest = waiting
      waiting = ''
      return rest
    },
    /** The text that was found; null for none. */
    hit: (): string | null => hit,
  }
}

/**
 * JSON in a Markdown fence is JSON where JSON was asked for (docs/api.md 4): the fence goes, and what an engine says
 * before and behind it, whether the answer comes whole or in pieces.
 */
export function withoutFence(text: string): string {
  const filter = createFenceFilter()
  return filter.add(text) + filter.end()
}

/**
 * Takes a text in pieces and gives the JSON in its first fence, else the object or list at its beginning or among its
 * words, else the whole.
 */
export function createFenceFilter() {
  let state: 'opening' | 'prose' | 'fenced' | 'closed' | 'plain' = 'opening'
  let waiting = ''
  const value = createValueEnd()

  function open(): string {
    const text = waiting.trimStart()
    if (text === '') return ''
    if (/^["[{]/.test(text)) {
      state = 'plain'
      waiting = ''
      return whole(text)
    }
    state = 'prose'
    return seek('')
  }

  /** Up to the end of the object or list; what an engine says behind it is left out. */
  function whole(text: string): string {
    const end = value.find(text)
    if (end < 0) return text
    state = 'closed'
    return text.slice(0, end)
  }

  /** Nothing is given before a fence opens: without one, all of it is the answer. */
  function seek(piece: string): string {
    const from = Math.max(0, waiting.length - MAX_OPENING_CHARS)
    waiting += piece
    const near = (from === 0 ? '\n' : '') + waiting.slice(from)
    const found = OPENING.exec(near)
    if (!found) return ''
    const rest = near.slice(found.index + found[0].length)
    state = 'fenced'
    waiting = ''
    return hold(rest)
  }

  /** Up to the closing fence; holds back what may be its beginning. */
  function hold(text: string): string {
    const all = waiting + text
    const closing = CLOSING.exec(all)
    if (closing) {
      state = 'closed'
      waiting = ''
      return all.slice(0, closing.index).trimEnd()
    }
    const given = all
      .trimEnd()
      .replace(/`{1,3}$|~{1,3}$/, '')
      .trimEnd().length
    waiting = all.slice(given)
    return all.slice(0, given)
  }

  return {
    add(piece: string): string {
      if (state === 'plain') return whole(piece)
      if (state === 'closed') return ''
      if (state === 'fenced') return hold(piece)
      if (state === 'prose') return seek(piece)
      waiting += piece
      return open()
    },
    end(): string {
      const rest = waiting
      waiting = ''
      if (state === 'prose') return jsonIn(rest) ?? rest
      return state === 'fenced' && FENCES.has(rest.trim()) ? '' : rest
    },
  }
}

/** The only object or list in a text, without the words around it; null where there is none. */
function jsonIn(text: string): string | null {
  const found = text.slice(Math.max(0, text.search(/[[{]/)))
  const inner = found.slice(0, Math.max(found.lastIndexOf('}'), found.lastIndexOf(']')) + 1)
  try {
    return typeof JSON.parse(inner) === 'object' ? inner : null
  } catch {
    return null
  }
}

/** Reads JSON in pieces; `find` gives where in a piece the object or list that it began with ends, -1 for not yet. */
function createValueEnd() {
  let depth = 0
  let isText = false
  let isEscaped = false
  return {
    find(piece: string): number {
      for (let at = 0; at < piece.length; at++) {
        const sign = piece[at]!
        if (isEscaped) isEscaped = false
        else if (isText) {
          if (sign === '\\') isEscaped = true
          else if (sign === '"') isText = false
        } else if (sign === '"') isText = true
        else if (sign === '{' || sign === '[') depth += 1
        else if ((sign === '}' || sign === ']') && --depth === 0) return at + 1
      }
      return -1
    },
  }
}
