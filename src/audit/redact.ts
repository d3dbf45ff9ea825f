import { holdsCard, holdsSecret, isSecretName } from '../text'
import type { InputSummary } from './schema'

const REDACTED = '[redacted]'
/** Members that name what stands beside them, as in `{ name: 'Authorization', value: '…' }`. */
const LABELS = ['name', 'key', 'header', 'field']

/** The summary with every secret and card number in its `metadata`, at any depth, replaced (contract 19). */
export function redactedMetadata(input: InputSummary | undefined): InputSummary | undefined {
  return input?.metadata ? { ...input, metadata: redactedMembers(input.metadata) } : input
}

/** The value with `[redacted]` for each text or number in it that is a secret or a card number. */
export function redacted(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'number') return mustHide(`${value}`) ? REDACTED : value
  if (Array.isArray(value)) return value.map((item) => redacted(item))
  if (typeof value !== 'object' || value === null) return value
  return redactedMembers(value as Record<string, unknown>)
}

function redactedMembers(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const label = LABELS.map((name) => members[name]).find((said) => typeof said === 'string')
  const hidden = Object.entries(members).map(([name, value]) => {
    const called = name === 'value' && typeof label === 'string' ? label : name
    return [mustHide(name) ? REDACTED : name, hiddenMember(called, value)] as const
  })
  return Object.fromEntries(hidden)
}

function hiddenMember(name: string, value: unknown): unknown {
  if (saysSomething(value) && isSecretName(name, value)) return REDACTED
  // With its name before it, since some values are told only by both together.
  if (typeof value === 'string') return mustHide(`${name}: ${value}`) ? REDACTED : value
  return redacted(value)
}

const mustHide = (text: string): boolean => holdsSecret(text) || holdsCard(text)

/** Null, a yes or a no and an empty text or list give nothing away, and whether they were sent may matter. */
const saysSomething = (value: unknown): boolean =>
  typeof value === 'string'
    ? value !== ''
    : typeof value === 'number' || (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
