import type { InputSummary } from './schema'

/** What tells a secret: by the name of its member, or by the text itself. Both are the guardrails'. */
export type SecretCheck = {
  isSecretName(name: string, value: unknown): boolean
  holdsSecret(text: string): boolean
}

const REDACTED = '[redacted]'
/** Members that name what stands beside them, as in `{ name: 'Authorization', value: '…' }`. */
const LABELS = ['name', 'key', 'header', 'field']

/** The summary with every secret in its `metadata`, at any depth, replaced by `[redacted]` (contract 19). */
export function redactedMetadata(input: InputSummary | undefined, check: SecretCheck): InputSummary | undefined {
  return input?.metadata ? { ...input, metadata: redactedMembers(input.metadata, check) } : input
}

function redacted(value: unknown, check: SecretCheck): unknown {
  if (typeof value === 'string') return check.holdsSecret(value) ? REDACTED : value
  if (Array.isArray(value)) return value.map((item) => redacted(item, check))
  if (typeof value !== 'object' || value === null) return value
  return redactedMembers(value as Record<string, unknown>, check)
}

function redactedMembers(members: Readonly<Record<string, unknown>>, check: SecretCheck): Record<string, unknown> {
  const label = LABELS.map((name) => members[name]).find((said) => typeof said === 'string')
  const hidden = Object.entries(members).map(([name, value]) => {
    const called = name === 'value' && typeof label === 'string' ? label : name
    return [check.holdsSecret(name) ? REDACTED : name, hiddenMember(called, value, check)] as const
  })
  return Object.fromEntries(hidden)
}

function hiddenMember(name: string, value: unknown, check: SecretCheck): unknown {
  if (saysSomething(value) && check.isSecretName(name, value)) return REDACTED
  // With its name before it, since some values are told only by both together.
  if (typeof value === 'string') return check.holdsSecret(`${name}: ${value}`) ? REDACTED : value
  return redacted(value, check)
}

/** Null, a yes or a no and an empty text or list give nothing away, and whether they were sent may matter. */
const saysSomething = (value: unknown): boolean =>
  typeof value === 'string'
    ? value !== ''
    : typeof value === 'number' || (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
