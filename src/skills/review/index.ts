import { nextTurn } from '../../kernel/turns'
import type { SkillManifest } from '../manifest'
import type { Checks, Review, Tier } from '../schema-review'
import { type CheckName, type Evidence, type Finding, hasPassed, type ManifestCheck, resultOf } from './check'
import { partsOf, scanPart, together } from './injection-scan'
import { checkPermissions } from './permissions'
import { readManifest } from './schema'
import { checkSlug } from './slug-unique'
import { weigh } from './tier'
import { checkToolNames } from './tool-names'
import { checkVersion } from './version'

export { warningsOf } from '../stored'
export { type Evidence, hasPassed, resultOf } from './check'
export { readManifest } from './schema'
export { engineDoubtsIn, withSecondOpinion } from './second-opinion'
export { isReserved } from './slug-unique'
export { checkToolNames } from './tool-names'

/** Checks that need only the manifest, in the order shown; they follow `schema` and `injection_scan`. */
const MANIFEST_CHECKS: readonly [CheckName, ManifestCheck][] = [
  ['tool_names', checkToolNames],
  ['permissions', checkPermissions],
]

/** Result of all automatic checks that need no knowledge of other skills. */
export type Examined = {
  manifest: SkillManifest | null
  tier: Tier
  /** The reasons for the tier, one sentence each. */
  reasons: string[]
  checks: Checks
  evidence: Evidence[]
  /** Paths of members that no manifest has, and that `manifest` is without. */
  dropped: readonly string[]
}

/** Runs all checks that need no database. Pure; a manifest of 20 KB takes a few milliseconds. */
export function examine(written: Readonly<Record<string, unknown>>): Examined {
  const read = readManifest(written)
  return concluded(read, read.manifest ? partsOf(read.manifest).flatMap(scanPart) : [])
}

/** Like `examine`, for use inside requests: each long text is scanned in its own turn of the event loop (I28). */
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

/** Adds the checks that need the database: slug and version. A slug finding moves tier `auto` up to `staff`. */
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
