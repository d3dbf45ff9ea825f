import type { GuardrailPolicy } from '../src/guardrails/schema'
import type { Preference } from '../src/routing-preferences/schema'
import { documentFrom, type FiledPolicy, keyOf, type PolicyDocument } from './policy-files'

export type Stored = GuardrailPolicy | Preference
export type Step =
  | { action: 'create'; document: PolicyDocument; file: string }
  | { action: 'update'; document: PolicyDocument; file: string; stored: Stored; fields: string[] }
  | { action: 'delete'; stored: Stored }
  | { action: 'keep'; document: PolicyDocument; file: string; stored: Stored }

/**
 * What has to happen for what is stored to equal the files. What no file has is left, unless it is to be pruned.
 * Pure.
 */
export function planOf(filed: readonly FiledPolicy[], stored: readonly Stored[], prune: boolean): Step[] {
  const known = new Map(stored.map((one) => [keyOf(one), one]))
  const wanted = new Set(filed.map(({ document }) => keyOf(document)))
  const steps = filed.map(({ document, file }): Step => {
    const found = known.get(keyOf(document))
    if (!found) return { action: 'create', document, file }
    const fields = changedIn(document, documentFrom(found))
    return fields.length
      ? { action: 'update', document, file, stored: found, fields }
      : { action: 'keep', document, file, stored: found }
  })
  const gone = prune ? stored.filter((one) => !wanted.has(keyOf(one))) : []
  return [...gone.map((one): Step => ({ action: 'delete', stored: one })), ...steps]
}

/** What a file leaves out is empty: the file is the whole of it. */
const EMPTY: Record<string, unknown> = {
  ...{ description: null, is_default: false, rules: [], examples: [], confidence_floor_overrides: {} },
}

/** The whole of a policy as it is sent, whatever its file leaves out. */
export function wholeOf({ object, ...document }: PolicyDocument): Record<string, unknown> {
  const { examples, confidence_floor_overrides, ...both } = EMPTY
  return { ...both, ...(object === 'routing_preference' ? { examples, confidence_floor_overrides } : {}), ...document }
}

function changedIn(wanted: PolicyDocument, found: PolicyDocument): string[] {
  const [whole, known] = [wholeOf(wanted), wholeOf(found)]
  return [...new Set([...Object.keys(whole), ...Object.keys(known)])].filter(
    (field) => plain(whole[field]) !== plain(known[field]),
  )
}

const LOWEST = 0.5
const HIGHEST = 0.99
const DEFAULT_CONFIDENCE = 0.9

/**
 * As the server would have stored it: nothing that is null or empty, confidences clamped (contract 13), names in
 * order.
 */
function plain(value: unknown): string {
  return JSON.stringify(stripped(value)) ?? 'null'
}

function stripped(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => stripped(one, name))
  if (typeof value === 'number' && (name === 'confidence' || name === 'confidence_floor_overrides')) return clamp(value)
  if (typeof value !== 'object' || value === null) return value
  const rule = 'pattern' in value && 'target_mode' in value ? { confidence: DEFAULT_CONFIDENCE, ...value } : value
  const members = Object.entries(rule)
    .filter(([, one]) => one !== null && one !== undefined && !isEmpty(one))
    .map(([key, one]) => [key, stripped(one, name === 'confidence_floor_overrides' ? name : key)] as const)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const clamp = (value: number): number => Math.min(HIGHEST, Math.max(LOWEST, value))

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
