import { form } from '../kernel/form'
import { JsonObject, namedObject, nullable, oneOf, type Static, t } from '../kernel/schema'
import { shorten } from '../kernel/text'
import { ToolEndpoint } from '../tools/schema'

export const SKILL_CATEGORIES = ['productivity', 'domain', 'integration', 'automation', 'creative'] as const
export type SkillCategory = (typeof SKILL_CATEGORIES)[number]

const SKILL_PERMISSIONS = [
  'read:conversations',
  'read:artifacts',
  'write:artifacts',
  'write:notes',
  'external:http',
  'execute:tools',
  'autonomous:run',
] as const

const TRIGGER_TYPES = ['manual', 'keyword', 'event', 'schedule'] as const

const SLUG_PATTERN = form(
  '^[a-z0-9][a-z0-9-]*[a-z0-9]$',
  'lower-case letters, digits and hyphens, beginning and ending with a letter or digit, such as email-drafter',
)
const NUMBER = '(0|[1-9]\\d{0,8})'
/** A pre-release identifier: a number without leading zeros, or a word. */
const PRE = '(0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)'
/** Semver 2.0 with pre-release and build parts. */
const VERSION_PATTERN = form(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(-${PRE}(\\.${PRE})*)?(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$`,
  'a semantic version such as 1.0.0 or 2.1.0-beta.1',
)
/** One non-blank line without control characters and without characters that change the text direction. */
const SHOWN = form(
  '^(?=.*\\S)[^\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069]*$',
  'one line of visible text, without control characters',
)
const HTTP_URL = form('^https?://[^\\s<>"]+$', 'an http or https address')
const EMAIL = form('^[^\\s@<>"]+@[^\\s@<>"]+$', 'an e-mail address')
const SPDX = form(
  '^[A-Za-z0-9][A-Za-z0-9.+-]*( (AND|OR|WITH) [A-Za-z0-9][A-Za-z0-9.+-]*)*$',
  'an SPDX identifier such as MIT or Apache-2.0',
)

/**
 * Path of a bundled file: relative, without drive letters and `..`. It may begin with `./`. Also excluded are control
 * characters, characters that change the text direction, and the brackets that enclose a quoted file's path.
 */
const FILE_PATH = form(
  '^(?:\\./)*(?!/)(?![A-Za-z]:)(?!.*(?<![^/])\\.{1,2}(/|$))[^\\\\\\[\\]\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]{1,256}$',
  'a relative path inside the bundle, without "..", such as knowledge/faq.md',
)

export const MANIFEST_LIMITS = {
  promptChars: 20_000,
  readmeChars: 50_000,
  changelogChars: 20_000,
  tools: 20,
  keywords: 10,
  knowledgeFiles: 50,
  knowledgeChars: 500_000,
} as const

const Author = t.Object({
  name: t.String({ minLength: 1, maxLength: 128, pattern: SHOWN }),
  email: t.Optional(t.String({ pattern: EMAIL, maxLength: 254 })),
  url: t.Optional(t.String({ pattern: HTTP_URL, maxLength: 2_048 })),
})

/** Members required of every skill, submitted as a manifest or created by form. */
export const SKILL_FIELDS = {
  name: t.String({ minLength: 1, maxLength: 128, pattern: SHOWN }),
  slug: t.String({ pattern: SLUG_PATTERN, minLength: 2, maxLength: 64 }),
  description: t.String({ maxLength: 500 }),
  category: oneOf(SKILL_CATEGORIES),
} as const

export const ManifestTool = t.Object({
  name: t.String({ pattern: form('^[a-z0-9_]+$', 'lower-case letters, digits and underscores'), maxLength: 64 }),
  description: t.String({ maxLength: 4_096 }),
  inputSchema: t.Optional(JsonObject),
  outputSchema: t.Optional(JsonObject),
  permissionLevel: t.Optional(oneOf(['user', 'org_member', 'org_admin', 'system'] as const)),
  requiresApproval: t.Optional(t.Boolean()),
  endpoint: t.Optional(ToolEndpoint),
})
export type ManifestTool = Static<typeof ManifestTool>

export const Words = t.String({ minLength: 1, maxLength: 128, pattern: SHOWN })

/** States when a skill takes part in runs, and when it runs by itself. */
const TRIGGER_MEANING =
  'Once installed, a "manual" skill takes part in every run and a "keyword" skill in runs whose prompt contains one of its keywords. "event" and "schedule" run the skill alone, for the account that installed it, within daily limits; otherwise it takes part only when a request names it.'

const Trigger = t.Object({
  type: oneOf(TRIGGER_TYPES, { description: TRIGGER_MEANING }),
  config: t.Optional(
    t.Object({
      keywords: t.Optional(t.Array(Words, { minItems: 1, maxItems: 50 })),
      eventPattern: t.Optional(Words),
      cron: t.Optional(Words),
      timezone: t.Optional(t.String({ maxLength: 64 })),
    }),
  ),
})

const HOOK_MEANING =
  'Prompt to run once, with this skill alone, when the skill is installed (onUninstall: when it is uninstalled). At most 50 runs and 500 cents a day per owner, 10 tool calls and 50 cents per run'

/** A skill as its author writes it (docs/api.md 8.1). Unknown members are dropped at every depth. */
export const Manifest = namedObject('SkillManifest', {
  ...SKILL_FIELDS,
  version: t.String({ pattern: VERSION_PATTERN, maxLength: 64 }),
  author: Author,
  systemPromptExtension: t.String({ maxLength: MANIFEST_LIMITS.promptChars }),
  tools: t.Optional(t.Array(ManifestTool, { maxItems: MANIFEST_LIMITS.tools })),
  permissions: t.Optional(t.Array(oneOf(SKILL_PERMISSIONS), { maxItems: SKILL_PERMISSIONS.length })),
  knowledge: t.Optional(t.Array(t.String({ pattern: FILE_PATH }), { maxItems: MANIFEST_LIMITS.knowledgeFiles })),
  /** Text of each knowledge file by path, because a manifest is sent without further files. */
  knowledgeFiles: t.Optional(
    t.Record(t.String(), t.String({ maxLength: 100_000 }), { maxProperties: MANIFEST_LIMITS.knowledgeFiles }),
  ),
  modelPreference: t.Optional(nullable(t.String({ minLength: 1, maxLength: 64 }))),
  trigger: t.Optional(Trigger),
  hooks: t.Optional(
    t.Object({
      onInstall: t.Optional(t.String({ maxLength: 4_000, description: HOOK_MEANING })),
      onUninstall: t.Optional(t.String({ maxLength: 4_000 })),
    }),
  ),
  readme: t.Optional(t.String({ maxLength: MANIFEST_LIMITS.readmeChars })),
  changelog: t.Optional(t.String({ maxLength: MANIFEST_LIMITS.changelogChars })),
  license: t.Optional(t.String({ pattern: SPDX, maxLength: 64 })),
  repository: t.Optional(t.String({ pattern: HTTP_URL, maxLength: 2_048 })),
  keywords: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 64 }), { maxItems: MANIFEST_LIMITS.keywords })),
  configSchema: t.Optional(nullable(JsonObject)),
  setupGuide: t.Optional(nullable(t.String({ maxLength: MANIFEST_LIMITS.readmeChars }))),
})
export type WrittenManifest = Static<typeof Manifest>
/** Names of the members that every manifest has. */
const REQUIRED: ReadonlySet<string> = new Set(Manifest.required)

type Defaulted = 'tools' | 'permissions' | 'knowledge' | 'knowledgeFiles' | 'keywords' | 'license' | 'trigger'
/** The manifest with its defaults, as stored and run. */
export type SkillManifest = WrittenManifest & Required<Pick<WrittenManifest, Defaulted>>

/** Fills in the defaults of docs/api.md 8.1. */
export const withDefaults = (manifest: WrittenManifest): SkillManifest => ({
  tools: [],
  permissions: [],
  knowledge: [],
  knowledgeFiles: {},
  keywords: [],
  license: 'MIT',
  trigger: { type: 'manual' },
  ...manifest,
})

/** The part of a manifest that this server stores, and the paths of the dropped members, such as `tools[0].command`. */
type PrunedManifest = { members: Record<string, unknown>; dropped: string[] }

/** Accepted aliases of members (docs/api.md 8.1). */
const ALIASES: Readonly<Record<string, string>> = { enginePreference: 'modelPreference' }

/**
 * Keeps the members that the manifest schema names, at every depth, and renames aliases. Members without a schema are
 * neither stored nor shown. Null in an optional member counts as absent. Knowledge paths lose a leading `./`. Checks no
 * values.
 */
export function pruneManifest(written: Readonly<Record<string, unknown>>): PrunedManifest {
  const named = new Map(Object.entries(written))
  for (const [alias, name] of Object.entries(ALIASES)) {
    if (!named.has(alias) || named.has(name)) continue
    named.set(name, named.get(alias))
    named.delete(alias)
  }
  for (const [name, value] of named) if (value === null && !REQUIRED.has(name)) named.delete(name)
  const dropped: string[] = []
  const stored = pruned(Manifest as unknown as Shape, Object.fromEntries(named), '', dropped) as Record<string, unknown>
  // Sorted, because Postgres stores the members of a tool in its own order.
  return { members: withPlainPaths(stored), dropped: dropped.sort() }
}

/** A tool without members that the schema of tools does not name, such as `command` and `env`. */
export const storedTool = <T extends object>(tool: T): T => pruned(ManifestTool as unknown as Shape, tool, '', []) as T

/** The part of a schema that lists the members a value may have. */
type Shape = { properties?: Record<string, Shape>; items?: Shape }

/** Drops members that the schema does not name and lists their paths in `dropped`. Keeps all without `properties`. */
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
  const paths = Array.isArray(knowledge) ? knowledge.map(plainPath) : knowledge
  // A list that is too long keeps its length, so the review refuses it.
  const isShort = Array.isArray(paths) && paths.length <= MANIFEST_LIMITS.knowledgeFiles
  return {
    ...rest,
    ...(knowledge === undefined ? {} : { knowledge: isShort ? [...new Set(paths)] : paths }),
    ...(knowledgeFiles === undefined
      ? {}
      : { knowledgeFiles: isMap ? withPlainNames(knowledgeFiles) : knowledgeFiles }),
  }
}
/**
 * A second file with the same plain path keeps its written path, so it does not silently replace the first. The review
 * then reports it as a file that `knowledge` does not name.
 */
function withPlainNames(files: object): object {
  const plain = new Map<unknown, unknown>()
  for (const [path, text] of Object.entries(files)) plain.set(plain.has(plainPath(path)) ? path : plainPath(path), text)
  return Object.fromEntries(plain as Map<string, unknown>)
}
/** Removes leading `./`, because every path is relative to the bundle. */
const plainPath = (path: unknown): unknown => (typeof path === 'string' ? path.replace(/^(?:\.\/)+/, '') : path)

const STORED_SHOWN = 20
const MAX_PATH_CHARS = 80

/** One warning that names the dropped members, or no warning. `called` is the caller's name for the list of tools. */
export function warningsOf(dropped: readonly string[], called = 'tools'): string[] {
  if (!dropped.length) return []
  const shown = dropped
    .slice(0, STORED_SHOWN)
    .map((path) => shorten(path.replace(/^tools(?=\[)/, called), MAX_PATH_CHARS))
  const more = dropped.length > STORED_SHOWN ? ` and ${dropped.length - STORED_SHOWN} more` : ''
  return [`Left out, because a manifest has no such member: ${shown.join(', ')}${more}.`]
}
