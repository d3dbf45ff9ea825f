export type Subsystem = 'svc-core' | 'svc-vision' | 'svc-search'

/** One engine as tenants see it (contract 5.1); never names the upstream behind it. */
export type EngineEntry = {
  id: string
  mode: string
  label: string
  engine: Subsystem
  description: string
  /** The engine that answers when this one fails (contract 22.3). */
  fallback: string | null
  /** What it produces; a text engine without an upstream is answered by the built-in driver. */
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

/** The twelve engines of contract 5.1, in its order. */
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

/** The engine a mode goes to by default; null for a word that is no mode. */
export const engineOfMode = (mode: string): EngineEntry | null =>
  BY_MODE.get(mode) ?? findEngine(STEALTH.get(mode) ?? '')
