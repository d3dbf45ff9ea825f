/**
 * A copy in which the members of these names are empty, at any depth: a text is `''`, a list `[]`, an object `{}`,
 * anything else null. So the shape of an answer stays the same.
 */
export function redact(value: unknown, names: readonly string[]): unknown {
  const hidden = new Set(names)
  return without(value)

  function without(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(without)
    if (typeof part !== 'object' || part === null) return part
    const members = Object.entries(part).map(([name, member]) => [
      name,
      hidden.has(name) ? empty(member) : without(member),
    ])
    return Object.fromEntries(members)
  }
}

function empty(value: unknown): unknown {
  if (typeof value === 'string') return ''
  if (Array.isArray(value)) return []
  return typeof value === 'object' && value !== null ? {} : null
}
