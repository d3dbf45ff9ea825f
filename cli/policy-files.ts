import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GuardrailPolicy } from '../src/guardrails/schema'
import type { Preference } from '../src/routing/schema'
import { usageFailure } from './failure'
import { readValueFile } from './preference-file'
import type { Shell } from './shell'
import { fromHere } from './transport'

const POLICY_KINDS = ['guardrail_policy', 'routing_preference'] as const
type PolicyKind = (typeof POLICY_KINDS)[number]

/** A policy or preference as written in a file, without what the server adds, such as the id. */
export type PolicyDocument = { object: PolicyKind; name: string; scope: 'personal' | 'team' } & Record<string, unknown>
export type FiledPolicy = { file: string; document: PolicyDocument }

const ENDINGS = /\.(ya?ml|jsonc?|toml)$/

/**
 * The documents of a folder, a file, or stdin (`-`). A YAML file may contain several documents, or a list of them.
 * @throws CommandFailed 2, naming the file
 */
export async function readPolicyFiles(shell: Shell, from: string): Promise<FiledPolicy[]> {
  const filed: FiledPolicy[] = []
  for (const file of filesIn(shell, from)) {
    const held = await readValueFile(shell, file)
    for (const one of Array.isArray(held) ? held : [held]) filed.push({ file, document: documentOf(one, file) })
  }
  return filed
}

function filesIn({ cwd }: Shell, from: string): string[] {
  if (from === '-') return ['-']
  const path = fromHere(cwd, from)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw usageFailure(`There is no file and no folder ${from}.`, 'write its path from the current folder')
  if (!found.isDirectory()) return [from]
  const names = readdirSync(path).filter((name) => ENDINGS.test(name))
  return names.sort().map((name) => join(from, name))
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
/** What only a server says of one; the answer of `get --json` is a file too. */
const GIVEN = new Set(['id', 'org_id', 'bound_key_count', 'created', 'updated', 'warnings', 'request_id'])

/** Key of kind, scope and name, by which a document is matched with a stored policy. */
export const keyOf = ({ object, scope, name }: Pick<PolicyDocument, 'object' | 'scope' | 'name'>): string =>
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

/** As YAML; or as JSON (which YAML includes) when the YAML would not parse back to the same value. */
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
