import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GuardrailPolicy } from '../src/guardrails/schema'
import type { Preference } from '../src/routing/schema'
import { usageFailure } from './failure'
import { readValueFile, valueFilesIn } from './files'
import type { Shell } from './shell'
import { fromHere } from './transport'

const POLICY_KINDS = ['guardrail_policy', 'routing_preference'] as const
type PolicyKind = (typeof POLICY_KINDS)[number]

/** A policy or preference as written in a file, without members that the server adds, such as the id. */
export type PolicyDocument = { object: PolicyKind; name: string; scope: 'personal' | 'team' } & Record<string, unknown>
export type FiledPolicy = { file: string; document: PolicyDocument }

/**
 * The documents of a folder, a file, or stdin (`-`). A YAML file may contain several documents, or a list of them.
 * @throws CommandFailed 2, naming the file
 */
export async function readPolicyFiles(shell: Shell, from: string): Promise<FiledPolicy[]> {
  const filed: FiledPolicy[] = []
  for (const file of valueFilesIn(shell, from)) {
    const held = await readValueFile(shell, file)
    for (const one of Array.isArray(held) ? held : [held]) filed.push({ file, document: documentOf(one, file) })
  }
  return filed
}

function documentOf(value: unknown, file: string): PolicyDocument {
  const { object, name, scope = 'personal', ...rest } = isObject(value) ? value : {}
  const isKnown = POLICY_KINDS.includes(object as PolicyKind) && (scope === 'personal' || scope === 'team')
  if (!isKnown || typeof name !== 'string' || !name) {
    throw usageFailure(
      `${file} contains something that is not a policy. Each needs an "object" (${POLICY_KINDS.join(' or ')}), a "name", and a "scope" of personal or team.`,
      'svc-admin policies export shows the format',
    )
  }
  const own = Object.entries(rest).filter(([member]) => !GIVEN.has(member))
  const unknown = own.find(([member]) => !MEMBERS[object as PolicyKind].includes(member))
  if (unknown) {
    throw usageFailure(
      `${file}: "${name}" has "${unknown[0]}", which is not a member of ${object}. It has name, scope, ${MEMBERS[object as PolicyKind].join(', ')}.`,
    )
  }
  return { object: object as PolicyKind, name, scope, ...Object.fromEntries(own) }
}

const SHARED = ['description', 'is_default', 'rules']
const MEMBERS: Record<PolicyKind, readonly string[]> = {
  guardrail_policy: SHARED,
  routing_preference: [...SHARED, 'examples', 'confidence_floor_overrides'],
}
/** Members that only the server sets. They are ignored, because the output of `get --json` is also a valid file. */
const GIVEN = new Set(['id', 'org_id', 'bound_key_count', 'created', 'updated', 'warnings', 'request_id'])

/** Key of kind, scope and name. Matches a document with a stored policy. */
const keyOf = ({ object, scope, name }: Pick<PolicyDocument, 'object' | 'scope' | 'name'>): string =>
  JSON.stringify([object, scope, name])

/** A stored policy in the form of a file. */
export function documentFrom(stored: GuardrailPolicy | Preference): PolicyDocument {
  const { object, name, scope, description, is_default, rules } = stored
  const own =
    stored.object === 'routing_preference'
      ? { examples: stored.examples, confidence_floor_overrides: stored.confidence_floor_overrides }
      : {}
  return { object, name, scope, description, is_default, rules, ...own }
}

/** The document as YAML, or as JSON (which YAML includes) if the YAML would not parse back to the same value. */
export function spelled(document: PolicyDocument): string {
  const yaml = Bun.YAML.stringify(document, null, 2) ?? ''
  const same = yaml.includes('\n---') ? false : Bun.deepEquals(parsed(yaml), document)
  return `${(same ? yaml : JSON.stringify(document, null, 2)).trimEnd()}\n`
}

function parsed(yaml: string): unknown {
  try {
    return Bun.YAML.parse(yaml)
  } catch {
    return null
  }
}

/** Writes each document to its own file in a folder, creating the folder, and returns the paths. */
export function writePolicyFiles({ cwd }: Shell, folder: string, documents: readonly PolicyDocument[]): string[] {
  const path = fromHere(cwd, folder)
  mkdirSync(path, { recursive: true })
  const taken = new Set<string>()
  return documents.map((document) => {
    const stem = `${document.object === 'guardrail_policy' ? 'guardrails' : 'routing'}-${slugOf(document.name)}`
    let name = `${stem}.yaml`
    for (let turn = 2; taken.has(name); turn++) name = `${stem}-${turn}.yaml`
    taken.add(name)
    writeFileSync(join(path, name), spelled(document))
    return join(folder, name)
  })
}

const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60) || 'unnamed'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export type Stored = GuardrailPolicy | Preference
export type Step =
  | { action: 'create'; document: PolicyDocument; file: string }
  /** Without a file: a policy without a file stops being the default, so that one with a file can take over. */
  | { action: 'update'; document: PolicyDocument; file: string | null; stored: Stored; fields: string[] }
  | { action: 'delete'; stored: Stored }
  | { action: 'keep'; document: PolicyDocument; file: string; stored: Stored }

/**
 * The steps that make the stored policies equal to the files, in order. Stored policies without a file only lose the
 * default when a file takes it over. With `prune` they are deleted at the end. Among several of one name, identical
 * copies are kept and the others are matched in order.
 */
export function planOf(filed: readonly FiledPolicy[], stored: readonly Stored[], prune: boolean): Step[] {
  const left = Map.groupBy(stored, keyOf)
  assertApart(filed, left)
  const unchanged = new Map(filed.map((one) => [one, take(left, one, (found) => !changes(one, found).length)]))
  const steps = filed.map((one): Step => {
    const same = unchanged.get(one)
    if (same) return { action: 'keep', ...one, stored: same }
    const stored = take(left, one, () => true)
    if (!stored) return { action: 'create', ...one }
    return { action: 'update', ...one, stored, fields: changes(one, stored) }
  })
  const unfiled = [...left.values()].flat()
  const gone = prune ? unfiled.map((stored): Step => ({ action: 'delete', stored })) : []
  return [...inOrder(steps, unfiled), ...gone]
}

/** Each scope has one default, so the old default is unset right before another takes its place. */
function inOrder(steps: readonly Step[], unfiled: readonly Stored[]): Step[] {
  const takers = new Set(
    steps.filter(
      (step) =>
        'document' in step &&
        step.action !== 'keep' &&
        step.document.is_default === true &&
        !('stored' in step && step.stored.is_default),
    ),
  )
  const leavers: Step[] = [
    ...steps.filter((step) => step.action === 'update' && step.stored.is_default && !step.document.is_default),
    ...unfiled.filter((stored) => stored.is_default).map(released),
  ]
  const pairs = new Map(
    [...takers].map((taker) => [
      taker,
      leavers.find((one) => {
        const [a, b] = [wordsOf(one), wordsOf(taker)]
        return a.object === b.object && a.scope === b.scope
      }),
    ]),
  )
  const early = new Set(pairs.values())
  return steps.filter((step) => !early.has(step)).flatMap((step) => [pairs.get(step) ?? [], step].flat())
}

function released(stored: Stored): Step {
  const document = { ...documentFrom(stored), is_default: false }
  return { action: 'update', document, file: null, stored, fields: ['is_default'] }
}

/** Identifies the policy of a step, as stored or as it will be. */
export const wordsOf = (step: Step): Pick<PolicyDocument, 'object' | 'scope' | 'name'> =>
  step.action === 'delete' ? step.stored : step.document

type Left = Map<string, Stored[]>

/** Takes the first unmatched stored policy that has the document's key and that `fits`. */
function take(left: Left, { document }: FiledPolicy, fits: (found: Stored) => boolean): Stored | undefined {
  const candidates = left.get(keyOf(document)) ?? []
  const place = candidates.findIndex(fits)
  return place < 0 ? undefined : candidates.splice(place, 1)[0]
}

const changes = ({ document }: FiledPolicy, found: Stored): string[] => {
  const [whole, known] = [wholeOf(document), wholeOf(documentFrom(found))]
  return [...new Set([...Object.keys(whole), ...Object.keys(known)])].filter(
    (field) => plain(whole[field]) !== plain(known[field]),
  )
}

/**
 * Names are not unique, so as many files of a name are allowed as are stored. More are probably a forgotten copy.
 * @throws CommandFailed 2
 */
function assertApart(filed: readonly FiledPolicy[], stored: ReadonlyMap<string, readonly Stored[]>): void {
  for (const [key, copies] of Map.groupBy(filed, ({ document }) => keyOf(document))) {
    if (copies.length < 2 || copies.length <= (stored.get(key)?.length ?? 0)) continue
    const { object, name } = copies[0]!.document
    const files = copies.map(({ file }) => file).join(' and in ')
    throw usageFailure(`${object} "${name}" is in ${files}. Leave one out, or give it another name.`)
  }
}

/** Values of members that a file omits, because a file describes the whole policy. */
const EMPTY: Record<string, unknown> = {
  description: null,
  is_default: false,
  rules: [],
  examples: [],
  confidence_floor_overrides: {},
}

/** The complete body to send, with defaults for members that the file omits. */
export function wholeOf({ object, ...document }: PolicyDocument): Record<string, unknown> {
  const { examples, confidence_floor_overrides, ...both } = EMPTY
  return { ...both, ...(object === 'routing_preference' ? { examples, confidence_floor_overrides } : {}), ...document }
}

/** Members that a PATCH of the API would change. Members that PATCH does not accept count as unchanged. */
export function changedBy(patch: object, stored: object): string[] {
  const members = new Set(['name', ...Object.keys(EMPTY)])
  const [wanted, known] = [patch, stored] as Record<string, unknown>[]
  return Object.keys(patch).filter(
    (field) =>
      // Floors are clamped under their own name, so a member is compared with its name.
      members.has(field) && field in stored && plain(wanted![field], field) !== plain(known![field], field),
  )
}

const LOWEST = 0.5
const HIGHEST = 0.99
const DEFAULT_CONFIDENCE = 0.9

/**
 * The value as the server would store it, for comparison: without null and empty members, confidences clamped
 * (docs/api.md 13), names sorted.
 */
const plain = (value: unknown, name?: string): string => JSON.stringify(stripped(value, name)) ?? 'null'

function stripped(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => stripped(one, name))
  if (typeof value === 'number' && (name === 'confidence' || name === 'confidence_floor_overrides'))
    return Math.min(HIGHEST, Math.max(LOWEST, value))
  if (typeof value !== 'object' || value === null) return value
  const rule = 'pattern' in value && 'target_mode' in value ? { confidence: DEFAULT_CONFIDENCE, ...value } : value
  const members = Object.entries(rule)
    .filter(([, one]) => one !== null && one !== undefined && !isEmpty(one))
    .map(([key, one]) => [key, stripped(one, name === 'confidence_floor_overrides' ? name : key)] as const)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
