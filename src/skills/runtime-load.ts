import { findEngine } from '../engines'
import { randomHex, sha256Hex } from '../kernel/crypto'
import { AppError } from '../kernel/errors'
import { inert } from '../kernel/fence'
import type { Tool } from '../tools'
import type { SkillManifest } from './manifest'
import { type Keywords, readKeywords } from './runtime-keywords'
import { createKnowledge, type Knowledge } from './runtime-knowledge'
import type { SkillId } from './schema'
import type { InstallationRow, SkillRow, VersionRow } from './table'

/** A loaded version of a skill, ready for runs. */
export type Loaded = {
  id: SkillId
  slug: string
  name: string
  version: string
  /** Hash of the whole manifest, because a draft can change without a new version number. */
  fingerprint: string
  /** Length of the manifest as JSON, used as its size in the cache. */
  chars: number
  /** Its prompt between two marker lines that the prompt cannot imitate. */
  prompt: string
  tools: readonly Tool[]
  modelPreference: string | null
  /** It asked for `external:http`, and so for a browser of its runs (contract 16.4). */
  mayBrowse: boolean
  /** Keywords of a keyword trigger, one of which must occur in the prompt. Null for other triggers. */
  keywords: Keywords | null
  /** Whether its trigger is an event or schedule; such a skill takes part only when named. */
  waits: boolean
  knowledge: Knowledge | null
}

type Deps = { toolsOf(skillId: string, tools: SkillManifest['tools']): Tool[] }

/** Loads a stored version. Tools that this server no longer allows are left out. */
export function loadVersion(
  { toolsOf }: Deps,
  { id, slug }: Pick<SkillRow, 'id' | 'slug'>,
  { manifest, version }: Pick<VersionRow, 'manifest' | 'version'>,
): Loaded {
  const { name, trigger } = manifest
  const written = JSON.stringify(manifest)
  // The preferred engine, if it still exists and writes text, so that an outdated preference cannot break a run.
  const engine = manifest.modelPreference ? findEngine(manifest.modelPreference) : null
  // Encloses a prompt in lines with a random mark, so it cannot end early and speak for another skill or the server.
  const mark = randomHex(6)
  return {
    id,
    slug,
    name,
    version,
    modelPreference: engine?.kind === 'text' ? engine.id : null,
    mayBrowse: manifest.permissions.includes('external:http'),
    fingerprint: sha256Hex(written),
    chars: written.length,
    prompt: `[skill ${mark} ${slug}]\n${inert(manifest.systemPromptExtension)}\n[end of skill ${mark}]`,
    tools: allowedTools(manifest).flatMap((tool) => readTool(() => toolsOf(id, [tool]))),
    keywords: trigger.type === 'keyword' ? readKeywords(trigger.config?.keywords ?? []) : null,
    waits: trigger.type === 'event' || trigger.type === 'schedule',
    knowledge: createKnowledge(manifest),
  }
}

/**
 * The tools the permissions allow (contract 8.1): all when none are declared, none without `execute:tools`, and only
 * those without endpoint without `external:http`.
 */
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

/** An installation's settings as text for the engine; values that look like secrets are left out. */
export function settingsOf({ config, intensity }: InstallationRow): string {
  const messages = Object.entries(config).filter(
    ([name, value]) => !SECRET.test(name) && ['string', 'number', 'boolean'].includes(typeof value),
  )
  return [
    intensity < 1 ? `Use it with an intensity of ${Math.round(intensity * 100)} %.` : '',
    messages.length ? `Its settings: ${inert(JSON.stringify(Object.fromEntries(messages))).slice(0, 2_000)}` : '',
  ]
    .filter(Boolean)
    .join(' ')
}

const SECRET = /secret|token|passw|key|credential/i
