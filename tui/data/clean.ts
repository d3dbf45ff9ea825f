import { clean } from '../../src/kernel/text'

const MAX_CHARS = 20_000

/** Everything that comes from outside passes here, so that no view can forget it (dx 3.8). */
export function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return clean(value.length > MAX_CHARS ? value.slice(0, MAX_CHARS) : value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [clean(name), cleaned(one)]))
}
