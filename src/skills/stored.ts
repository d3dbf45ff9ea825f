import { shorten } from '../kernel/text'
import { Manifest, ManifestTool, REQUIRED } from './manifest'

/** What this server keeps of a manifest, and the paths of what it does not, such as `tools[0].command`. */
export type Stored = { kept: Record<string, unknown>; dropped: string[] }

/** Accepted aliases of members (contract 8.1). */
const ALIASES: Readonly<Record<string, string>> = { enginePreference: 'modelPreference' }

/**
 * Keeps the members that a manifest has, at every depth, and renames aliases: what nobody checks is neither stored nor
 * shown. Null in an optional member counts as absent. Knowledge paths lose a leading `./`. Checks no values.
 */
export function storedMembers(written: Readonly<Record<string, unknown>>): Stored {
  const named = new Map(Object.entries(written))
  for (const [alias, name] of Object.entries(ALIASES)) {
    if (!named.has(alias) || named.has(name)) continue
    named.set(name, named.get(alias))
    named.delete(alias)
  }
  for (const [name, value] of named) if (value === null && !REQUIRED.has(name)) named.delete(name)
  const dropped: string[] = []
  const stored = pruned(Manifest as unknown as Shape, Object.fromEntries(named), '', dropped) as Record<string, unknown>
  // Sorted, because Postgres keeps the members of a drawing in an order of its own.
  return { kept: withPlainPaths(stored), dropped: dropped.sort() }
}

/** A tool without the members that a manifest's tool has not, such as `command` and `env`. */
export const storedTool = <T extends object>(tool: T): T => pruned(ManifestTool as unknown as Shape, tool, '', []) as T

/** The part of a schema that tells which members a value may have. */
type Shape = { properties?: Record<string, Shape>; items?: Shape }

/** The value without members that its schema does not name. A schema that names none lets everything pass. */
function pruned({ properties, items }: Shape, value: unknown, path: string, dropped: string[]): unknown {
  if (Array.isArray(value) && items) return value.map((item, at) => pruned(items, item, `${path}[${at}]`, dropped))
  if (!properties || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const stored: [string, unknown][] = []
  for (const [name, member] of Object.entries(value)) {
    const at = path ? `${path}.${name}` : name
    if (Object.hasOwn(properties, name)) stored.push([name, pruned(properties[name]!, member, at, dropped)])
    else dropped.push(at)
  }
  return Object.fromEntries(stored)
}

function withPlainPaths({ knowledge, knowledgeFiles, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const isMap = typeof knowledgeFiles === 'object' && knowledgeFiles !== null && !Array.isArray(knowledgeFiles)
  return {
    ...rest,
    ...(knowledge === undefined
      ? {}
      : { knowledge: Array.isArray(knowledge) ? [...new Set(knowledge.map(plainPath))] : knowledge }),
    ...(knowledgeFiles === undefined
      ? {}
      : { knowledgeFiles: isMap ? withPlainNames(knowledgeFiles) : knowledgeFiles }),
  }
}
/** A file that comes twice keeps its path, under which the review finds it unnamed: none silently replaces another. */
function withPlainNames(files: object): object {
  const plain = new Map<unknown, unknown>()
  for (const [path, text] of Object.entries(files)) plain.set(plain.has(plainPath(path)) ? path : plainPath(path), text)
  return Object.fromEntries(plain as Map<string, unknown>)
}
/** The bundle is where every path begins, so `./guide.md` is `guide.md`. */
const plainPath = (path: unknown): unknown => (typeof path === 'string' ? path.replace(/^(?:\.\/)+/, '') : path)

const SHOWN = 20
const MAX_PATH_CHARS = 80

/** A warning that names what was dropped; none when nothing was. `called` is what the caller calls the tools. */
export function warningsOf(dropped: readonly string[], called = 'tools'): string[] {
  if (!dropped.length) return []
  const shown = dropped.slice(0, SHOWN).map((path) => shorten(path.replace(/^tools(?=\[)/, called), MAX_PATH_CHARS))
  const more = dropped.length > SHOWN ? ` and ${dropped.length - SHOWN} more` : ''
  return [`Left out, because a manifest has no such member: ${shown.join(', ')}${more}.`]
}
