import { type Static, strictObject, t } from '../kernel/schema'

export type Subsystem = 'svc-core' | 'svc-vision' | 'svc-search'

/** One engine as tenants see it (docs/api.md 5.1); never names the upstream behind it. */
export type EngineEntry = {
  id: string
  mode: string
  label: string
  engine: Subsystem
  description: string
  /** The engine that answers when this one fails (docs/api.md 22.3). */
  fallback: string | null
  /** What it produces. Without an upstream, the built-in driver answers for text engines. */
  kind: 'text' | 'image' | 'video'
}

const text = (
  id: string,
  mode: string,
  label: string,
  engine: Subsystem,
  fallback: string | null,
  description: string,
): EngineEntry => ({ id, mode, label, engine, description, fallback, kind: 'text' })

/** The twelve engines of docs/api.md 5.1, in its order. */
export const ENGINES: readonly EngineEntry[] = [
  text('svc-1-auto', 'auto', 'Svc Auto', 'svc-core', null, 'Reads the prompt and picks the mode that fits it.'),
  text('svc-1-flash', 'fast', 'Svc Flash', 'svc-core', 'svc-1-reason', 'Quick answers to everyday questions.'),
  text('svc-1-reason', 'think', 'Svc Reason', 'svc-core', 'svc-1-flash', 'Slower, careful answers to hard questions.'),
  text('svc-1-code', 'code', 'Svc Code', 'svc-core', 'svc-1-reason', 'Writes, explains and repairs code.'),
  {
    id: 'svc-1-create',
    mode: 'image',
    label: 'Svc Create',
    engine: 'svc-vision',
    description: 'Makes pictures from a description.',
    fallback: 'svc-1-rapid',
    kind: 'image',
  },
  {
    id: 'svc-1-motion',
    mode: 'video',
    label: 'Svc Motion',
    engine: 'svc-vision',
    description: 'Makes short videos from a description.',
    fallback: null,
    kind: 'video',
  },
  text(
    'svc-1-research',
    'research',
    'Svc Research',
    'svc-search',
    'svc-1-reason',
    'Gathers sources and reports on them.',
  ),
  text('svc-1-roast', 'roast', 'Svc Roast', 'svc-core', 'svc-1-flash', 'Honest feedback with a sense of humour.'),
  text('svc-1-genui', 'genui', 'Svc GenUI', 'svc-core', 'svc-1-code', 'Writes user interface components.'),
  text(
    'svc-1-analyze',
    'domain_analysis',
    'Svc Analyze',
    'svc-core',
    'svc-1-reason',
    'Breaks a subject down into structured findings.',
  ),
  text(
    'svc-1-extract',
    'data_extraction',
    'Svc Extract',
    'svc-vision',
    'svc-1-vision',
    'Turns text and pictures into structured data.',
  ),
  text('svc-1-vision', 'vision', 'Svc Vision', 'svc-vision', 'svc-1-extract', 'Answers questions about pictures.'),
]

const image = (id: string, label: string, description: string): EngineEntry => ({
  id,
  mode: 'image',
  label,
  engine: 'svc-vision',
  description,
  fallback: 'svc-1-create',
  kind: 'image',
})

/** More engines that `image_model` may name. `/models` does not list them (docs/api.md 5.1). */
export const IMAGE_ENGINES: readonly EngineEntry[] = [
  image('svc-1-photo', 'Svc Photo', 'Pictures that look photographed.'),
  image('svc-1-rapid', 'Svc Rapid', 'Quick pictures.'),
  image('svc-1-design', 'Svc Design', 'Posters, icons and layouts.'),
  image('svc-1-studio', 'Svc Studio', 'Carefully finished pictures.'),
  image('svc-1-type', 'Svc Type', 'Pictures with lettering.'),
]

const ALIASES = new Map([['svc-1-edge', 'svc-1-roast']])

const BY_ID = new Map(ENGINES.map((entry) => [entry.id, entry]))

const BY_MODE = new Map(ENGINES.map((entry) => [entry.mode, entry]))

/** Stealth modes have no engine of their own; each uses the engine of another mode. */
const STEALTH = new Map([
  ['stealth_text', 'svc-1-flash'],
  ['stealth_image', 'svc-1-create'],
  ['stealth_video', 'svc-1-motion'],
])

/** The engine of this id or alias; null for anything else, `constructor` included. */
export const findEngine = (id: string): EngineEntry | null => BY_ID.get(ALIASES.get(id) ?? id) ?? null

const IMAGE_BY_ID = new Map([...ENGINES, ...IMAGE_ENGINES].filter(({ kind }) => kind === 'image').map((e) => [e.id, e]))

/** The engine that makes pictures under this id; null for any other word. */
export const findImageEngine = (id: string): EngineEntry | null => IMAGE_BY_ID.get(id) ?? null

/** The default engine of a mode; null for an unknown mode. */
export const engineOfMode = (mode: string): EngineEntry | null =>
  BY_MODE.get(mode) ?? findEngine(STEALTH.get(mode) ?? '')

/** Engines of sound and of vectors. No completion uses them. `/models` lists only those of vectors (docs/api.md 31). */
export const AUDIO_ENGINES = [
  { id: 'svc-1-voice', label: 'Svc Voice', engine: 'svc-voice', mode: 'tts', kind: 'speech' },
  { id: 'svc-1-transcribe', label: 'Svc Transcribe', engine: 'svc-voice', mode: 'stt', kind: 'transcription' },
  { id: 'svc-1-embed', label: 'Svc Embed', engine: 'svc-embed', mode: 'embedding', kind: 'embedding' },
] as const

/** The engine that a mode or id names in the settings; null for any other word. */
export const mappedEngine = (word: string): { id: string } | null =>
  engineOfMode(word) ?? findEngine(word) ?? AUDIO_ENGINES.find(({ id, mode }) => id === word || mode === word) ?? null

/** The engine that makes vectors by rules, without an upstream (docs/api.md 31). */
export const LOCAL_EMBEDDING = 'svc-1-embed-local'
/** Length of its vectors. */
export const LOCAL_LENGTH = 512

export type AudioEngine = (typeof AUDIO_ENGINES)[number]['id']

/** Model and length of the vectors of `svc-1-embed`. Clients store vectors, and different models cannot be compared. */
export type VectorSpace = { model: string; length: number }

type Described = { id: string; label: string; engine: string }

const LOCAL: Described = { id: LOCAL_EMBEDDING, label: 'Svc Embed Local', engine: 'svc-embed' }

const OF_SOUND = new Map<string, Described>([...AUDIO_ENGINES, LOCAL].map((entry) => [entry.id, entry]))

/** Finds any engine, listed or not, for events and answers; null for any other word. */
export const describedEngine = (id: string): Described | null =>
  findEngine(id) ?? findImageEngine(id) ?? OF_SOUND.get(id) ?? null

export const Alias = strictObject({
  engine: t.String({ maxLength: 64, description: 'An engine id of GET /models' }),
  listed: t.Optional(t.Boolean({ description: 'Whether GET /models lists it, for clients that look there first' })),
})
/** Other names for engines, which clients may send. A name may end in `*`. */
export type Aliases = Readonly<Record<string, Static<typeof Alias>>>

export const MAX_ALIASES = 200

/** Pattern of alias names. A wildcard may only be at the end. */
export const ALIAS_NAME = '^[^*\\s][^*\\s]{0,126}\\*?$'

/** Problems of aliases, one sentence each. `engines`: the engines that they may name. */
export function aliasProblems(aliases: Aliases, engines: readonly string[]): string[] {
  const all = Object.entries(aliases)
  const known = new Set([...engines, LOCAL_EMBEDDING])
  return [
    ...(all.length > MAX_ALIASES ? [`modelAliases: there are ${all.length}, and at most ${MAX_ALIASES}.`] : []),
    ...all.flatMap(([name, { engine, listed }]) => [
      ...(known.has(engine) ? [] : [`modelAliases.${name}: there is no engine "${engine}".`]),
      ...(listed && name.endsWith('*') ? [`modelAliases.${name}: a name that ends in * cannot be listed.`] : []),
    ]),
  ]
}

/** The engine of an alias: an exact name wins, then the longest prefix. Null if none matches. */
export function aliasIn(aliases: Aliases, word: string): string | null {
  if (Object.hasOwn(aliases, word)) return aliases[word]!.engine
  const [longest] = Object.keys(aliases)
    .filter((name) => name.endsWith('*') && word.startsWith(name.slice(0, -1)))
    .toSorted((a, b) => b.length - a.length)
  return longest === undefined ? null : aliases[longest]!.engine
}
