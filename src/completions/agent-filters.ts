import JSON5 from 'json5'

const FENCES: ReadonlySet<string> = new Set(['```', '~~~'])

/** A line that opens a fence, with its language. The JSON may begin on the same line. */
const OPENING = /\n[ \t]*(?:`{3}|~{3})[\w+-]{0,20}[ \t]*(?:\r?\n|(?=[[{]))/

/** A longer line opens no fence. */
const MAX_OPENING_CHARS = 60

/** A line that closes a fence. JSON has line breaks only between values, so no text in it can match. */
const CLOSING = /\n[ \t]*(?:`{3}|~{3})/

/**
 * Takes a text in pieces and passes it on up to the first stop text. Holds back anything that may be the beginning of a
 * stop text, so it does not matter where the pieces are cut.
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
    /** The rest that was held back, at the end of the text. */
    end(): string {
      const rest = waiting
      waiting = ''
      return rest
    },
    /** The stop text that was found. Null if none was. */
    hit: (): string | null => hit,
  }
}

/**
 * Unwraps JSON from a Markdown fence when JSON was requested (docs/api.md 4). Drops the fence and the engine's words
 * around it. Gives the same result for an answer in one piece and in many.
 */
export function withoutFence(text: string): string {
  const filter = createFenceFilter()
  return filter.add(text) + filter.end()
}

/** What a relaxed reader would change silently: digits beyond those of a double, and numbers that JSON does not have. */
const INEXACT = /\d{16}|\bNaN\b|\bInfinity\b/

/** Texts with their line ends as written, and the words of Python. Never fails within a text, so it is linear. */
const LOOSE = /(["'])(?:(?!\1)[^\\]|\\[\s\S])*(?:\1|\\?$)|\b(?:None|True|False)\b/g
const MEANT: Record<string, string> = {
  ...{ None: 'null', True: 'true', False: 'false' },
  ...{ '\n': '\\n', '\r': '\\r', '\t': '\\t' },
}

/**
 * The JSON of a whole answer, out of its fence. What models add to JSON is taken away: commas behind the last value,
 * comments, single quotes, names without quotes, line ends in texts, words of Python. Other text, and JSON that was cut,
 * is unchanged.
 */
export function jsonAnswer(answer: string): string {
  const text = withoutFence(answer).trim()
  if (!/^[[{]/.test(text) || !/[\]}]$/.test(text) || INEXACT.test(text) || parsed(JSON, text))
    return withoutFence(answer)
  const escaped = () => text.replace(LOOSE, (one) => MEANT[one] ?? one.replace(/[\n\r\t]/g, (sign) => MEANT[sign]!))
  const value = parsed(JSON5, text) ?? parsed(JSON5, escaped())
  return value ? JSON.stringify(value) : withoutFence(answer)
}

function parsed(format: Pick<typeof JSON, 'parse'>, text: string): object | null {
  try {
    return format.parse(text) as object
  } catch {
    return null
  }
}

/**
 * Takes a text in pieces. Passes on the JSON in the first fence. Without a fence, passes on the object or list at the
 * beginning or among the words, or else the whole text.
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

  /** The text up to the end of the object or list. Drops the engine's words behind it. */
  function whole(text: string): string {
    const end = value.find(text)
    if (end < 0) return text
    state = 'closed'
    return text.slice(0, end)
  }

  /** Passes on nothing before a fence opens, because without a fence the whole text is the answer. */
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

  /** The text up to the closing fence. Holds back anything that may be the beginning of that fence. */
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

const MAX_BRACKETS = 50

/** The first object or list in a text, without the words around it. Null if there is none. */
function jsonIn(text: string): string | null {
  let from = text.search(/[[{]/)
  for (let tries = 0; from >= 0 && tries < MAX_BRACKETS; tries++) {
    const found = text.slice(from)
    const inner = found.slice(0, createValueEnd().find(found))
    if (parsed(JSON, inner)) return inner
    const next = text.slice(from + 1).search(/[[{]/)
    from = next < 0 ? -1 : from + 1 + next
  }
  return null
}

/** Reads JSON in pieces. `find` returns where in a piece the first object or list ends, or -1 if it does not. */
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
