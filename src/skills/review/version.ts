import { isHigher } from '../semver'
import { type Finding, fail } from './check'

/** A new version must be higher than every earlier one, whatever its state (contract 8.1). */
export function checkVersion(version: string, earlier: readonly string[]): Finding[] {
  const highest = earlier.reduce<string | null>((max, one) => (max === null || isHigher(one, max) ? one : max), null)
  if (highest === null || isHigher(version, highest)) return []
  return [fail('version', `"version" is ${version}; it must be higher than ${highest}, which already exists.`)]
}
