/** The current size of an open group, and of its last item, which a count may repeat. */
type Group = { total: number; last: number }

const PROPERTY = /\\p/i
const COUNT = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/

/**
 * The number of items in a pattern when its counts are written out. `(a{3}b){2}` has 10, because a group counts as one.
 * Predicts the cost of compiling and running the pattern. `property` is the weight of a class such as `\p{L}`, which
 * consists of hundreds of ranges.
 */
export function patternSize(source: string, property = 1): number {
  const open: Group[] = [{ total: 0, last: 0 }]
  for (let at = 0; at < source.length; ) {
    const group = open.at(-1)!
    const char = source[at]!
    const counted = char === '{' ? COUNT.exec(source.slice(at, at + 18)) : null
    if (counted) {
      const times = Math.max(Number(counted[2] || counted[1]), Number(counted[1]), 1)
      group.total += group.last * (times - 1)
      group.last *= times
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
      add(group, PROPERTY.test(source.slice(at, end)) ? property : 1)
      at = end
    }
  }
  return open.reduce((sum, { total }) => sum + total, 0)
}

function add(group: Group, size: number): void {
  group.total += size
  group.last = size
}

/** The index after one letter, one escape, or one class in brackets. */
function endOfAtom(source: string, at: number): number {
  if (source[at] === '\\') return at + 2
  if (source[at] !== '[') return at + 1
  for (let end = at + 1; end < source.length; end++) {
    if (source[end] === '\\') end++
    else if (source[end] === ']') return end + 1
  }
  return source.length
}
