/**
 * JSON in a Markdown fence is JSON where JSON was asked for (contract 4): the fence goes, whether the answer comes whole
 * or in pieces.
 */
export function withoutFence(text: string): string {
  const filter = createFenceFilter()
  return filter.add(text) + filter.end()
}

const FENCE = '```'
/** More before the first line end is no language of a fence. */
const MAX_OPENING_CHARS = 40

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
    const kept =
      all.length -
      all
        .trimEnd()
        .replace(/`{1,3}$/, '')
        .trimEnd().length
    waiting = all.slice(all.length - kept)
    return all.slice(0, all.length - kept)
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
