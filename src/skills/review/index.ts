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

export { type Evidence, hasPassed, resultOf } from './check'
export { readManifest } from './schema'
export { isReserved } from './slug-unique'
export { checkToolNames } from './tool-names'

/** Checks of a manifest by itself, in the order they are told, after what its texts were scanned for. */
const MANIFEST_CHECKS: readonly [CheckName, ManifestCheck][] = [
  ['tool_names', checkToolNames],
  ['permissions', checkPermissions],
]

/** What the machine thinks of a manifest, with nothing yet known of other skills. */
export type Examined = {
  manifest: SkillManifest | null
  tier: Tier
  /** Why it is of that tier, a sentence each. */
  reasons: string[]
  checks: Checks
  evidence: Evidence[]
}

/** Everything that can be said of a manifest without the database. Pure; 20 KB take a few milliseconds. */
export function examine(written: Readonly<Record<string, unknown>>): Examined {
  const read = readManifest(written)
  return concluded(read, read.manifest ? partsOf(read.manifest).flatMap(scanPart) : [])
}

/** The same where requests wait: a long text is read a piece a turn of the event loop (I28). */
export async function examineInTurns(written: Readonly<Record<string, unknown>>): Promise<Examined> {
  const read = readManifest(written)
  const found: Finding[] = []
  for (const [place, part] of (read.manifest ? partsOf(read.manifest) : []).entries()) {
    if (place > 0 && part.piece.text.length > LONG) await nextTurn()
    found.push(...scanPart(part))
  }
  return concluded(read, found)
}

/** Shorter ones are read in less time than a turn takes. */
const LONG = 1_000

function concluded({ manifest, findings }: ReturnType<typeof readManifest>, scanned: readonly Finding[]): Examined {
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
  }
}

type Surroundings = Parameters<typeof checkSlug>[0] & { version: string; earlier: readonly string[] }

/** The same with what only the database knows. A name that could be taken for another is a doubt, and goes one tier up. */
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
