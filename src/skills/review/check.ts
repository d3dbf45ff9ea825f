import type { SkillManifest } from '../manifest'

/** What one check saw, and where: `tools[2].name`, line 14. */
export type Evidence = {
  check: string
  severity: 'warn' | 'fail'
  path: string
  /** Line inside that member; null where it is no text. */
  line: number | null
  message: string
  excerpt?: string
}

export type CheckName = 'schema' | 'injection_scan' | 'tool_names' | 'permissions' | 'slug_unique' | 'version'

/** What a check found; nothing means it passed. */
export type Finding = Omit<Evidence, 'check'>

export const fail = (path: string, message: string, line: number | null = null): Finding => ({
  severity: 'fail',
  path,
  line,
  message,
})
export const warn = (path: string, message: string, line: number | null = null): Finding => ({
  severity: 'warn',
  path,
  line,
  message,
})

/** A check of the manifest alone. */
export type ManifestCheck = (manifest: SkillManifest) => Finding[]

const SHOWN = 3

/** `pass`, `warn: …` or `fail: …`, the gravest findings first (contract 8.2). */
export function resultOf(findings: readonly Finding[]): string {
  const failed = findings.filter(({ severity }) => severity === 'fail')
  const told = failed.length ? failed : findings
  if (!told.length) return 'pass'
  const more = told.length > SHOWN ? ` ${told.length - SHOWN} more.` : ''
  const sentences = told
    .slice(0, SHOWN)
    .map(({ message, line }) => (line === null ? message : `Line ${line}: ${message}`))
  return `${failed.length ? 'fail' : 'warn'}: ${sentences.join(' ')}${more}`
}

/** Warnings are for people; only a failure refuses. */
export const hasPassed = (checks: Readonly<Record<string, string>>): boolean =>
  !Object.values(checks).some((result) => result.startsWith('fail'))
