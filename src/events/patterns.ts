/** What an event is looked up by: the first word of a pattern, `*` included. */
export const headOf = (pattern: string): string => {
  const dot = pattern.indexOf('.')
  return dot < 0 ? pattern : pattern.slice(0, dot)
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
