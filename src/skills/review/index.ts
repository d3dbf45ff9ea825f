import type { EngineOpinion } from '../../guardrails'
import { nextTurn } from '../../kernel/loop'
import type { SkillManifest } from '../manifest'
import type { Checks, Review, Tier } from '../schema-skill'
import {
  type CheckName,
  checkPermissions,
  checkToolNames,
  checkVersion,
  type Evidence,
  type Finding,
  hasPassed,
  type ManifestCheck,
  resultOf,
  warn,
} from './checks'
import { partsOf, scanPart, together } from './injection-scan'
import { readManifest } from './schema'
import { checkSlug } from './slug-unique'

export { warningsOf } from '../manifest'
export { checkToolNames, type Evidence, hasPassed, resultOf } from './checks'
export { readManifest } from './schema'
export { isReserved } from './slug-unique'

/** Checks that need only the manifest, in display order. They follow `schema` and `injection_scan`. */
const MANIFEST_CHECKS: readonly [CheckName, ManifestCheck][] = [
  ['tool_names', checkToolNames],
  ['permissions', checkPermissions],
]

/** Result of all automatic checks that need no other skill. */
export type Examined = {
  manifest: SkillManifest | null
  tier: Tier
  /** The reasons for the tier, one sentence each. */
  reasons: string[]
  checks: Checks
  evidence: Evidence[]
  /** Paths of dropped members, which no manifest has and which `manifest` does not contain. */
  dropped: readonly string[]
}

/** Runs all checks that need no database. Pure; a manifest of 20 KB takes a few milliseconds. */
export function examine(written: Readonly<Record<string, unknown>>): Examined {
  const read = readManifest(written)
  return concluded(read, read.manifest ? partsOf(read.manifest).flatMap(scanPart) : [])
}

/** Like `examine`, for use inside requests: scans each long text in its own turn of the event loop. */
export async function examineInTurns(written: Readonly<Record<string, unknown>>): Promise<Examined> {
  const read = readManifest(written)
  const found: Finding[] = []
  for (const [index, part] of (read.manifest ? partsOf(read.manifest) : []).entries()) {
    if (index > 0 && part.piece.text.length > LONG) await nextTurn()
    found.push(...scanPart(part))
  }
  return concluded(read, found)
}

/** Texts shorter than this are scanned faster than a turn of the event loop takes. */
const LONG = 1_000

function concluded(
  { manifest, findings, dropped }: ReturnType<typeof readManifest>,
  scanned: readonly Finding[],
): Examined {
  const injection = together(scanned)
  const all: [CheckName, Finding[]][] = [['schema', findings]]
  if (manifest) {
    all.push(['injection_scan', injection])
    for (const [name, check] of MANIFEST_CHECKS) all.push([name, check(manifest)])
  }
  const isDoubtful = injection.some(({ severity }) => severity === 'warn')
  return {
    manifest,
    ...(manifest ? weigh(manifest, isDoubtful) : { tier: 'staff' as const, reasons: [] }),
    checks: Object.fromEntries(all.map(([name, found]) => [name, resultOf(found)])),
    evidence: all.flatMap(([check, found]) => found.map((one) => ({ check, ...one }))),
    dropped,
  }
}

type Surroundings = Parameters<typeof checkSlug>[0] & { version: string; earlier: readonly string[] }

/** Adds the checks that need the database: slug and version. A slug finding raises tier `auto` to `staff`. */
export function complete(
  { tier, checks, evidence }: Examined,
  known: Surroundings,
): { review: Review; evidence: Evidence[] } {
  const slug = checkSlug(known)
  const version = checkVersion(known.version, known.earlier)
  const all: Checks = { ...checks, slug_unique: resultOf(slug), version: resultOf(version) }
  return {
    review: { passed: hasPassed(all), tier: tier === 'auto' && slug.length ? 'staff' : tier, checks: all },
    evidence: [
      ...evidence,
      ...slug.map((one) => ({ check: 'slug_unique', ...one })),
      ...version.map((one) => ({ check: 'version', ...one })),
    ],
  }
}

const SECRET_NAME = /secret|token|passw|api[_-]?key|credential|private[_-]?key|client[_-]?id/i

/**
 * The review tier and the reasons for it (docs/api.md 8.2). A tool endpoint counts as external access even if no
 * permission declares it. An install or uninstall prompt counts as an autonomous run (docs/api.md 8.1). A doubtful
 * injection scan raises tier `auto` to `staff`.
 */
function weigh(manifest: SkillManifest, isDoubtful: boolean): { tier: Tier; reasons: string[] } {
  const { permissions, tools, knowledge, configSchema, hooks } = manifest
  const writes = permissions.some((permission) => permission.startsWith('write:'))
  const reachesOut = permissions.includes('external:http') || tools.some(({ endpoint }) => endpoint)
  const runsAlone = permissions.includes('autonomous:run') || Boolean(hooks?.onInstall || hooks?.onUninstall)
  const grave = textOf([
    [reachesOut && writes, 'It calls other hosts and may write.'],
    [reachesOut && tools.length > 0, 'It calls other hosts and has tools.'],
    [reachesOut && runsAlone, 'It calls other hosts and runs by itself.'],
    [
      tools.some(({ permissionLevel }) => permissionLevel === 'system'),
      'One of its tools needs the permission level system.',
    ],
  ])
  if (grave.length) return { tier: 'security', reasons: grave }
  const reasons = textOf([
    [tools.length > 0, 'It has tools.'],
    [knowledge.length > 0, 'It has knowledge files.'],
    [writes, 'It may write.'],
    [reachesOut, 'It calls other hosts.'],
    [runsAlone, 'It runs by itself.'],
    [
      configSchema !== null && SECRET_NAME.test(JSON.stringify(configSchema ?? '')),
      'Its settings ask for something like a secret.',
    ],
    [isDoubtful, 'The injection scan has doubts.'],
  ])
  return { tier: reasons.length ? 'staff' : 'auto', reasons }
}

const textOf = (rules: readonly [boolean, string][]): string[] =>
  rules.flatMap(([applies, reason]) => (applies ? [reason] : []))

/** Statements that apply to no honest skill prompt. Each `about` continues a sentence that starts with "The prompt". */
const WISHES: readonly [about: string, statement: string][] = [
  ['hides something from the user', 'tells an assistant to hide, deny or misstate something to the person it serves'],
  ['sends what people write elsewhere', 'has what a person wrote sent elsewhere or tracked, as by links or pictures'],
  ['favours someone in secret', 'has an assistant favour a product, seller or person without saying so'],
  ['keeps people from help', 'keeps people from doctors, medicine, lawyers, police or other help'],
  ['lifts rules', 'treats the rules or earlier instructions of an assistant as optional, or replaces them'],
  ['adds something nobody asked for', 'has code, packages, links or claims added that the person did not ask for'],
]

const BY_ENGINE = 'An engine suspects that the prompt'
/** Probability reported by an engine from which a person must review. */
const SURE = 0.5
/** Characters of a prompt per question, and the maximum number of questions. Together they cover the longest prompt. */
const PIECE_CHARS = 4_000
const MAX_PIECES = 5

/**
 * Asks an engine about the prompt of a skill that no person would review (docs/api.md 8.2). The engine can only add
 * doubts, which send the skill to a person. Without an answer the local checks decide.
 */
export async function withSecondOpinion(examined: Examined, opinion: EngineOpinion | null): Promise<Examined> {
  const { manifest, tier, evidence } = examined
  if (!opinion || !manifest || tier !== 'auto' || evidence.some(({ severity }) => severity === 'fail')) return examined
  const text = manifest.systemPromptExtension
  const pieces = Array.from({ length: Math.min(MAX_PIECES, Math.ceil(text.length / PIECE_CHARS)) }, (_, at) =>
    text.slice(at * PIECE_CHARS, (at + 1) * PIECE_CHARS).toWellFormed(),
  )
  const statements = WISHES.map(([, statement]) => statement)
  // A review has no caller who could disconnect. Each question ends by itself.
  const { signal } = new AbortController()
  const opinions = await Promise.all(
    pieces.map((piece) => opinion({ text: piece, start: 0, end: piece.length, statements }, signal)),
  )
  const doubts = WISHES.flatMap(([about], at): Evidence[] => {
    const sure = Math.max(0, ...opinions.map((one) => one?.[at] ?? 0))
    const message = `${BY_ENGINE} ${about} (${sure.toFixed(2)}).`
    return sure < SURE ? [] : [{ check: 'injection_scan', ...warn('systemPromptExtension', message) }]
  })
  if (!doubts.length) return examined
  const scanned = [...evidence.filter(({ check }) => check === 'injection_scan'), ...doubts]
  return {
    ...examined,
    tier: 'staff',
    reasons: [...examined.reasons, ...engineDoubtsIn(doubts)],
    checks: { ...examined.checks, injection_scan: resultOf(scanned) },
    evidence: [...evidence, ...doubts],
  }
}

/** The reason for the tier when an engine has doubts, else an empty list. */
export const engineDoubtsIn = (evidence: readonly Evidence[]): string[] =>
  evidence.some(({ message }) => message.startsWith(BY_ENGINE)) ? ['An engine has doubts about it.'] : []
