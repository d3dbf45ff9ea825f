const FENCE = '```'

/** More before the first line end is no language of a fence. */
const MAX_OPENING_CHARS = 40

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
 * JSON in a Markdown fence is JSON where JSON was asked for (contract 4): the fence goes, whether the answer comes whole
 * or in pieces.
 */
export function withoutFence(text: string): string {
  const filter = createFenceFilter()
  return filter.add(text) + filter.end()
}

/** Takes a text in pieces and gives it without a fence around it. */
export function createFenceFilter() {
  let state: 'opening' | 'fenced' | 'plain' = 'opening'
  let waiting = ''

  function open(): string {
    const text = waiting.trimStart()
    if (text === '' || (text.length < FENCE.length && FENCE.startsWith(text))) return ''
    const lineEnd = text.indexOf('\n')
    if (text.startsWith(FENCE) && lineEnd < 0 && text.length <= MAX_OPENING_CHARS) return ''
    state = text.startsWith(FENCE) && lineEnd > 0 && /^[`\w+-]*\s*$/.test(text.slice(0, lineEnd)) ? 'fenced' : 'plain'
    const rest = state === 'fenced' ? text.slice(lineEnd + 1) : waiting
    waiting = ''
    return state === 'fenced' ? hold(rest) : rest
  }

  /** Holds back blanks and backticks at the end, which may be the closing fence. */
  function hold(text: string): string {
    const all = waiting + text
    const stored =
      all.length -
      all
        .trimEnd()
        .replace(/`{1,3}$/, '')
        .trimEnd().length
    waiting = all.slice(all.length - stored)
    return all.slice(0, all.length - stored)
  }

  return {
    add(piece: string): string {
      if (state === 'plain') return piece
      if (state === 'fenced') return hold(piece)
      waiting += piece
      return open()
    },
    end(): string {
      const rest = waiting
      waiting = ''
      return state === 'fenced' && rest.trim() === FENCE ? '' : rest
    },
  }
}
