/** What is looked up of a name at most, in words: more words make no narrower index. */
const MAX_WORDS = 4

/** The words of a pattern before its first `*`, four at most: its place in the index, empty for `*`. */
export const stemOf = (pattern: string): string => {
  const words = pattern.split('.')
  const star = words.indexOf('*')
  return words.slice(0, Math.min(star < 0 ? words.length : star, MAX_WORDS)).join('.')
}

/** The places at which patterns that match a name can be, always five of them: `''`, `order`, `order.created`. */
export function stemsOf(type: string): Record<'s0' | 's1' | 's2' | 's3' | 's4', string> {
  const words = type.split('.')
  const first = (count: number) => words.slice(0, count).join('.')
  return { s0: '', s1: first(1), s2: first(2), s3: first(3), s4: first(4) }
}

/**
 * Whether a pattern matches the name of an event (contract 11.1): `*` alone all, in the middle one word, at the end one
 * or more. With `prefix` a pattern without `*` also matches what begins with it: `share` matches `share.accepted`.
 */
export function matchesPattern(pattern: string, type: string, { prefix }: { prefix: boolean }): boolean {
  if (pattern === '*' || pattern === type) return true
  const [wanted, words] = [pattern.split('.'), type.split('.')]
  const isOpen = wanted.at(-1) === '*'
  const fits = wanted.every((word, index) => index < words.length && (word === '*' || word === words[index]))
  if (!fits) return false
  return words.length === wanted.length || isOpen || (prefix && !pattern.includes('*'))
}
