import type { SkillManifest } from '../manifest'
import type { Checks, Review, Tier } from '../schema-review'
import { type CheckName, type Evidence, type Finding, hasPassed, type ManifestCheck, resultOf } from './check'
import { scanManifest } from './injection-scan'
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

/** Checks of a manifest by itself, in the order they are told. */
const MANIFEST_CHECKS: readonly [CheckName, ManifestCheck][] = [
  ['injection_scan', scanManifest],
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
  const { manifest, findings } = readManifest(written)
  const all: [CheckName, Finding[]][] = [['schema', findings]]
  if (manifest) for (const [name, check] of MANIFEST_CHECKS) all.push([name, check(manifest)])
  const doubtful = all.some(
    ([name, found]) => name === 'injection_scan' && found.some(({ severity }) => severity === 'warn'),
  )
  return {
    manifest,
    ...(manifest ? weigh(manifest, doubtful) : { tier: 'staff' as const, reasons: [] }),
    checks: Object.fromEntries(all.map(([name, found]) => [name, resultOf(found)])),
    evidence: all.flatMap(([check, found]) => found.map((one) => ({ check, ...one }))),
  }
}

type Surroundings = Parameters<typeof checkSlug>[0] & { version: string; earlier: readonly string[] }

/** The same with what only the database knows. */
export function complete(
  { tier, checks, evidence }: Examined,
  known: Surroundings,
): { review: Review; evidence: Evidence[] } {
  const slug = checkSlug(known)
  const version = checkVersion(known.version, known.earlier)
  const all: Checks = { ...checks, slug_unique: resultOf(slug), version: resultOf(version) }
  return {
    review: { passed: hasPassed(all), tier, checks: all },
    evidence: [
      ...evidence,
      ...slug.map((one) => ({ check: 'slug_unique', ...one })),
      ...version.map((one) => ({ check: 'version', ...one })),
    ],
  }
}
