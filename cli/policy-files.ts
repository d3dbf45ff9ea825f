import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GuardrailPolicy } from '../src/guardrails/schema'
import { slugOf } from '../src/kernel/text'
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
export type Stored = GuardrailPolicy | Preference

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
  const { object, name, scope = 'personal', ...rest } = Object(value) as Record<string, unknown>
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

/** A stored policy in the form of a file. */
export function documentFrom(stored: Stored): PolicyDocument {
  const { object, name, scope } = stored
  const members = MEMBERS[object].map((member) => [member, (stored as Record<string, unknown>)[member]])
  return { object, name, scope, ...Object.fromEntries(members) }
}

/** The document as YAML, or as JSON (which YAML includes) if the YAML would not parse back to the same value. */
export function spelled(document: PolicyDocument): string {
  const yaml = Bun.YAML.stringify(document, null, 2) ?? ''
  const json = JSON.stringify(document, null, 2)
  try {
    const same = !yaml.includes('\n---') && Bun.deepEquals(Bun.YAML.parse(yaml), document)
    return `${(same ? yaml : json).trimEnd()}\n`
  } catch {
    return `${json}\n`
  }
}

/** Writes each document to its own file in a folder, creating the folder, and returns the paths. */
export function writePolicyFiles({ cwd }: Shell, folder: string, documents: readonly PolicyDocument[]): string[] {
  const path = fromHere(cwd, folder)
  mkdirSync(path, { recursive: true })
  const taken = new Set<string>()
  return documents.map((document) => {
    const slug = slugOf(document.name, 60) || 'unnamed'
    const stem = `${document.object === 'guardrail_policy' ? 'guardrails' : 'routing'}-${slug}`
    let name = `${stem}.yaml`
    for (let turn = 2; taken.has(name); turn++) name = `${stem}-${turn}.yaml`
    taken.add(name)
    writeFileSync(join(path, name), spelled(document))
    return join(folder, name)
  })
}

/** The body to send for a document, as the server would store it. Throws 400 like the server. */
export async function contentOf({ object, ...body }: PolicyDocument): Promise<Record<string, unknown>> {
  // Loaded here, because loading the checks takes longer than most commands run.
  return object === 'guardrail_policy'
    ? (await import('../src/guardrails/policy')).reviewPolicy(body)
    : (await import('../src/routing/rules')).reviewPreference(body)
}

/** Members of the content that differ from the stored policy. */
export const changesOf = (content: Record<string, unknown>, stored: Stored): string[] =>
  MEMBERS[stored.object].filter(
    (member) => !Bun.deepEquals(content[member], (stored as Record<string, unknown>)[member]),
  )

/** Members that a PATCH of the API would change. */
export async function changedBy(patch: object, stored: Stored): Promise<string[]> {
  const document = documentFrom(stored)
  const known = Object.entries(patch).filter(([member]) => member in document)
  const content = await contentOf({ ...document, ...Object.fromEntries(known) })
  return [...(content.name === stored.name ? [] : ['name']), ...changesOf(content, stored)]
}
