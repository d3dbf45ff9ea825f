import { type Finding, fail } from './check'

/** A new version must be higher than every earlier one, whatever its status (docs/api.md 8.1). */
export function checkVersion(version: string, earlier: readonly string[]): Finding[] {
  const highest = earlier.reduce<string | null>((max, one) => (max === null || isHigher(one, max) ? one : max), null)
  if (highest === null || isHigher(version, highest)) return []
  return [fail('version', `"version" is ${version}; it must be higher than ${highest}, which already exists.`)]
}

const parts = (version: string): { core: number[]; pre: string[] } => {
  const [plain = ''] = version.split('+')
  const dash = plain.indexOf('-')
  const core = (dash < 0 ? plain : plain.slice(0, dash)).split('.').map(Number)
  return { core, pre: dash < 0 ? [] : plain.slice(dash + 1).split('.') }
}

/** Whether a version is higher than another by semver 2.0. Ignores build metadata after `+`. */
export function isHigher(version: string, other: string): boolean {
  const [a, b] = [parts(version), parts(other)]
  for (let index = 0; index < 3; index++) {
    const [mine, theirs] = [a.core[index] ?? 0, b.core[index] ?? 0]
    if (mine !== theirs) return mine > theirs
  }
  if (!a.pre.length || !b.pre.length) return !a.pre.length && b.pre.length > 0
  return comparePre(a.pre, b.pre) > 0
}

const NUMERIC = /^\d+$/

function comparePre(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [mine, theirs] = [a[index], b[index]]
    if (mine === undefined || theirs === undefined) return mine === undefined ? -1 : 1
    if (mine === theirs) continue
    const [isNumber, isTheirs] = [NUMERIC.test(mine), NUMERIC.test(theirs)]
    // Compares digit strings, because `Number` would round long ones.
    if (isNumber && isTheirs) return mine.length - theirs.length || (mine < theirs ? -1 : 1)
    if (isNumber !== isTheirs) return isNumber ? -1 : 1
    return mine < theirs ? -1 : 1
  }
  return 0
}
