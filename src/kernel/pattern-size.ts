/** A piece of a pattern that a count may follow. */
type Group = { total: number; last: number }

const PROPERTY = /\\p/i
const COUNT = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/

/**
 * How large a pattern becomes when its counts are written out, `(a{3}b){2}` being 8: what compiling and
 * running it costs, known before either. A class of letters by property, `\p{L}`, is hundreds of ranges: it may be
 * told to count for more.
 */
export function patternSize(source: string, property = 1): number {
  const open: Group[] = [{ total: 0, last: 0 }]
  for (let at = 0; at < source.length; ) {
    const here = open.at(-1)!
    const char = source[at]!
    const counted = char === '{' ? COUNT.exec(source.slice(at, at + 18)) : null
    if (counted) {
      const times = Math.max(Number(counted[2] || counted[1]), Number(counted[1]), 1)
      here.total += here.last * (times - 1)
      here.last *= times
      at += counted[0].length
    } else if (char === '(') {
      open.push({ total: 0, last: 0 })
      at++
    } else if (char === ')' && open.length > 1) {
      const { total } = open.pop()!
      add(open.at(-1)!, total + 1)
      at++
    } else {
      const end = endOfAtom(source, at)
      add(here, PROPERTY.test(source.slice(at, end)) ? property : 1)
      at = end
    }
  }
  return open.reduce((sum, { total }) => sum + total, 0)
}

function add(group: Group, size: number): void {
  group.total += size
  group.last = size
}

/** Behind one letter, one escape, or one class in brackets. */
function endOfAtom(source: string, at: number): number {
  if (source[at] === '\\') return at + 2
  if (source[at] !== '[') return at + 1
  for (let end = at + 1; end < source.length; end++) {
    if (source[end] === '\\') end++
    else if (source[end] === ']') return end + 1
  }
  return source.length
}
