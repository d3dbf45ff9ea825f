import { findEngine } from '../../engines'
import { randomHex, sha256Hex } from '../../kernel/crypto'
import { AppError } from '../../kernel/errors'
import { inert } from '../../kernel/fence'
import type { Tool } from '../../tools'
import type { SkillManifest } from '../manifest'
import type { SkillId } from '../schema'
import type { InstallationRow, SkillRow, VersionRow } from '../table'
import { type Keywords, readKeywords } from './keywords'
import { createKnowledge, type Knowledge } from './knowledge'

/** A version of a skill, read once and ready to take part in runs. */
export type Loaded = {
  id: SkillId
  slug: string
  name: string
  version: string
  /** Of the manifest as a whole: a draft changes and keeps its version. */
  fingerprint: string
  /** Length of the manifest as JSON, which is about what it takes to keep. */
  chars: number
  /** Its prompt between two lines that it cannot write itself. */
  prompt: string
  tools: readonly Tool[]
  modelPreference: string | null
  /** Of a keyword trigger: what must occur in the prompt. Null: no keyword is needed. */
  keywords: Keywords | null
  /** Waits for an event or a time, so that it takes part only when it is named. */
  waits: boolean
  knowledge: Knowledge | null
}

type Deps = { toolsOf(skillId: string, tools: SkillManifest['tools']): Tool[] }

/** Reads a stored version for running. What this server no longer allows of its tools is left out. */
export function loadVersion(
  { toolsOf }: Deps,
  { id, slug }: Pick<SkillRow, 'id' | 'slug'>,
  { manifest, version }: Pick<VersionRow, 'manifest' | 'version'>,
): Loaded {
  const { name, trigger } = manifest
  const written = JSON.stringify(manifest)
  return {
    id,
    slug,
    name,
    version,
    modelPreference: writerOf(manifest),
    fingerprint: sha256Hex(written),
    chars: written.length,
    prompt: fenced(slug, manifest.systemPromptExtension),
    tools: allowedTools(manifest).flatMap((tool) => readTool(() => toolsOf(id, [tool]))),
    keywords: trigger.type === 'keyword' ? readKeywords(trigger.config?.keywords ?? []) : null,
    waits: trigger.type === 'event' || trigger.type === 'schedule',
    knowledge: createKnowledge(manifest),
  }
}

/** An engine that is gone or writes no text is no preference: a skill must not break what it takes part in. */
function writerOf({ modelPreference }: SkillManifest): string | null {
  const engine = modelPreference ? findEngine(modelPreference) : null
  return engine?.kind === 'text' ? engine.id : null
}

/** Without execute:tools none, unless nothing is declared at all (contract 8.1); without external:http none that calls out. */
const allowedTools = ({ permissions, tools }: SkillManifest): SkillManifest['tools'] => {
  if (permissions.length === 0) return tools
  if (!permissions.includes('execute:tools')) return []
  return permissions.includes('external:http') ? tools : tools.filter(({ endpoint }) => !endpoint)
}

function readTool(read: () => Tool[]): Tool[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}

/** One skill speaks between its lines and cannot close them, so it cannot speak for another or for the server. */
function fenced(slug: string, prompt: string): string {
  const mark = randomHex(6)
  return `[skill ${mark} ${slug}]\n${inert(prompt)}\n[end of skill ${mark}]`
}

/** What an owner set of an installation, said to the engine; what looks like a secret is not. */
export function settingsOf({ config, intensity }: InstallationRow): string {
  const said = Object.entries(config).filter(([name, value]) => !SECRET.test(name) && isPlain(value))
  return [
    intensity < 1 ? `Use it with an intensity of ${Math.round(intensity * 100)} %.` : '',
    said.length ? `Its settings: ${inert(JSON.stringify(Object.fromEntries(said))).slice(0, 2_000)}` : '',
  ]
    .filter(Boolean)
    .join(' ')
}

const SECRET = /secret|token|passw|key|credential/i
const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)
